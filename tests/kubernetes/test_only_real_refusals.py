"""What only a real API server can say instead of evicting: its own words for what webhooks do, and do not."""

from pathlib import Path

import pytest

from hangar.domain.decision import Answer, Busy, Denied, Evict, Trouble, Unknown
from hangar.domain.snapshot import Pod
from testbed.bed import Bed
from testbed.kube import until as looked
from testbed.webhook import KIND, Webhook, deny, dry_run
from tests.contracts.cluster_stage import a_node, a_template, now_shown, serving, take
from tests.kubernetes.kubernetes_stage import KubernetesStage, play

NAME = "guard.wingsmith.test"
DENIAL = f'admission webhook "{NAME}" denied the request: '


async def a_pod(stage: KubernetesStage) -> Pod:
    await a_node(stage)
    await stage.add_bare_pod("bare", "n1", a_template(labels={"app": "bare"}))
    (pod,) = await serving(stage, "bare", 1)
    return pod


def evicted_under(bed: Bed, kubeconfig: Path, webhook: Webhook) -> Answer:
    """Evict a pod that a webhook is asked about; return the answer, and see that the pod is left alone."""
    answers: list[Answer] = []

    async def scene(stage: KubernetesStage) -> None:
        pod = await a_pod(stage)
        with webhook:
            webhook.wait_known(pod.ref.name)
            answers.append(await take(stage, Evict(pod.ref)))
            assert not now_shown(stage).pods[pod.ref.uid].is_terminating

    play(scene, bed, kubeconfig)
    return answers[0]


@pytest.mark.parametrize("code", [None, 403, 422, 500])
def test_a_denial_has_the_webhooks_own_code_or_400_and_is_known_by_its_words(
    code: int | None, empty_bed: Bed, operator_kubeconfig: Path
) -> None:
    webhook = Webhook(empty_bed, NAME, deny("the pod will restart by itself", code))
    answer = evicted_under(empty_bed, operator_kubeconfig, webhook)
    assert answer == Denied(f"{code or 400}: {DENIAL}the pod will restart by itself", by_webhook=True)


def test_a_webhook_that_does_not_know_todays_evictions_is_quoted(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    why = 'no kind "Eviction" is registered for version "policy/v1"'
    answer = evicted_under(empty_bed, operator_kubeconfig, Webhook(empty_bed, NAME, deny(why, 400)))
    assert answer == Denied(f"400: {DENIAL}{why}", by_webhook=True)


def test_a_webhook_that_says_not_now_is_trouble_that_passes(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    answer = evicted_under(
        empty_bed, operator_kubeconfig, Webhook(empty_bed, NAME, deny("a migration is under way", 429))
    )
    assert answer == Busy(f"429: {DENIAL}a migration is under way", trouble=Trouble.WEBHOOK)


def test_a_webhook_that_is_slower_than_our_patience_leaves_us_without_an_answer(
    empty_bed: Bed, operator_kubeconfig: Path
) -> None:
    slow = Webhook(empty_bed, NAME, _silent_but_for_dry_runs, timeout_s=10)
    assert evicted_under(empty_bed, operator_kubeconfig, slow) == Unknown("no reply within 8 s")


def _silent_but_for_dry_runs(request: dict[str, object]) -> dict[str, object] | None:
    return {"allowed": True} if request.get("dryRun") else None


def test_a_webhook_that_cannot_be_reached_is_trouble_and_no_verdict(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    async def scene(stage: KubernetesStage) -> None:
        pod = await a_pod(stage)
        webhook = Webhook(empty_bed, NAME, deny("unheard"))
        webhook.hang_up()
        try:
            # The server takes a moment to know its webhooks: a dry run asks them, and evicts nothing.
            looked("the webhook is known", lambda: dry_run(empty_bed, pod.ref.name) is not None)
            answer = await take(stage, Evict(pod.ref))
            assert isinstance(answer, Busy)
            assert answer.trouble is Trouble.WEBHOOK
            assert answer.message.startswith(f'500: Internal error occurred: failed calling webhook "{NAME}"')
            assert "connection refused" in answer.message
        finally:
            empty_bed.kube.delete(KIND, NAME)

    play(scene, empty_bed, operator_kubeconfig)
