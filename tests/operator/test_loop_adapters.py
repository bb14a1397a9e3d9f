"""What the loop makes of graphs behind scaling adapters, of rivals, of templates, and of a drain in the way."""

from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from hangar.domain.decision import Apply, Busy, Create, Evict, Remove, Scale, Trouble
from hangar.domain.devices import GPU
from hangar.domain.ids import NodeName
from hangar.domain.limits import CREATED_AGAIN_S
from hangar.domain.workloads.graph import Graph, GraphRef, RivalKind, Role
from hangar.operator.cluster.simulated.spec import ComponentSpec, GraphSpec, PodTemplate, RivalSpec
from hangar.wire.operator import JsonObject
from tests.operator.fake_hub import FakeHub, Stumbling
from tests.operator.scene import Scene, played
from tests.virtual_loop import pass_time

REF = GraphRef("serving", "llama")
WORKER = PodTemplate(ready_after_s=2.0)
TEMPLATE: JsonObject = {
    "apiVersion": "nvidia.com/v1beta1",
    "kind": "DynamoGraphDeployment",
    "metadata": {"name": "template"},
    "spec": {
        "components": [{"name": "Frontend", "type": "frontend"}, {"name": "decode", "type": "decode", "replicas": 1}]
    },
}
Prepare = Callable[[FakeHub, Stumbling], None]


def a_graph(*rivals: RivalSpec, prefill: int = 2, decode: int = 2, both: bool = True) -> Prepare:
    """Let there be a graph whose prefill is behind an adapter, and with `both` its decode too."""

    def prepare(hub: FakeHub, cluster: Stumbling) -> None:
        parts = (
            ComponentSpec("prefill", Role.PREFILL, prefill, WORKER, has_adapter=True),
            ComponentSpec("decode", Role.DECODE, decode, WORKER, has_adapter=both),
        )
        cluster.world.add_graph(GraphSpec("llama", parts, "serving", rivals))

    return prepare


def nothing(hub: FakeHub, cluster: Stumbling) -> None:
    """Let there be no graph."""


def sent(scene: Scene) -> list[str]:
    """Return what was written to graphs, in short."""
    told = []
    for _, step in scene.cluster.sent:
        match step:
            case Apply(rev=rev, counts=counts):
                told.append(f"apply {rev} {dict(counts)}")
            case Scale(component=component, replicas=replicas):
                told.append(f"scale {component} {replicas}")
            case Create(rev=rev, counts=counts):
                told.append(f"create {rev} {dict(counts)}")
            case Remove():
                told.append("remove")
            case _:
                pass
    return told


def graph(scene: Scene) -> Graph:
    """Return the graph as it is."""
    return scene.world.snapshot().graphs[REF]


def asked(scene: Scene) -> dict[str, int]:
    """Return what the graph asks for."""
    return {each.name: each.replicas for each in graph(scene).components}


def unwritten(scene: Scene) -> list[tuple[str, str]]:
    """Return all that was said last not to be written: code and reason."""
    said = [request.unwritten for _, request in scene.hub.inventories if request.unwritten is not None]
    return [(why.code, why.why) for why in said[-1]]


# --- adapters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("both", "counts", "steps"),
    [
        (True, {"prefill": 1, "decode": 4}, ["scale prefill 1", "scale decode 4", "apply 7 {}"]),
        (True, {"prefill": 2, "decode": 2}, ["apply 7 {}"]),
        (False, {"prefill": 4, "decode": 1}, ["apply None {'decode': 1}", "scale prefill 4", "apply 7 {'decode': 1}"]),
        (False, {"prefill": 1, "decode": 4}, ["scale prefill 1", "apply 7 {'decode': 4}"]),
    ],
    ids=["both behind adapters", "nothing to change", "the direct one falls first", "the direct one rises last"],
)
def test_a_graph_is_written_in_stages_and_its_revision_last(
    both: bool, counts: dict[str, int], steps: list[str]
) -> None:
    most: list[int] = []

    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.desire(7, **counts)
        for _ in range(200):
            await pass_time(0.05)
            most.append(sum(asked(scene).values()))
            if graph(scene).applied_rev == 7:
                assert asked(scene) == counts, "the revision tells that every number is there"
        assert sent(scene) == steps
        assert graph(scene).applied_rev == 7
        assert unwritten(scene) == []

    with capture_logs() as logs:
        played(play, a_graph(both=both))
    assert max(most) <= max(4, sum(counts.values())), "never more on the way than before or in the end"
    adapters = [each["adapter"] for each in logs if each["event"] == "adapter written"]
    assert adapters == [f"llama-{step.split()[1]}" for step in steps if step.startswith("scale")]


def test_that_a_graph_does_not_follow_its_adapter_is_said() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.desire(7, prefill=1, decode=2)
        await pass_time(0.15)
        ((code, why),) = unwritten(scene)
        assert code == "adapter_pending"
        assert "llama-prefill has 1 for prefill, and the graph still 2" in why
        await pass_time(5)
        assert unwritten(scene) == []

    played(play, a_graph())


