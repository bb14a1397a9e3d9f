"""What every cluster adapter makes of what stands between it and an eviction: quotas, namespaces, webhooks."""

from hangar.domain.decision import Accepted, Busy, Denied, Evict, Trouble
from hangar.domain.snapshot import Pod, Snapshot
from hangar.operator.cluster.simulated.spec import QuotaSpec, WebhookSpec
from tests.contracts.cluster_stage import (
    QUOTA_PROBE,
    Stage,
    a_deployment,
    a_node,
    a_template,
    gone,
    now_shown,
    scene,
    serving,
    take,
    until,
)

# --- quotas -----------------------------------------------------------------------------------------------------------


@scene
async def a_quota_is_shown_with_what_it_allows_and_what_is_used(stage: Stage) -> None:
    await a_node(stage)
    hard = {"requests.nvidia.com/gpu": 4, "requests.cpu": 8000, "pods": 10, QUOTA_PROBE: 0}
    await stage.add_quota(QuotaSpec("gpus", hard))
    await stage.add_workload(a_deployment(replicas=2, requests={"nvidia.com/gpu": 1, "cpu": 1500}))
    await serving(stage, "web", 2)

    def look(snapshot: Snapshot) -> bool:
        quota = snapshot.quotas.get(("default", "gpus"))
        return quota is not None and quota.used.get("pods") == 2

    await until(stage, "two pods are counted", look)
    quota = now_shown(stage).quotas["default", "gpus"]
    assert quota.hard == hard
    assert quota.used == {"requests.nvidia.com/gpu": 2, "requests.cpu": 3000, "pods": 2, QUOTA_PROBE: 0}


@scene
async def an_owner_whose_pods_a_quota_does_not_let_in_says_so_until_it_does(stage: Stage) -> None:
    await a_node(stage)
    await stage.add_quota(QuotaSpec("one", {"pods": 1, QUOTA_PROBE: 0}))
    await stage.add_workload(a_deployment(replicas=2))

    def failures(snapshot: Snapshot) -> dict[str, str] | None:
        found = {owner.ref.kind: owner.failure for owner in snapshot.owners.values() if owner.failure is not None}
        return found if len(found) == 2 else None

    said = await until(stage, "a failure to create", failures)
    assert set(said) == {"ReplicaSet", "Deployment"}
    for why in said.values():
        assert "exceeded quota: one, requested: pods=1, used: pods=1, limited: pods=1" in why
    await serving(stage, "web", 1)
    await stage.add_quota(QuotaSpec("one", {"pods": 3, QUOTA_PROBE: 0}))
    await stage.scale("Deployment", "web", 3)  # a controller that failed often waits long before it tries again
    await serving(stage, "web", 3)
    await until(
        stage, "the failure is over", lambda snapshot: not any(each.failure for each in snapshot.owners.values())
    )


# --- namespaces -------------------------------------------------------------------------------------------------------


@scene
async def in_a_namespace_that_is_being_deleted_an_eviction_is_no_ones_to_ask_for(stage: Stage) -> None:
    await a_node(stage)
    template = a_template(labels={"app": "held"}, grace_s=20, terminate_after_s=3.0)
    await stage.add_bare_pod("held", "n1", template, "leaving")
    (pod,) = await serving(stage, "held", 1)
    await stage.remove_namespace("leaving")
    answer = await take(stage, Evict(pod.ref))
    assert isinstance(answer, Busy)
    assert answer.trouble is Trouble.NAMESPACE_TERMINATING
    assert "namespace leaving because it is being terminated" in answer.message
    await gone(stage, pod)


# --- webhooks ---------------------------------------------------------------------------------------------------------


async def a_pod(stage: Stage) -> Pod:
    await a_node(stage)
    await stage.add_workload(a_deployment(replicas=1))
    (pod,) = await serving(stage, "web", 1)
    return pod


@scene
async def a_webhook_that_denies_is_quoted_and_the_pod_stays(stage: Stage) -> None:
    pod = await a_pod(stage)
    await stage.add_webhook(WebhookSpec("guard.wingsmith.test", {"app": "web"}, "ask the owner first"), pod.ref)
    answer = await take(stage, Evict(pod.ref))
    assert isinstance(answer, Denied)
    assert answer.by_webhook
    assert 'admission webhook "guard.wingsmith.test" denied the request: ask the owner first' in answer.message
    assert not now_shown(stage).pods[pod.ref.uid].is_terminating
    await stage.remove_webhook("guard.wingsmith.test")
    assert await take(stage, Evict(pod.ref)) == Accepted()


@scene
async def a_webhook_may_deny_and_move_the_pod_itself(stage: Stage) -> None:
    pod = await a_pod(stage)
    mover = WebhookSpec("mover.wingsmith.test", {"app": "web"}, "the pod will restart by itself", moves_after_s=0.5)
    await stage.add_webhook(mover, pod.ref)
    answer = await take(stage, Evict(pod.ref))
    assert isinstance(answer, Denied)
    assert answer.by_webhook
    await gone(stage, pod)
    await stage.remove_webhook(mover.name)


@scene
async def a_webhook_that_is_too_slow_is_trouble_that_has_its_name(stage: Stage) -> None:
    pod = await a_pod(stage)
    slow = WebhookSpec("slow.wingsmith.test", {"app": "web"}, is_slow=True, timeout_s=1.0)
    await stage.add_webhook(slow, pod.ref)
    answer = await take(stage, Evict(pod.ref))
    assert isinstance(answer, Busy)
    assert answer.trouble is Trouble.WEBHOOK
    assert answer.message.startswith("webhook timeout: 500: ")
    assert 'failed calling webhook "slow.wingsmith.test"' in answer.message
    assert not now_shown(stage).pods[pod.ref.uid].is_terminating
    await stage.remove_webhook(slow.name)


@scene
async def a_slow_webhook_that_may_be_passed_over_only_costs_time(stage: Stage) -> None:
    pod = await a_pod(stage)
    slow = WebhookSpec("slow.wingsmith.test", {"app": "web"}, is_slow=True, timeout_s=1.0, lets_pass=True)
    await stage.add_webhook(slow, pod.ref)
    before = stage.cluster.now()
    assert await take(stage, Evict(pod.ref)) == Accepted()
    assert (stage.cluster.now() - before).total_seconds() > 0.5
    await gone(stage, pod)
    await stage.remove_webhook(slow.name)
