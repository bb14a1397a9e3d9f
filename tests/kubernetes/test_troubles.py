"""Drains whose nodes fall silent, go or are replaced, and whose evictions others have a say in."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from testbed import manifests
from testbed.bed import Bed
from testbed.ground import QUICK, Ground
from testbed.illness import hear, silence
from testbed.kube import until
from testbed.stack import Stack
from testbed.webhook import Webhook, deny
from tests.kubernetes.scenes import Played, Scene, Scenes, played
from tests.kubernetes.told import Document, evicted, is_cordoned, listed, outcome, uids

SLOW_START = replace(QUICK, ready_after="3s")

SCENES = Scenes()


@pytest.fixture(scope="module")
def forceful(bed: Bed, operator_kubeconfig: Path) -> Iterator[Stack]:
    """A hub and an operator that may also delete."""
    with Stack(bed, operator_kubeconfig, settings={"HANGAR_ALLOWED_OPERATIONS": "cordon,drain,force"}) as running:
        yield running


@pytest.fixture(scope="module")
def all_played(bed: Bed, forceful: Stack) -> Iterator[Played]:
    with played(SCENES, bed, forceful, "trouble") as futures:
        yield futures


def said(text: str) -> Callable[[Document], bool]:
    """Return whether a drain's progress has a text in it."""
    return lambda seen: text in str(seen["progress"])


# --- nodes ------------------------------------------------------------------------------------------------------------


