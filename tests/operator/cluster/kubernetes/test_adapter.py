"""The adapter on a scripted API server; what needs a real one is in the contract suite."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any

import httpx2
import pytest

from hangar.domain.decision import (
    Accepted,
    Answer,
    BudgetFull,
    Busy,
    Cordon,
    Delete,
    Denied,
    Evict,
    Gone,
    Namesake,
    Step,
    Trouble,
    Uncordon,
    Unknown,
    Unmark,
    Withheld,
)
from hangar.domain.ids import NodeName, NodeUid, OperationId, PodUid
from hangar.domain.snapshot import CordonMark, PodRef, Snapshot
from hangar.operator.cluster.kubernetes.access import NEEDED
from hangar.operator.cluster.kubernetes.adapter import KubernetesCluster
from hangar.operator.cluster.kubernetes.translate import write_mark
from hangar.operator.cluster.port import ClusterError
from tests.operator.cluster.kubernetes.documents import Document, a_bookmark, a_node, a_pod, a_refusal, an_event
from tests.operator.cluster.kubernetes.fake_server import (
    Breaks,
    FakeServer,
    Says,
    Scripted,
    Stalls,
    Streams,
    a_config,
    middle,
)
from tests.virtual_loop import LoopClock, pass_time, run_virtual

MARK = CordonMark(OperationId("op_1"), "kim", "firmware", prior_unschedulable=False)
N1 = (NodeName("n1"), NodeUid("uid-n1"))
P1 = PodRef("default", "p1", PodUid("uid-p1"))
CONFLICT = Says(409, a_refusal(409, "the object has been modified"))
FULL = Says(429, a_refusal(429, "cannot evict", causes=[{"reason": "DisruptionBudget", "message": "needs 1 has 1"}]))
REFLECTORS = 12


class Bench:
    """An adapter whose watches have brought the given nodes and pods."""

    def __init__(self, nodes: tuple[Document, ...] = (), pods: tuple[Document, ...] = ()) -> None:
        self._first = (nodes, pods, *[()] * (REFLECTORS - 2))
        self.server = FakeServer()
        self.changed = asyncio.Event()
        self.cluster = KubernetesCluster(a_config(), LoopClock(), transport=self.server, jitter=middle)

    async def __aenter__(self) -> "Bench":
        for documents in self._first:
            events = (an_event("ADDED", each) for each in documents)
            self.server.script.append(Streams((*events, a_bookmark(10, is_end=True))))
        self._task = asyncio.create_task(self.cluster.run(self.changed))
        while self.cluster.snapshot() is None:
            await self.changed.wait()
            self.changed.clear()
        self.server.asked.clear()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self.cluster.close()

    @property
    def snapshot(self) -> Snapshot:
        snapshot = self.cluster.snapshot()
        assert snapshot is not None
        return snapshot

    async def perform(self, step: Step, *script: Scripted) -> Answer:
        self.server.script = list(script)
        return await self.cluster.perform(step, lambda: None)


def virtually(main: Coroutine[Any, Any, None]) -> None:
    run_virtual(main)


# --- cordons ----------------------------------------------------------------------------------------------------------


def test_a_cordon_is_one_patch_at_the_version_last_seen_and_is_seen_at_once() -> None:
    async def main() -> None:
        async with Bench(nodes=(a_node("n1", version=7),)) as bench:
            cordoned = a_node("n1", version=12, unschedulable=True)
            cordoned["metadata"]["annotations"] = {"wingsmith.dev/cordon": write_mark(MARK)}
            assert await bench.perform(Cordon(*N1, MARK), Says(200, cordoned)) == Accepted()
            (asked,) = bench.server.asked
            assert (asked.method, asked.path) == ("PATCH", "/api/v1/nodes/n1")
            assert asked.params == {"fieldManager": "hangar-operator"}
            assert asked.headers["content-type"] == "application/merge-patch+json"
            assert asked.body == {
                "metadata": {"resourceVersion": "7", "annotations": {"wingsmith.dev/cordon": write_mark(MARK)}},
                "spec": {"unschedulable": True},
            }
            node = bench.snapshot.nodes[NodeName("n1")]
            assert (node.unschedulable, node.mark) == (True, MARK)
            assert bench.changed.is_set()

    virtually(main())


def test_an_uncordon_removes_flag_and_annotation_and_an_unmark_the_annotation_alone() -> None:
    async def main() -> None:
        async with Bench(nodes=(a_node("n1", version=7),)) as bench:
            assert await bench.perform(Uncordon(*N1), Says(200, a_node("n1", version=12))) == Accepted()
            assert await bench.perform(Unmark(*N1), Says(200, a_node("n1", version=13))) == Accepted()
            first, second = (asked.body for asked in bench.server.asked)
            assert first["spec"] == {"unschedulable": None}
            assert first["metadata"] == {"resourceVersion": "7", "annotations": {"wingsmith.dev/cordon": None}}
            assert second == {"metadata": {"resourceVersion": "12", "annotations": {"wingsmith.dev/cordon": None}}}

    virtually(main())


def test_a_node_that_somebody_was_faster_to_change_is_looked_at_and_met_again() -> None:
    async def main() -> None:
        async with Bench(nodes=(a_node("n1", version=7),)) as bench:
            answer = await bench.perform(
                Uncordon(*N1), CONFLICT, Says(200, a_node("n1", version=9)), Says(200, a_node("n1", version=11))
            )
            assert answer == Accepted()
            assert [asked.method for asked in bench.server.asked] == ["PATCH", "GET", "PATCH"]
            assert bench.server.asked[2].body["metadata"]["resourceVersion"] == "9"

    virtually(main())


def test_a_node_that_somebody_cordoned_since_the_decision_is_left_to_the_next_decision() -> None:
    async def main() -> None:
        by_hand = Says(200, a_node("n1", version=9, unschedulable=True))
        async with Bench(nodes=(a_node("n1", version=7),)) as bench:
            assert isinstance(await bench.perform(Cordon(*N1, MARK), CONFLICT, by_hand), Busy)
            assert [asked.method for asked in bench.server.asked] == ["PATCH", "GET"]
        async with Bench(nodes=(a_node("n1", version=7, unschedulable=True),)) as bench:
            ours = Uncordon(*N1, held_by=MARK.operation)
            assert await bench.perform(ours) == Busy(
                "the cordon of node n1 is no longer that of op_1", trouble=Trouble.CONFLICT
            )
            assert bench.server.asked == []

    virtually(main())


def test_a_node_that_others_change_again_and_again_is_busy() -> None:
    async def main() -> None:
        async with Bench(nodes=(a_node("n1"),)) as bench:
            answer = await bench.perform(Uncordon(*N1), CONFLICT, *[Says(200, a_node("n1")), CONFLICT] * 3)
            assert answer == Busy("node n1 was changed by others 4 times in a row", trouble=Trouble.CONFLICT)

    virtually(main())


def test_a_node_that_was_replaced_under_its_name_is_never_touched() -> None:
    async def main() -> None:
        async with Bench(nodes=(a_node("n1", uid="uid-n1"),)) as bench:
            replaced = Says(200, a_node("n1", uid="another"))
            assert await bench.perform(Uncordon(*N1), CONFLICT, replaced) == Namesake()
        async with Bench(nodes=(a_node("n1", uid="another"),)) as bench:
            assert await bench.perform(Cordon(*N1, MARK), replaced) == Namesake()
            assert [asked.method for asked in bench.server.asked] == ["GET"]

    virtually(main())


def test_a_node_that_is_not_there_is_gone() -> None:
    async def main() -> None:
        missing = Says(404, a_refusal(404, "not found", kind="nodes", name="n1"))
        async with Bench() as bench:
            assert await bench.perform(Uncordon(*N1), missing) == Gone()
        async with Bench(nodes=(a_node("n1"),)) as bench:
            assert await bench.perform(Uncordon(*N1), missing) == Gone()

    virtually(main())


def test_an_unmark_leaves_a_new_cordon_of_ours_its_annotation() -> None:
    async def main() -> None:
        node = a_node("n1", unschedulable=True)
        node["metadata"]["managedFields"] = [
            {"manager": "hangar-operator", "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}
        ]
        async with Bench(nodes=(node,)) as bench:
            answer = await bench.perform(Unmark(*N1))
            assert isinstance(answer, Busy)
            assert bench.server.asked == []

    virtually(main())


# --- evictions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("grace_s", "options"), [(None, {}), (0, {"gracePeriodSeconds": 0})])
def test_an_eviction_names_the_uid_and_no_grace_unless_it_was_asked_for(
    grace_s: int | None, options: dict[str, int]
) -> None:
    """C01, C63: the server itself refuses to evict another pod of the name, and the pod keeps its own grace."""

    async def main() -> None:
        async with Bench(pods=(a_pod("p1"),)) as bench:
            assert await bench.perform(Evict(P1, grace_s), Says(201, {"status": "Success"})) == Accepted()
            (asked,) = bench.server.asked
            assert (asked.method, asked.path) == ("POST", "/api/v1/namespaces/default/pods/p1/eviction")
            assert asked.body == {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"namespace": "default", "name": "p1"},
                "deleteOptions": {"preconditions": {"uid": "uid-p1"}, **options},
            }

    virtually(main())


def test_a_spent_budget_of_a_pod_that_lives_is_one() -> None:
    async def main() -> None:
        async with Bench(pods=(a_pod("p1"),)) as bench:
            assert await bench.perform(Evict(P1), FULL) == BudgetFull("cannot evict needs 1 has 1")

    virtually(main())


def test_a_spent_budget_says_nothing_of_a_pod_that_is_gone() -> None:
    async def main() -> None:
        async with Bench(pods=(a_pod("p2"), a_pod("p3"))) as bench:
            assert await bench.perform(Evict(P1), FULL) == Gone()
        async with Bench(pods=(a_pod("p1", uid="another"),)) as bench:
            assert await bench.perform(Evict(P1), FULL) == Namesake()

    virtually(main())


def test_a_deletion_carries_the_uid_and_its_grace() -> None:
    async def main() -> None:
        async with Bench(pods=(a_pod("p1"),)) as bench:
            for grace_s in (1, 0):
                assert await bench.perform(Delete(P1, grace_s), Says(200, {"status": "Success"})) == Accepted()
            for asked, grace_s in zip(bench.server.asked, (1, 0), strict=True):
                assert (asked.method, asked.path) == ("DELETE", "/api/v1/namespaces/default/pods/p1")
                assert asked.body == {
                    "apiVersion": "v1",
                    "kind": "DeleteOptions",
                    "preconditions": {"uid": "uid-p1"},
                    "gracePeriodSeconds": grace_s,
                }
            namesake = Says(409, a_refusal(409, "Precondition failed: UID in precondition: a, UID in object meta: b"))
            assert await bench.perform(Delete(P1, 1), namesake) == Namesake()

    virtually(main())


def test_a_call_without_a_reply_may_still_land_and_ends_in_time() -> None:
    """C30, C90: an eviction call that is never answered ends by itself."""

    async def main() -> None:
        async with Bench(pods=(a_pod("p1"),)) as bench:
            before_s = asyncio.get_running_loop().time()
            assert await bench.perform(Evict(P1), Stalls()) == Unknown("no reply within 8 s")
            assert asyncio.get_running_loop().time() - before_s == pytest.approx(8.0)
            reset = Breaks(httpx2.ReadError("reset"), has_left=True)
            assert await bench.perform(Evict(P1), reset) == Unknown("ReadError: reset")

    virtually(main())


def test_a_call_that_found_no_connection_was_not_sent() -> None:
    async def main() -> None:
        async with Bench(pods=(a_pod("p1"),)) as bench:
            answer = await bench.perform(Evict(P1), Breaks(httpx2.ConnectError("refused")))
            assert answer == Busy("not sent: ConnectError: refused")

    virtually(main())


def test_a_closed_gate_withholds_every_step() -> None:
    async def main() -> None:
        async with Bench(nodes=(a_node("n1"),), pods=(a_pod("p1"),)) as bench:
            for step in (Cordon(*N1, MARK), Uncordon(*N1), Unmark(*N1), Evict(P1), Delete(P1, 1)):
                assert await bench.cluster.perform(step, lambda: "the lease is over") == Withheld("the lease is over")
            assert bench.server.asked == []

    virtually(main())


# --- who and what -----------------------------------------------------------------------------------------------------


def test_a_cluster_is_known_by_its_system_namespace_and_its_version() -> None:
    async def main() -> None:
        async with Bench() as bench:
            pin = {"metadata": {"name": "kube-system", "uid": "u-1", "resourceVersion": "1"}}
            bench.server.script = [Says(200, {"gitVersion": "v1.37.2"}), Says(200, pin)]
            identity = await bench.cluster.identity()
            assert (identity.uid, identity.version) == ("u-1", "v1.37.2")

    virtually(main())


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (Breaks(httpx2.ConnectError("refused")), "cannot be reached: GET /version: ConnectError: refused"),
        (Says(401, a_refusal(401, "Unauthorized")), "does not let us in: GET /version: 401: Unauthorized"),
        (Says(200, "<html>hello</html>"), "no API server replies to GET /version: JSON is malformed"),
    ],
)
def test_a_cluster_that_cannot_be_asked_is_an_error_that_says_why(reply: Scripted, complaint: str) -> None:
    async def main() -> None:
        async with Bench() as bench:
            bench.server.script = [reply]
            with pytest.raises(ClusterError, match=complaint):
                await bench.cluster.identity()

    virtually(main())


def test_each_operation_is_granted_where_all_rights_that_it_needs_are() -> None:
    async def main() -> None:
        async with Bench() as bench:
            questions = len({each for needed in NEEDED.values() for each in needed})
            bench.server.script = [Says(201, {"status": {"allowed": True}})] * questions
            assert await bench.cluster.grants() == dict.fromkeys(NEEDED, True)
            asked = [each.body["spec"]["resourceAttributes"] for each in bench.server.asked]
            assert {"group": "", "resource": "pods", "verb": "create", "subresource": "eviction"} in asked
            assert {"group": "", "resource": "pods", "verb": "delete", "subresource": ""} in asked
            assert not any(each["resource"] == "persistentvolumes" for each in asked)
            for key, value, lost in (
                ("verb", "delete", {"force", "deploy"}),
                ("subresource", "eviction", {"drain", "force"}),
                ("verb", "patch", set(NEEDED)),
                ("group", "nvidia.com", {"scale", "deploy"}),
            ):
                bench.server.script = [Says(201, {"status": {"allowed": each[key] != value}}) for each in asked]
                assert await bench.cluster.grants() == {name: name not in lost for name in NEEDED}

    virtually(main())


def test_a_kind_that_we_may_not_read_is_named_and_the_snapshot_is_there() -> None:
    async def main() -> None:
        bench = Bench(nodes=(a_node("n1"),))
        forbidden = Says(403, a_refusal(403, "pods is forbidden", kind="pods"))
        bench.server.script = [Streams((an_event("ADDED", a_node("n1")), a_bookmark(10, is_end=True))), forbidden]
        bench.server.script += [Streams((a_bookmark(10, is_end=True),))] * (REFLECTORS - 2)
        task = asyncio.create_task(bench.cluster.run(bench.changed))
        await pass_time(0.01)
        assert bench.snapshot.unreadable == ("pods: 403: pods is forbidden",)
        assert set(bench.snapshot.nodes) == {"n1"}
        assert isinstance(
            await bench.perform(Evict(P1), Says(403, a_refusal(403, "pods is forbidden", kind="pods"))), Denied
        )
        task.cancel()

    virtually(main())
