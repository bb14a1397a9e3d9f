"""Drains go on through the death of the operator and of the API server, and no pod is ever evicted twice."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime

from hangar.operator.cluster.kubernetes.access import NEEDED, OPTIONAL
from testbed.access import user_with
from testbed.bed import Bed
from testbed.component import Component
from testbed.ground import QUICK, Ground
from testbed.stack import Stack
from tests.kubernetes.told import OPERATOR, Document, evicted, is_cordoned, listed, outcome, uids

SLOW_START = replace(QUICK, ready_after="3s")

AFTER_A_CUT_S = 240.0
"""An eviction that is cut off with its caller's death may have spent the budget and left the pod alone: Kubernetes
holds that against the budget for two minutes."""


@contextmanager
def grounds(bed: Bed, stack: Stack, *names: str) -> Iterator[list[Ground]]:
    made = [Ground(bed, stack.client, name) for name in names]
    try:
        yield made
    finally:
        for each in made:
            each.remove()


def guarded(ground: Ground, pods: int = 6) -> tuple[str, list[Document]]:
    """Arrange a node whose pods go one at a time; return it and them."""
    node = ground.add_node()
    before = ground.deploy("api", pods)
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    return node, before


def gone(count: int) -> Callable[[Document], bool]:
    """Return whether a drain has seen so many of its pods go."""
    return lambda seen: seen["progress"] is not None and seen["progress"]["done"] >= count


# --- the operator -----------------------------------------------------------------------------------------------------


def test_a_killed_operator_goes_on_after_its_restart_and_evicts_no_pod_twice(bed: Bed, stack: Stack) -> None:
    """C04, C76: a drain is carried on by UID."""
    with grounds(bed, stack, "killed-guarded", "killed-later", "killed-loading") as (first, second, loading):
        node, before = guarded(first)
        later, before_later = guarded(second)
        loading_node = loading.add_node()
        before_loading = loading.deploy("web", 3, SLOW_START)
        loading.add_node()
        operation = stack.client.submit("node.drain", node)
        stack.client.wait(operation, "the first pod has gone", gone(1))
        just_begun = stack.client.submit("node.drain", later)
        waiting = stack.client.submit("node.drain", loading_node)
        stack.client.wait(waiting, "its pods are on their way", lambda seen: "terminating" in str(seen["progress"]))
        stack.operator.kill()
        stack.operator.start()
        for each, ground, pods in (
            (operation, first, before),
            (just_begun, second, before_later),
            (waiting, loading, before_loading),
        ):
            done = stack.client.finish(each, timeout_s=AFTER_A_CUT_S)
            assert outcome(done) == ("succeeded", "drained", f"evicted_replicas={len(pods)}")
            assert done["result"]["attempts"] == 2
            assert uids(listed(done, "moved")) == uids(pods)
            # Nobody was there to hear the answer to what the killed operator sent last: it may have landed all the
            # same, and the server then has it as broken off.
            accepted = evicted(ground.evictions())
            assert len(accepted) == len(set(accepted)), "a pod was evicted twice"
            assert {entry.uid for entry in ground.evictions()} == set(uids(pods))


def test_an_operator_that_was_frozen_past_its_lease_sends_nothing_when_it_wakes(bed: Bed, stack: Stack) -> None:
    """C77: another one takes over, and only one acts."""
    other = user_with(bed, "second-operator", (*NEEDED["drain"], *OPTIONAL))
    second = stack.operator_with({"HANGAR_KUBECONFIG": str(other)})
    with grounds(bed, stack, "frozen") as (ground,):
        node, before = guarded(ground, pods=8)
        operation = stack.client.submit("node.drain", node)
        stack.client.wait(operation, "the first pod has gone", gone(1))
        stack.operator.freeze()
        second.start()
        try:
            stack.client.wait(operation, "the second one carries on", gone(4))
            thawed_at = datetime.now(UTC)  # what arrives while it stands still had left before
            stack.operator.thaw()
            done = stack.client.finish(operation)
            assert outcome(done) == ("succeeded", "drained", "evicted_replicas=8")
            assert done["result"]["attempts"] == 2
            assert sorted(evicted(ground.evictions())) == sorted(uids(before))
            assert [each for each in bed.audit.writes(OPERATOR) if each.at > thawed_at] == []
            assert stack.operator.is_running
        finally:
            second.terminate()
            second.reap()
        stack.operator.wait_ready()  # it stood by, and takes the cluster back


def test_pods_whose_names_were_taken_while_nobody_watched_are_left_alone(bed: Bed, stack: Stack) -> None:
    """C01, C02: UIDs decide, also after a look at a cluster of long ago."""
    with grounds(bed, stack, "namesakes") as (ground,):
        node = ground.add_node()
        before = ground.deploy_stateful("db", 4, SLOW_START)
        ground.guard("db", max_unavailable=1)
        ground.add_node()
        operation = stack.client.submit("node.drain", node)
        stack.client.wait(operation, "the first is on its way", lambda seen: "1 terminating" in str(seen["progress"]))
        (first,) = evicted(ground.evictions())
        stack.operator.freeze()
        for pod in before:
            if pod["metadata"]["uid"] != first:
                ground.kube.delete("Pod", pod["metadata"]["name"], ground.name, grace_s=0)
        stack.operator.thaw()  # it may act on what it saw last: UIDs that are gone, and a budget that is spent
        done = stack.client.finish(operation)
        assert outcome(done) == ("succeeded", "drained", "evicted_replicas=1")
        assert uids(listed(done, "moved")) == {first}
        assert uids(listed(done, "left")) == uids(before) - {first}
        assert evicted(ground.evictions()) == [first]
        assert {each.uid for each in ground.evictions()} <= uids(before)


# --- the API server ---------------------------------------------------------------------------------------------------


def test_a_drain_finishes_after_the_api_server_was_killed_in_its_midst(bed: Bed, stack: Stack) -> None:
    with grounds(bed, stack, "severed", "severed-loading") as (ground, loading):
        node, before = guarded(ground)
        loading_node = loading.add_node()
        before_loading = loading.deploy("web", 3, SLOW_START)
        loading.add_node()
        operation = stack.client.submit("node.drain", node)
        waiting = stack.client.submit("node.drain", loading_node)
        stack.client.wait(operation, "the first pod has gone", gone(1))
        bed.apiserver.kill()
        told = stack.client.wait(waiting, "it is told", lambda seen: "cannot read" in str(seen["progress"]["blockers"]))
        assert {each["code"] for each in told["progress"]["blockers"]} == {"unreadable"}
        bed.restart_apiserver()
        for each, where, pods in ((operation, ground, before), (waiting, loading, before_loading)):
            done = stack.client.finish(each)
            assert outcome(done) == ("succeeded", "drained", f"evicted_replicas={len(pods)}")
            assert done["result"]["attempts"] == 1
            assert sorted(evicted(where.evictions())) == sorted(uids(pods))


# --- what is not allowed ----------------------------------------------------------------------------------------------


def test_a_read_only_operator_has_everything_refused_at_the_hub_and_refuses_what_was_waiting(
    bed: Bed, stack: Stack
) -> None:
    reader = stack.operator_with({"HANGAR_READ_ONLY": "true"})
    with grounds(bed, stack, "read-only") as (ground,):
        node = ground.add_node()
        stack.operator.terminate()
        stack.operator.reap()
        waiting = stack.client.submit("node.drain", node)
        _start(reader)
        try:
            phase, code, message = outcome(stack.client.finish(waiting))
            assert (phase, code) == ("failed", "operation_not_allowed")
            assert "cluster.allowedOperations" in message
            ran = stack.hgr("operation", "create", "node.cordon", node)
            assert ran.returncode == 4
            assert "cordon" in ran.stderr
            assert not is_cordoned(ground, node)
            assert not any(each.name == node for each in bed.audit.writes(OPERATOR))
        finally:
            reader.terminate()
            reader.reap()
            _start(stack.operator)


def _start(operator: Component) -> None:
    operator.start()
    operator.wait_ready()
