"""Graphs on a real API server, in each version that Dynamo serves them in: seen, written at one version, kept whole."""

from pathlib import Path
from typing import Any, TypeAlias

from hangar.domain.decision import Accepted, Answer, Apply, Busy, Denied, Gone, Namesake, Trouble
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import View
from hangar.domain.workloads.converge import converge
from hangar.domain.workloads.graph import Counts, Desired, Graph, GraphRef, Role, has_drifted, is_converged
from hangar.operator.cluster.kubernetes.access import NEEDED
from testbed import dynamo_crds
from testbed.access import user_with
from testbed.bed import Bed
from testbed.dynamo_graphs import Graphs, Part
from testbed.dynamo_operator import DynamoOperator
from testbed.kube import until as kube_until
from testbed.webhook import CHANGES_OF_GRAPHS, Webhook, deny
from tests.contracts.cluster_stage import a_node, now_shown, take, until
from tests.kubernetes.kubernetes_stage import KubernetesStage, play

Document: TypeAlias = dict[str, Any]

CHAT = GraphRef("default", "chat")
PARTS = {
    "Frontend": Part("frontend", replicas=None),
    "prefill": Part("prefill", 1, gpus=1),
    "decode": Part("decode", 2, gpus=2),
}


async def a_graph(stage: KubernetesStage, graphs: Graphs, **metadata: Any) -> Graph:
    """Create the graph of these tests and return it as it is shown."""
    graphs.create(CHAT.name, PARTS, **metadata)
    return await until(stage, "the graph is shown", lambda snapshot: snapshot.graphs.get(CHAT))


async def settled(stage: KubernetesStage, desired: Desired) -> Graph:
    """Wait until a graph runs what is desired, and return it."""

    def look(snapshot: Snapshot) -> Graph | None:
        graph = snapshot.graphs.get(CHAT)
        return graph if graph is not None and is_converged(graph, desired) else None

    return await until(stage, f"the graph runs {dict(desired.counts)}", look)


def shown(stage: KubernetesStage) -> Graph:
    return now_shown(stage).graphs[CHAT]


def written(graph: Graph, rev: int, **counts: int) -> Apply:
    return Apply(graph.ref, graph.uid, graph.version, rev, counts)