def test_a_graph_whose_adapter_is_missing_is_not_written_at_all_until_it_is_there() -> None:
    def without(hub: FakeHub, cluster: Stumbling) -> None:
        a_graph()(hub, cluster)
        cluster.world.remove_adapter(REF, "decode")
        hub.desire(7, prefill=1, decode=1)

    async def play(scene: Scene) -> None:
        await pass_time(30)
        assert sent(scene) == []
        ((code, why),) = unwritten(scene)
        assert (code, "adapter of decode is missing" in why) == ("adapter_missing", True)
        scene.world.dynamo.adapters.make(REF)
        await pass_time(10)
        assert (asked(scene), graph(scene).applied_rev) == ({"prefill": 1, "decode": 1}, 7)

    played(play, without)


def test_a_write_that_a_webhook_refuses_for_a_while_is_said_and_tried_again() -> None:
    def refused(hub: FakeHub, cluster: Stumbling) -> None:
        a_graph()(hub, cluster)
        away = Busy('failed calling webhook "dynamo": connection refused', trouble=Trouble.WEBHOOK)
        cluster.world.dynamo.refusals.extend([away] * 6)
        hub.desire(7, prefill=2, decode=2)

    async def play(scene: Scene) -> None:
        await pass_time(3)
        assert unwritten(scene) == [("retry", 'failed calling webhook "dynamo": connection refused')]
        await pass_time(30)
        assert sent(scene) == ["apply 7 {}"] * 7
        assert (graph(scene).applied_rev, unwritten(scene)) == (7, [])

    played(play, refused)


# --- rivals -----------------------------------------------------------------------------------------------------------


def test_a_number_that_an_autoscaler_puts_back_is_not_fought_over() -> None:
    """Whether it comes before the revision is written, or after: each number is written once a revision."""
    for after_s in (0.1, 5.0):
        rival = RivalSpec(RivalKind.HPA, "hpa", "decode", after_s)

        async def play(scene: Scene) -> None:
            await pass_time(5)
            scene.hub.desire(7, prefill=1, decode=1)
            await pass_time(120)
            assert sorted(sent(scene)) == ["apply 7 {}", "scale decode 1", "scale prefill 1"]
            assert (asked(scene), graph(scene).applied_rev) == ({"prefill": 1, "decode": 2}, 7)
            told = [each for _, request in scene.hub.inventories for each in request.graphs or []][-1]
            decode = next(each for each in told.components if each.name == "decode")
            assert (decode.adapter, decode.written_by) == ("llama-decode", "hpa")
            assert [(each.kind, each.name, each.component) for each in told.rivals] == [
                ("HorizontalPodAutoscaler", "hpa", "decode")
            ]

        played(play, a_graph(rival))


def test_a_revision_that_is_taken_off_is_not_written_again_until_another_is_wanted() -> None:
    rival = RivalSpec(RivalKind.GITOPS, "argocd", after_s=1.0, replaces=True)

    def held(hub: FakeHub, cluster: Stumbling) -> None:
        cluster.world.add_graph(GraphSpec("llama", (ComponentSpec("decode", Role.DECODE, 2),), "serving", (rival,)))

    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.desire(7, decode=1)
        await pass_time(60)
        scene.hub.fence()  # and a new session changes nothing
        await pass_time(60)
        assert sent(scene) == ["apply 7 {'decode': 1}"]
        assert [code for code, _ in unwritten(scene)] == ["reverted"]
        scene.hub.desire(8, decode=1)
        await pass_time(10)
        assert sent(scene)[1:] == ["apply 8 {'decode': 1}"]

    played(play, held)


# --- created and removed ----------------------------------------------------------------------------------------------


def test_a_graph_is_created_from_its_template_scaled_like_any_other_and_removed() -> None:
    async def play(scene: Scene) -> None:
        scene.hub.desire(6, TEMPLATE, decode=0)
        await pass_time(5)
        assert sent(scene) == [], "nothing of it is to run"
        scene.hub.desire(7, TEMPLATE, decode=2)
        await pass_time(10)
        assert (graph(scene).is_ours, graph(scene).applied_rev, asked(scene)["decode"]) == (True, 7, 2)
        scene.hub.desire(8, TEMPLATE, decode=1)
        await pass_time(10)
        scene.hub.want_removed(graph(scene).uid)
        await pass_time(10)
        assert sent(scene) == ["create 7 {'decode': 2}", "apply 8 {'decode': 1}", "remove"]
        assert REF not in scene.world.snapshot().graphs
        assert unwritten(scene) == []

    with capture_logs() as logs:
        played(play, nothing)
    events = [each["event"] for each in logs if each["event"].startswith("graph ")]
    assert events == ["graph created", "graph written", "graph removed"]


