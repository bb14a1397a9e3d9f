"""Adapters and their autoscalers find their graphs, in whichever order all of them come and go."""

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations

from hangar.domain.index import ClusterIndex
from hangar.domain.workloads.graph import Adapter, Component, Graph, GraphRef, Rival, RivalKind, Role
from hangar.domain.workloads.joining import Autoscaler, PartAdapter
from hangar.domain.workloads.members import Part

CHAT = GraphRef("serving", "chat")
GITOPS = Rival(RivalKind.GITOPS, "Argo CD application chat")
GRAPH = Graph(
    CHAT,
    "u",
    "1",
    "nvidia.com/v1beta1",
    (Component("decode", Role.DECODE, 2, has_adapter=True), Component("Frontend", Role.FRONTEND, 1)),
    rivals=(GITOPS,),
)
DECODE = Adapter("chat-decode", "a", "7", 3, "kim")
ADAPTER = PartAdapter(Part(CHAT, "decode"), DECODE)
HPA = Autoscaler("h", "serving", "chat-decode", RivalKind.HPA, "busy")
MADE_BY_KEDA = Autoscaler("k", "serving", "chat-decode", RivalKind.KEDA, "queue")
SCALED_OBJECT = replace(MADE_BY_KEDA, uid="s")

PUTS: tuple[Callable[[ClusterIndex], None], ...] = (
    lambda index: index.put_graph(GRAPH),
    lambda index: index.put_adapter(ADAPTER),
    lambda index: index.put_autoscaler(HPA),
    lambda index: index.put_autoscaler(MADE_BY_KEDA),
    lambda index: index.put_autoscaler(SCALED_OBJECT),
)


def shown(index: ClusterIndex) -> tuple[Adapter | None, tuple[Rival, ...]]:
    graph = index.snapshot().graphs[CHAT]
    decode, frontend = graph.components
    assert frontend.adapter is None
    return decode.adapter, graph.rivals


def full() -> ClusterIndex:
    index = ClusterIndex()
    for put in PUTS:
        put(index)
    return index


def test_whatever_comes_first_a_graph_has_its_adapter_and_each_rival_once() -> None:
    rivals = (GITOPS, Rival(RivalKind.HPA, "busy", "decode"), Rival(RivalKind.KEDA, "queue", "decode"))
    for order in permutations(PUTS):
        index = ClusterIndex()
        for put in order:
            put(index)
        assert shown(index) == (DECODE, rivals)


def test_what_goes_is_seen_to_be_gone_and_what_an_autoscaler_made_may_go_before_it() -> None:
    index = full()
    index.drop_autoscaler("h")
    index.drop_autoscaler("k")
    assert shown(index) == (DECODE, (GITOPS, Rival(RivalKind.KEDA, "queue", "decode")))
    index.drop_autoscaler("s")
    assert shown(index) == (DECODE, (GITOPS,))
    index.drop_adapter("a")
    assert shown(index) == (None, (GITOPS,))
    index.drop_adapter("a")
    index.drop_autoscaler("s")
    assert shown(index) == (None, (GITOPS,))


def test_an_autoscaler_without_its_adapter_is_no_rival() -> None:
    index = full()
    index.drop_adapter("a")
    assert shown(index) == (None, (GITOPS,))
    index.put_adapter(ADAPTER)
    assert len(shown(index)[1]) == 3


def test_an_adapter_and_an_autoscaler_that_turn_to_something_else_leave_what_they_were_of() -> None:
    index = full()
    index.put_autoscaler(replace(HPA, adapter=""))
    index.put_autoscaler(replace(SCALED_OBJECT, namespace="elsewhere"))
    index.put_autoscaler(replace(MADE_BY_KEDA, adapter="chat-prefill"))
    assert shown(index) == (DECODE, (GITOPS,))
    index.put_adapter(PartAdapter(Part(CHAT, "prefill"), DECODE))
    assert shown(index) == (None, (GITOPS,))


def test_a_new_number_of_an_adapter_is_seen_and_old_snapshots_stay() -> None:
    index = full()
    before = index.snapshot()
    index.put_adapter(PartAdapter(ADAPTER.part, replace(DECODE, version="8", replicas=5)))
    adapter, _ = shown(index)
    assert adapter is not None
    assert (adapter.version, adapter.replicas) == ("8", 5)
    assert before.graphs[CHAT].components[0].adapter == DECODE


def test_a_component_that_has_none_is_not_given_one() -> None:
    index = full()
    index.put_graph(replace(GRAPH, components=(replace(GRAPH.components[0], has_adapter=False), GRAPH.components[1])))
    assert shown(index) == (None, (GITOPS,))


def test_of_several_adapters_of_a_component_the_one_with_the_usual_name_counts() -> None:
    index = full()
    index.put_adapter(PartAdapter(ADAPTER.part, replace(DECODE, name="another", uid="b")))
    assert shown(index)[0] == DECODE
    index.drop_adapter("a")
    adapter, rivals = shown(index)
    assert adapter is not None
    assert (adapter.name, rivals) == ("another", (GITOPS,))


def test_a_graph_that_goes_and_comes_again_has_its_adapter_again() -> None:
    index = full()
    index.drop_graph(CHAT)
    assert index.snapshot().graphs == {}
    index.put_autoscaler(HPA)
    assert index.snapshot().graphs == {}
    index.put_graph(GRAPH)
    assert shown(index)[0] == DECODE
