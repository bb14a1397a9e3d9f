"""Who owns the numbers of graphs on a real API server: adapters, what scales those, GitOps; and what is not read."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from hangar.domain.decision import Accepted, Answer, Apply, Busy, Denied, Scale, Step, Trouble
from hangar.domain.snapshot import Snapshot
from hangar.domain.view import View
from hangar.domain.workloads.converge import converge
from hangar.domain.workloads.graph import (
    Adapter,
    Component,
    Counts,
    Desired,
    GraphRef,
    Rival,
    RivalKind,
    has_drifted,
    is_converged,
)
from hangar.operator.cluster.kubernetes.access import NEEDED
from testbed import dynamo_policy, keda
from testbed.access import user_with
from testbed.bed import Bed
from testbed.dynamo_adapters import Adapters, autoscaler
from testbed.dynamo_graphs import Graphs, Part
from testbed.dynamo_operator import DynamoOperator
from testbed.kube import KubeError
from testbed.kube import until as kube_until
from testbed.rivals import autoscaling, reverting
from tests.contracts.cluster_stage import SEEN_WITHIN_S, a_node, now_shown, take, until
from tests.kubernetes.kubernetes_stage import KubernetesStage, play

CHAT = GraphRef("default", "chat")
PARTS = {"Frontend": Part("frontend", 1), "prefill": Part("prefill", 1), "Decode": Part("decode", 2, has_adapter=True)}
BUSY = Rival(RivalKind.HPA, "busy", "Decode")


def component(snapshot: Snapshot, name: str = "Decode") -> Component:
    found = snapshot.graphs[CHAT].component(name)
    assert found is not None
    return found


def adapter(snapshot: Snapshot) -> Adapter | None:
    return component(snapshot).adapter if CHAT in snapshot.graphs else None


async def an_adapter(stage: KubernetesStage) -> Adapter:
    """Create the graph of these tests, beside a running operator of graphs, and return the adapter as it is shown."""
    stage.graphs.create(CHAT.name, PARTS)
    return await until(stage, "the adapter is shown", adapter)


def scaled(seen: Adapter, replicas: int) -> Scale:
    return Scale(CHAT, "Decode", seen.name, seen.uid, seen.version, replicas)


def test_an_adapter_is_made_once_with_the_graphs_number_and_owns_it_from_then_on(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        with DynamoOperator(empty_bed.kube, graphs.version):
            seen = await an_adapter(stage)
            assert (seen.name, seen.replicas, seen.written_by) == ("chat-decode", 2, "dynamo-operator")
            await _taken(stage, lambda: scaled(_shown(stage), 3))
            assert _number(now_shown(stage)) == (3, "hangar-operator")
            await until(stage, "its pods run", lambda snapshot: component(snapshot).counts == Counts(3, 3, 3))
            graph = now_shown(stage).graphs[CHAT]
            assert (component(now_shown(stage)).replicas, graph.applied_rev) == (3, None)
            graphs.scale(graphs.get(CHAT.name) or {}, "Decode", 1)
            kube_until("it is put back", lambda: _count(graphs, "Decode") == 3)

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def _count(graphs: Graphs, name: str) -> int:
    found = graphs.get(CHAT.name)
    assert found is not None
    replicas: int = graphs.parts(found)[name]["replicas"]
    return replicas


def test_what_is_an_adapters_is_refused_past_it_as_dynamo_does_and_the_rest_is_written(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        with (
            dynamo_policy.enforced(empty_bed.kube, graphs.version),
            DynamoOperator(empty_bed.kube, graphs.version, observes_after_s=0.0),
        ):
            await an_adapter(stage)
            with pytest.raises(KubeError, match="cannot be modified directly when scaling adapter is enabled"):
                graphs.scale(graphs.get(CHAT.name) or {}, "Decode", 5)
            await _taken(stage, lambda: scaled(_shown(stage), 0))
            await until(stage, "the graph follows", lambda snapshot: component(snapshot).counts == Counts(0, 0, 0))
            await _taken(stage, lambda: Apply(CHAT, *_at(stage), None, {"prefill": 2}))
            await _taken(stage, lambda: Apply(CHAT, *_at(stage), 7, {}))
            snapshot = now_shown(stage)
            assert (component(snapshot, "prefill").replicas, component(snapshot).replicas) == (2, 0)
            answer = await take(stage, Apply(CHAT, *_at(stage), 8, {"Decode": 5}))
            assert isinstance(answer, Denied)

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def test_a_graph_behind_an_adapter_is_converged_stage_by_stage_while_its_operator_writes_too(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        with (
            dynamo_policy.enforced(empty_bed.kube, graphs.version),
            DynamoOperator(empty_bed.kube, graphs.version, observes_after_s=0.0),
        ):
            await an_adapter(stage)
            for rev, (prefill, decode) in enumerate(((1, 3), (2, 0), (0, 4), (1, 1)), 1):
                desired = Desired(CHAT, rev, {"prefill": prefill, "Decode": decode})
                await _converged(stage, desired)
                assert not has_drifted(now_shown(stage).graphs[CHAT], desired)
            await until(stage, "it runs", lambda snapshot: is_converged(snapshot.graphs[CHAT], desired))

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


async def _converged(stage: KubernetesStage, desired: Desired) -> None:
    """Write what is desired, turn by turn, until the revision is on the graph; the worst that is met are conflicts."""
    while now_shown(stage).graphs[CHAT].applied_rev != desired.rev:
        stage.changed.clear()
        view = View(now_shown(stage))
        steps = converge([desired], (), frozenset({"scale"}), view, stage.cluster.now()).steps
        answers = [await take(stage, step) for _, step in steps]
        assert all(each == Accepted() or _is_conflict(each) for each in answers), answers
        if Accepted() not in answers:
            async with asyncio.timeout(SEEN_WITHIN_S):
                await stage.changed.wait()


def _is_conflict(answer: Answer) -> bool:
    return isinstance(answer, Busy) and answer.trouble is Trouble.CONFLICT


def _at(stage: KubernetesStage) -> tuple[str, str]:
    graph = now_shown(stage).graphs[CHAT]
    return graph.uid, graph.version


def _shown(stage: KubernetesStage) -> Adapter:
    seen = adapter(now_shown(stage))
    assert seen is not None
    return seen


async def _taken(stage: KubernetesStage, step: Callable[[], Step]) -> None:
    """Take a step on what is shown, again where its operator was faster."""
    for _ in range(20):
        stage.changed.clear()
        answer = await take(stage, step())
        if answer == Accepted():
            return
        assert _is_conflict(answer)
        await stage.changed.wait()
    raise AssertionError("twenty conflicts in a row")


def test_an_autoscaler_is_a_rival_whether_it_or_its_adapter_comes_first_and_until_it_goes(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await stage.add_autoscaler(CHAT, "Decode", "busy")
        with DynamoOperator(empty_bed.kube, graphs.version):
            await an_adapter(stage)
            await until(stage, "the rival", lambda snapshot: snapshot.graphs[CHAT].rivals == (BUSY,))
            empty_bed.kube.delete("HorizontalPodAutoscaler", "busy")
            await until(stage, "it is gone", lambda snapshot: snapshot.graphs[CHAT].rivals == ())
            await stage.add_autoscaler(CHAT, "Decode", "busy")
            await until(stage, "it is there", lambda snapshot: snapshot.graphs[CHAT].rivals == (BUSY,))

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def test_an_autoscaler_that_fights_is_seen_and_its_number_wins(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    adapters = Adapters(empty_bed.kube, graphs.version)

    async def scene(stage: KubernetesStage) -> None:
        with DynamoOperator(empty_bed.kube, graphs.version):
            seen = await an_adapter(stage)
            await stage.add_autoscaler(CHAT, "Decode", "busy")
            await until(stage, "the rival", lambda snapshot: snapshot.graphs[CHAT].rivals == (BUSY,))
            with autoscaling(adapters, seen.name, 4):
                await until(stage, "it scales", lambda snapshot: _number(snapshot) == (4, "kube-controller-manager"))
                await _taken(stage, lambda: scaled(_shown(stage), 1))
                assert _number(now_shown(stage)) == (1, "hangar-operator")
                ours = _shown(stage)
                await until(stage, "it is back", lambda snapshot: _number(snapshot) == (4, "kube-controller-manager"))
            answer = await take(stage, scaled(ours, 2))
            assert isinstance(answer, Busy)
            assert answer.trouble is Trouble.CONFLICT

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def _number(snapshot: Snapshot) -> tuple[int, str | None] | None:
    seen = adapter(snapshot)
    return None if seen is None else (seen.replicas, seen.written_by)


def test_keda_and_the_autoscaler_that_it_made_are_one_rival_and_none_once_it_is_paused(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    kube = empty_bed.kube
    keda.install(kube)

    async def scene(stage: KubernetesStage) -> None:
        with DynamoOperator(kube, graphs.version):
            await an_adapter(stage)
        made_by = keda.scale(kube, "queue", "chat-decode", graphs.version)
        document = autoscaler("keda-hpa-queue", "chat-decode", graphs.version)
        document["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "keda.sh/v1alpha1",
                "kind": "ScaledObject",
                "name": "queue",
                "uid": made_by["metadata"]["uid"],
                "controller": True,
            }
        ]
        kube.create(document)
        rival = Rival(RivalKind.KEDA, "queue", "Decode")
        await until(stage, "both are seen", lambda snapshot: snapshot.graphs[CHAT].rivals == (rival,))
        keda.pause(kube, "queue")
        kube.delete("HorizontalPodAutoscaler", "keda-hpa-queue")  # as KEDA does when it is paused
        await until(stage, "it is no rival", lambda snapshot: snapshot.graphs[CHAT].rivals == ())

    try:
        play(scene, empty_bed, operator_kubeconfig, graphs.version)
    finally:
        keda.remove(kube)


def test_gitops_is_known_by_its_mark_and_puts_back_what_is_not_its_own(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    mark = {"argocd.argoproj.io/tracking-id": "models:nvidia.com/DynamoGraphDeployment:default/chat"}

    async def scene(stage: KubernetesStage) -> None:
        graphs.create(CHAT.name, {"prefill": Part("prefill", 1)}, annotations=mark)
        graph = await until(stage, "the graph", lambda snapshot: snapshot.graphs.get(CHAT))
        assert graph.rivals == (Rival(RivalKind.GITOPS, "Argo CD application models"),)
        with reverting(graphs, CHAT.name, {"prefill": 1}):
            assert await take(stage, Apply(CHAT, graph.uid, graph.version, 7, {"prefill": 3})) == Accepted()
            seen = await until(stage, "it is put back", lambda snapshot: _prefill(snapshot, 1))
        assert (seen.written_by, now_shown(stage).graphs[CHAT].applied_rev) == ("argocd-controller", 7)

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def _prefill(snapshot: Snapshot, replicas: int) -> Component | None:
    found = component(snapshot, "prefill")
    return found if found.replicas == replicas else None


def test_without_the_right_to_read_autoscalers_all_else_is_shown_and_what_is_not_read_is_told(
    empty_bed: Bed, graphs: Graphs
) -> None:
    kubeconfig = user_with(empty_bed, f"scaler-{graphs.version}", (*NEEDED["drain"], *NEEDED["scale"]))

    async def scene(stage: KubernetesStage) -> None:
        with DynamoOperator(empty_bed.kube, graphs.version):
            await an_adapter(stage)
        await stage.add_autoscaler(CHAT, "Decode", "busy")
        assert (await stage.cluster.grants())["scale"]
        snapshot = now_shown(stage)
        assert (snapshot.unreadable, snapshot.graphs_unreadable) == ((), None)
        watches = {each.resource: each.is_up for each in stage.kubernetes.watches()}
        assert not watches["horizontalpodautoscalers"]
        assert watches["scaledobjects"]
        await _taken(stage, lambda: scaled(_shown(stage), 1))
        assert now_shown(stage).graphs[CHAT].rivals == ()

    play(scene, empty_bed, kubeconfig, graphs.version)


def test_without_the_right_to_read_adapters_graphs_are_shown_and_scaling_is_not_granted(
    empty_bed: Bed, graphs: Graphs
) -> None:
    rights = [each for each in NEEDED["scale"] if each.resource == "dynamographdeployments"]
    kubeconfig = user_with(empty_bed, f"former-{graphs.version}", (*NEEDED["drain"], *rights))

    async def scene(stage: KubernetesStage) -> None:
        with DynamoOperator(empty_bed.kube, graphs.version):
            stage.graphs.create(CHAT.name, PARTS)
            kube_until("the adapter", lambda: stage.adapters.get("chat-decode") is not None)
        await until(stage, "the graph", lambda snapshot: CHAT in snapshot.graphs)
        assert not (await stage.cluster.grants())["scale"]
        seen = component(now_shown(stage))
        assert (seen.has_adapter, seen.adapter, now_shown(stage).graphs_unreadable) == (True, None, None)
        watches = {each.resource: each.is_up for each in stage.kubernetes.watches()}
        assert not watches["dynamographdeploymentscalingadapters"]
        made = stage.adapters.get("chat-decode")
        assert made is not None
        metadata = made["metadata"]
        answer = await take(
            stage, Scale(CHAT, "Decode", "chat-decode", metadata["uid"], metadata["resourceVersion"], 1)
        )
        assert isinstance(answer, Denied)

    play(scene, empty_bed, kubeconfig, graphs.version)


def test_a_graph_whose_operator_finds_no_room_says_so_in_its_words(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        with DynamoOperator(empty_bed.kube, graphs.version) as operator:
            operator.fault = "insufficient_capacity"
            await an_adapter(stage)
            await until(stage, "the reason", lambda snapshot: _unready(snapshot).startswith("insufficient_capacity: "))
            operator.fault = None
            await until(stage, "another", lambda snapshot: _unready(snapshot).startswith("pods_not_ready: "))

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def _unready(snapshot: Snapshot) -> str:
    return snapshot.graphs[CHAT].unready or ""