@SCENES.add
def on_a_node_that_falls_silent_nothing_counts_as_gone_and_the_drain_says_so_at_its_deadline(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("web", 2, replace(QUICK, grace_s=1))
    ground.add_node()
    silence(ground.bed, node)
    operation = ground.hub.submit("node.drain", node, deadline_s=15)
    ground.hub.wait(operation, "it is told", said("silent"))
    phase, code, message = outcome(ground.hub.finish(operation))
    assert (phase, code) == ("failed", "node_unreachable")
    assert f"the kubelet of {node} is silent" in message
    done = ground.hub.operation(operation)
    assert uids(listed(done, "terminating")) == uids(before)
    assert {pod["metadata"]["uid"] for pod in ground.kube.pods_on(node)} == uids(before)
    assert is_cordoned(ground, node)
    hear(ground.bed, node)


@SCENES.add
def where_the_caller_vouches_that_the_node_is_off_its_pods_objects_are_removed(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("web", 2, replace(QUICK, grace_s=1))
    ground.add_node()
    silence(ground.bed, node)
    operation = ground.hub.submit("node.drain", node, node_is_down=True, deadline_s=60)
    done = ground.hub.finish(operation)
    assert outcome(done)[0] == "succeeded"
    assert not ground.kube.pods_on(node)
    assert not uids(ground.ready_pods("web")) & uids(before)


@SCENES.add
def a_node_that_is_deleted_in_mid_drain_takes_its_pods_along_and_the_drain_ends_well(ground: Ground) -> None:
    node, operation, before = _under_way(ground)
    ground.kube.delete("Node", node)
    done = ground.hub.finish(operation, timeout_s=120)  # Kubernetes collects its pods after 40 to 60 s
    assert outcome(done)[0] == "succeeded"
    assert done["result"]["details"]["note"] == "node_deleted"
    assert uids(listed(done, "moved")) | uids(listed(done, "left")) == uids(before)
    assert len(ground.evictions()) == 1
    assert len(ground.ready_pods("api")) == 4


def _under_way(ground: Ground) -> tuple[str, str, list[Document]]:
    """Return a node and its drain, which has evicted one pod of four and waits for the budget with the others."""
    node = ground.add_node()
    before = ground.deploy("api", 4, SLOW_START)
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    operation = ground.hub.submit("node.drain", node)
    ground.hub.wait(operation, "one pod is on its way", said("blocked 3 by pdb"))
    return node, operation, before


# --- webhooks ---------------------------------------------------------------------------------------------------------


@SCENES.add
def a_webhook_that_moves_the_pods_itself_is_waited_for(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("vm", 2)
    ground.add_node()

    def move(request: dict[str, Any]) -> dict[str, Any] | None:
        if not request.get("dryRun"):
            threading.Timer(1.0, ground.kube.delete, ("Pod", request["name"], ground.name)).start()
        return deny("the pod will restart by itself")(request)

    with Webhook(ground.bed, f"mover.{ground.name}.test", move, namespace=ground.name) as webhook:
        webhook.wait_known(before[0]["metadata"]["name"], ground.name)
        done = ground.hub.finish(ground.hub.submit("node.drain", node))
        assert outcome(done)[0] == "succeeded"
        assert uids(listed(done, "left")) | uids(listed(done, "moved")) == uids(before)
        assert evicted(ground.evictions()) == []
        assert not uids(ground.wait_ready("vm", 2)) & uids(before)


@SCENES.add
def a_webhook_that_denies_for_good_fails_the_drain_with_its_words(ground: Ground) -> None:
    node = ground.add_node()
    served = ground.deploy("web", 1)
    ground.add_node()
    with Webhook(
        ground.bed, f"guard.{ground.name}.test", deny("ask the owner first"), namespace=ground.name
    ) as webhook:
        webhook.wait_known(served[0]["metadata"]["name"], ground.name)
        operation = ground.hub.submit("node.drain", node)
        ground.hub.wait(operation, "it is quoted", said("ask the owner first"))
        phase, code, message = outcome(ground.hub.finish(operation, timeout_s=90))
        assert (phase, code) == ("failed", "eviction_denied")
        assert "denied the request: ask the owner first" in message
    assert uids(ground.ready_pods("web")) == uids(served)


@SCENES.add
def a_webhook_that_is_slow_holds_up_only_what_it_is_asked_about(ground: Ground) -> None:
    node = ground.add_node()
    slow, quick = ground.deploy("slow", 1), ground.deploy("quick", 2)
    ground.add_node()
    names = {pod["metadata"]["name"] for pod in slow}

    def answer(request: dict[str, Any]) -> dict[str, Any] | None:
        return None if request["name"] in names and not request.get("dryRun") else {"allowed": True}

    webhook = Webhook(ground.bed, f"slow.{ground.name}.test", answer, timeout_s=3, namespace=ground.name)
    with webhook:
        webhook.wait_known(slow[0]["metadata"]["name"], ground.name)
        operation = ground.hub.submit("node.drain", node)
        told = ground.hub.wait(operation, "a slow webhook is named", said("webhook timeout"))
        assert f'failed calling webhook "slow.{ground.name}.test"' in str(told["progress"])
        until("the others have gone", lambda: not uids(ground.kube.pods_on(node)) & uids(quick))
    done = ground.hub.finish(operation)
    assert outcome(done) == ("succeeded", "drained", "evicted_replicas=3")


# --- namespaces and quotas --------------------------------------------------------------------------------------------


@SCENES.add
def a_namespace_that_is_deleted_in_mid_drain_takes_its_pods_along(ground: Ground) -> None:
    node, operation, before = _under_way(ground)
    ground.kube.delete("Namespace", ground.name)
    done = ground.hub.finish(operation)
    assert outcome(done)[0] == "succeeded"
    assert uids(listed(done, "moved")) | uids(listed(done, "left")) == uids(before)
    assert is_cordoned(ground, node)


@SCENES.add
def a_quota_that_is_full_until_the_old_pods_are_gone_only_takes_time(ground: Ground) -> None:
    node = ground.add_node()
    before = ground.deploy("web", 2, replace(QUICK, terminate_after="3s"))
    ground.add_node()
    ground.kube.create(manifests.quota("two", {"pods": "2"}, namespace=ground.name))
    until("the quota is counted", lambda: _used(ground, "two") == "2")
    done = ground.hub.finish(ground.hub.submit("node.drain", node))
    assert outcome(done) == ("succeeded", "drained", "evicted_replicas=2")
    assert not uids(ground.ready_pods("web")) & uids(before)


def _used(ground: Ground, name: str) -> str | None:
    quota = ground.kube.get("ResourceQuota", name, ground.name) or {}
    used: str | None = quota.get("status", {}).get("used", {}).get("pods")
    return used


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_in_trouble(scene: Scene, all_played: Played) -> None:
    all_played[scene].result()