def test_a_graph_that_somebody_deletes_at_once_is_created_again_a_while_later_or_for_another_number() -> None:
    async def play(scene: Scene) -> None:
        scene.hub.desire(7, TEMPLATE, decode=2)
        await pass_time(10)
        scene.world.remove_graph(REF)
        await pass_time(30)
        assert sent(scene) == ["create 7 {'decode': 2}"]
        assert [code for code, _ in unwritten(scene)] == ["reverted"]
        await pass_time(CREATED_AGAIN_S)
        assert sent(scene)[1:] == ["create 7 {'decode': 2}"]
        assert unwritten(scene) == []
        scene.world.remove_graph(REF)
        scene.hub.desire(8, TEMPLATE, decode=2)
        await pass_time(10)
        assert sent(scene)[2:] == ["create 8 {'decode': 2}"]

    played(play, nothing)


def test_a_graph_that_wingsmith_has_not_created_is_not_removed() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(5)
        scene.hub.want_removed(graph(scene).uid)
        await pass_time(20)
        assert (sent(scene), [code for code, _ in unwritten(scene)]) == ([], ["not_ours"])

    played(play, a_graph())


def test_a_removal_does_not_leave_once_it_is_not_wanted_any_more() -> None:
    async def play(scene: Scene) -> None:
        scene.hub.desire(7, TEMPLATE, decode=2)
        await pass_time(10)
        scene.cluster.connects_after_s = 2.0
        scene.hub.want_removed(graph(scene).uid)
        await pass_time(1)
        scene.hub.desire(8, TEMPLATE, decode=1)
        await pass_time(20)
        assert sent(scene) == ["create 7 {'decode': 2}", "apply 8 {'decode': 1}"]

    played(play, nothing)


# --- a drain in the way -----------------------------------------------------------------------------------------------


def spread(hub: FakeHub, cluster: Stumbling) -> None:
    """Let there be a graph with replicas on every node, which take 20 s to load, and a drain of n1."""
    worker = PodTemplate({GPU: 1}, ready_after_s=20.0, terminate_after_s=1.0)
    cluster.world.add_graph(GraphSpec("llama", (ComponentSpec("decode", Role.DECODE, 9, worker),), "serving"))
    hub.submit("node.drain")


def on_n1(scene: Scene) -> int:
    return sum(pod.part is not None for pod in scene.world.snapshot().pods_on(NodeName("n1")))


def test_a_reduction_waits_for_a_drain_and_says_so() -> None:
    async def play(scene: Scene) -> None:
        assert on_n1(scene) > 0
        await pass_time(3)
        assert any(isinstance(step, Evict) for _, step in scene.cluster.sent)
        scene.hub.desire(7, decode=1)
        await pass_time(5)
        assert sent(scene) == []
        ((code, why),) = unwritten(scene)
        assert code == "draining"
        assert why == (
            "decode is lowered to 1 once the replicas that op_01 (node n1) evicted have ended and serve elsewhere"
        )
        await pass_time(120)
        assert scene.hub.ended() == "succeeded"
        assert sent(scene) == ["apply 7 {'decode': 1}"]
        assert unwritten(scene) == []

    played(play, spread)


def test_a_pause_does_not_wait_and_ends_the_drain() -> None:
    async def play(scene: Scene) -> None:
        await pass_time(3)
        scene.hub.desire(7, decode=0)
        await pass_time(10)
        assert sent(scene) == ["apply 7 {'decode': 0}"]
        assert scene.hub.ended() == "succeeded"

    played(play, spread)


def test_a_drain_names_the_workload_of_what_it_waits_for_and_of_what_it_moved() -> None:
    async def play(scene: Scene) -> None:
        scene.hub.desire(7, decode=9)
        await pass_time(5)
        waits = [each for _, report in scene.hub.reports if report.progress for each in report.progress.blockers]
        loading = [each for each in waits if each.code == "loading" and "llama" in each.subject]
        assert loading
        assert {each.subject for each in loading} == {"deployment serving/llama-decode (decode of chat)"}
        assert loading[0].facts["workload"] == "chat"
        await pass_time(120)
        (result,) = [report.result for _, report in scene.hub.reports if report.result is not None]
        moved = [row for row in result.details["moved"] if row["pod"].startswith("serving/")]
        assert moved
        assert {(row["workload"], row["component"]) for row in moved} == {("chat", "decode")}

    played(play, spread)


def test_what_was_moved_keeps_its_names_through_a_restart() -> None:
    async def play(scene: Scene) -> None:
        scene.hub.desire(7, decode=9)
        await pass_time(5)
        memory = scene.hub.jobs["op_01"].memory
        assert memory is not None
        parts = [pod["part"] for pod in memory["pods"].values() if pod["part"] is not None]
        assert parts
        assert all(component == "decode" for _, component in parts)
        scene.hub.fence()  # the next session begins from what the hub has stored
        await pass_time(120)
        assert scene.hub.ended() == "succeeded"

    played(play, spread)