def test_a_graph_is_seen_with_its_components_and_what_its_operator_counts(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        graph = await a_graph(stage, graphs)
        assert (graph.api_version, graph.applied_rev) == (f"nvidia.com/{graphs.version}", None)
        assert {each.name: each.role for each in graph.components} == {
            "Frontend": Role.FRONTEND,
            "prefill": Role.PREFILL,
            "decode": Role.DECODE,
        }
        assert {each.name: (each.replicas, each.gpus_per_pod) for each in graph.components} == {
            "Frontend": (1, 0),
            "prefill": (1, 1),
            "decode": (2, 2),
        }
        assert graph.unready is not None
        assert [each.counts for each in graph.components] == [None, None, None]
        assert not graph.is_observed
        with DynamoOperator(empty_bed.kube, graphs.version):
            graph = await until(stage, "it is ready", _ready)
        assert graph.is_observed
        assert {each.name: (each.counts, each.pods) for each in graph.components} == {
            "Frontend": (Counts(1, 1, 1), 1),
            "prefill": (Counts(1, 1, 1), 1),
            "decode": (Counts(2, 2, 2), 2),
        }

    play(scene, empty_bed, operator_kubeconfig)


def _ready(snapshot: Snapshot) -> Graph | None:
    graph = snapshot.graphs.get(CHAT)
    if graph is None or graph.unready is not None:
        return None
    return graph if [each.pods for each in graph.components] == [each.replicas for each in graph.components] else None


def test_a_replica_of_several_nodes_counts_once_and_has_a_pod_on_each(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        graphs.create(CHAT.name, {"worker": Part(replicas=2, gpus=1, node_count=2)})
        desired = Desired(CHAT, 7, {"worker": 1})
        with DynamoOperator(empty_bed.kube, graphs.version):
            graph = await until(stage, "its pods are made", lambda snapshot: _with_pods(snapshot, 4))
            assert await take(stage, written(graph, 7, worker=1)) == Accepted()
            await settled(stage, desired)
            graph = await until(stage, "pods are gone", lambda snapshot: _with_pods(snapshot, 2))
        (worker,) = graph.components
        assert (worker.node_count, worker.replicas, worker.counts) == (2, 1, Counts(1, 1, 1))

    play(scene, empty_bed, operator_kubeconfig)


def _with_pods(snapshot: Snapshot, pods: int) -> Graph | None:
    graph = snapshot.graphs.get(CHAT)
    if graph is None or not graph.is_observed or [each.pods for each in graph.components] != [pods]:
        return None
    return graph if graph.unready is None else None


def test_counts_are_written_at_once_and_run_a_while_later(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        with DynamoOperator(empty_bed.kube, graphs.version):
            await a_graph(stage, graphs)
            graph = await until(stage, "it is ready", _ready)
            desired = Desired(CHAT, 7, {"prefill": 2, "decode": 3})
            assert await take(stage, written(graph, 7, **desired.counts)) == Accepted()
            graph = shown(stage)
            assert (graph.applied_rev, is_converged(graph, desired)) == (7, False)
            assert {each.name: each.replicas for each in graph.components} == {"Frontend": 1, "prefill": 2, "decode": 3}
            graph = await settled(stage, desired)
            empty = Desired(CHAT, 8, {"prefill": 0, "decode": 0})
            assert await take(stage, written(graph, 8, **empty.counts)) == Accepted()
            await settled(stage, empty)
            await until(stage, "its pods are gone", lambda snapshot: _pods(snapshot) == {"prefill": 0, "decode": 0})
            assert shown(stage).component("Frontend") is not None

    play(scene, empty_bed, operator_kubeconfig)


def _pods(snapshot: Snapshot) -> dict[str, int]:
    return {each.name: each.pods for each in snapshot.graphs[CHAT].components if each.name != "Frontend"}


def test_what_is_desired_is_written_turn_by_turn_while_its_operator_writes_too(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        with DynamoOperator(empty_bed.kube, graphs.version, observes_after_s=0.0):
            await a_graph(stage, graphs)
            answers: list[Answer] = []
            for rev in range(1, 9):
                desired = Desired(CHAT, rev, {"prefill": rev % 3, "decode": rev % 4})
                while steps := converge(
                    [desired], (), frozenset({"scale"}), View(now_shown(stage)), stage.cluster.now()
                ).steps:
                    answers += [await take(stage, step) for _, step in steps]
                assert not has_drifted(shown(stage), desired)
            await settled(stage, desired)
        assert answers.count(Accepted()) == 8
        others = [each for each in answers if each != Accepted()]
        assert all(isinstance(each, Busy) and each.trouble is Trouble.CONFLICT for each in others)

    play(scene, empty_bed, operator_kubeconfig)


def test_what_is_not_written_stays_as_it_is(empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path) -> None:
    async def scene(stage: KubernetesStage) -> None:
        graph = await a_graph(stage, graphs, annotations={"nvidia.com/current-worker-hash": "abc"})
        before = _found(graphs)
        assert await take(stage, written(graph, 7, decode=5)) == Accepted()
        after = _found(graphs)
        assert after["metadata"]["annotations"] == {
            "nvidia.com/current-worker-hash": "abc",
            "wingsmith.dev/applied-rev": "7",
        }
        assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
        parts = graphs.parts(before)
        parts["decode"]["replicas"] = 5
        assert graphs.parts(after) == parts

    play(scene, empty_bed, operator_kubeconfig)


def test_a_graph_that_has_no_annotation_yet_gets_ours(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        graph = await a_graph(stage, graphs)
        assert "annotations" not in _found(graphs)["metadata"]
        assert await take(stage, written(graph, 7, Frontend=2, decode=0)) == Accepted()
        assert _found(graphs)["metadata"]["annotations"] == {"wingsmith.dev/applied-rev": "7"}
        assert {each.name: each.written_by for each in shown(stage).components}["decode"] == "hangar-operator"

    play(scene, empty_bed, operator_kubeconfig)


def _found(graphs: Graphs) -> Document:
    found = graphs.get(CHAT.name)
    assert found is not None
    return found


def test_what_somebody_else_writes_over_ours_is_seen_with_his_name(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        graph = await a_graph(stage, graphs)
        desired = Desired(CHAT, 7, {"decode": 5})
        assert await take(stage, written(graph, 7, decode=5)) == Accepted()
        assert not has_drifted(shown(stage), desired)
        graphs.scale(_found(graphs), "decode", 1, manager="kim")
        graph = await until(stage, "it has drifted", lambda snapshot: _drifted(snapshot, desired))
        component = graph.component("decode")
        assert component is not None
        assert (component.replicas, component.written_by) == (1, "kim")

    play(scene, empty_bed, operator_kubeconfig)


def _drifted(snapshot: Snapshot, desired: Desired) -> Graph | None:
    graph = snapshot.graphs[CHAT]
    return graph if has_drifted(graph, desired) else None


def test_a_graph_that_changed_unseen_is_a_conflict_and_one_that_went_is_gone(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        graph = await a_graph(stage, graphs)
        await stage.stop_reading()
        graphs.scale(_found(graphs), "prefill", 3)
        answer = await take(stage, written(graph, 7, decode=5))
        assert isinstance(answer, Busy)
        assert answer.trouble is Trouble.CONFLICT
        assert "annotations" not in _found(graphs)["metadata"]
        graphs.delete(CHAT.name)
        assert await take(stage, written(graph, 7, decode=5)) == Gone()
        graphs.create(CHAT.name, PARTS)
        assert await take(stage, written(graph, 7, decode=5)) == Namesake()
        assert "annotations" not in _found(graphs)["metadata"]
        stage.read()

    play(scene, empty_bed, operator_kubeconfig)


def test_a_number_that_the_server_does_not_take_is_no_conflict(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        answer = await take(stage, written(await a_graph(stage, graphs), 7, decode=-1))
        assert isinstance(answer, Denied)
        assert "should be greater than or equal to 0" in answer.message

    play(scene, empty_bed, operator_kubeconfig)


def test_a_webhook_that_denies_is_told_from_one_that_is_not_there(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    """Dynamo's own refuses a number that is a scaling adapter's, and is away whenever its one pod is restarted."""
    why = "cannot be modified directly when scaling adapter is enabled"
    denies = Webhook(empty_bed, "denies.dynamo.test", deny(why, 403), rule=CHANGES_OF_GRAPHS)
    is_away = Webhook(empty_bed, "away.dynamo.test", deny(why), rule=CHANGES_OF_GRAPHS)

    async def scene(stage: KubernetesStage) -> None:
        graph = await a_graph(stage, graphs)
        with denies:
            waited_for(graphs, "is asked", "denied the request")
            answer = await take(stage, written(graph, 7, decode=5))
            assert isinstance(answer, Denied)
            assert answer.by_webhook
            assert why in answer.message
        waited_for(graphs, "is not asked any more", None)
        is_away.hang_up()
        try:
            waited_for(graphs, "is not there", "failed calling webhook")
            answer = await take(stage, written(graph, 7, decode=5))
        finally:
            empty_bed.kube.delete("ValidatingWebhookConfiguration", "away.dynamo.test")
        assert isinstance(answer, Busy)
        assert answer.trouble is Trouble.WEBHOOK
        waited_for(graphs, "is forgotten", None)
        assert await take(stage, written(graph, 7, decode=5)) == Accepted()

    play(scene, empty_bed, operator_kubeconfig)


def waited_for(graphs: Graphs, what: str, refusal: str | None) -> None:
    """Wait until a change of the graph would be refused with these words, or not at all."""

    def look() -> bool:
        error = graphs.dry_run(_found(graphs))
        return error is None if refusal is None else error is not None and refusal in str(error)

    kube_until(f"the webhook {what}", look)


def test_without_the_right_to_read_graphs_all_else_is_read_and_scaling_is_not_granted(
    empty_bed: Bed, graphs: Graphs
) -> None:
    kubeconfig = user_with(empty_bed, f"drainer-{graphs.version}", NEEDED["drain"])
    created = graphs.create(CHAT.name, PARTS)["metadata"]

    async def scene(stage: KubernetesStage) -> None:
        grants = await stage.cluster.grants()
        assert (grants["drain"], grants["scale"], grants["deploy"]) == (True, False, False)
        node = await a_node(stage)
        snapshot = now_shown(stage)
        assert (snapshot.unreadable, set(snapshot.nodes), snapshot.graphs) == ((), {node.name}, {})
        assert snapshot.graphs_unreadable is not None
        assert snapshot.graphs_unreadable.startswith("dynamographdeployments: 403: ")
        answer: Answer = await take(stage, Apply(CHAT, created["uid"], created["resourceVersion"], 7, {"decode": 5}))
        assert isinstance(answer, Denied)

    play(scene, empty_bed, kubeconfig)


def test_where_graphs_are_not_installed_there_are_none_and_all_else_is_read(
    empty_bed: Bed, operator_kubeconfig: Path
) -> None:
    dynamo_crds.remove(empty_bed.kube)

    async def scene(stage: KubernetesStage) -> None:
        node = await a_node(stage)
        snapshot = now_shown(stage)
        assert (snapshot.unreadable, set(snapshot.nodes)) == ((), {node.name})
        assert (snapshot.graphs, snapshot.graphs_unreadable) == ({}, None)
        assert (await stage.cluster.grants())["scale"]
        assert await take(stage, Apply(CHAT, "u", "1", 7, {"decode": 5})) == Gone()

    play(scene, empty_bed, operator_kubeconfig)
