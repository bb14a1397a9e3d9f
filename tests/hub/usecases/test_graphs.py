"""What operators tell of graphs: what is learnt of it, what is said of it, and what goes on by it."""

import msgspec
import pytest
from sqlalchemy import func, select

from hangar.hub.store.tables import graphs
from hangar.wire.operator import ComponentDoc, UnwrittenDoc
from tests.hub.sites import Fleet, a_graph


def count(fleet: Fleet) -> int:
    return fleet.read(lambda connection: connection.execute(select(func.count()).select_from(graphs)).scalar_one())


def test_what_was_changed_by_hand_is_shown_and_written_over_only_when_asked(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    rev = fleet["iad-1"].wanted().rev
    fleet["iad-1"].decode(replicas=5, written_by="kubectl-edit")
    drifted = fleet.deployment("iad-1")
    assert (fleet.see().state, drifted.state, drifted.changed_by) == ("drifted", "drifted", ["kubectl-edit"])
    assert fleet["iad-1"].wanted().rev == rev
    assert fleet.world.events("deployment.drifted") == ["deployment.drifted"]
    fleet["iad-1"].decode(replicas=6, written_by="kubectl-edit")
    assert fleet.world.events("deployment.drifted") == ["deployment.drifted"]
    id_ = fleet.scale(3)
    assert fleet["iad-1"].wanted().rev > rev
    fleet.write("iad-1")
    assert fleet.world.get(id_).phase == "succeeded"


def test_what_was_written_is_said_once(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    assert fleet.world.events("deployment.written") == []
    fleet.write("fra-1")
    fleet["fra-1"].settle()
    assert fleet.world.events("deployment.written") == ["deployment.written"]


def test_what_is_told_again_without_a_change_writes_nothing(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    before = fleet.world.store.position()
    fleet["fra-1"].tell()
    assert fleet.world.store.position() == before


def test_a_shape_is_learnt_from_a_graph_that_is_seen_for_the_first_time_and_stays(fleet: Fleet) -> None:
    fleet["fra-1"].lose()
    fleet.bind(replicas=6)
    assert fleet.deployment("fra-1").shape is None
    pair = [
        ComponentDoc(name="prefill", role="prefill", replicas=1),
        ComponentDoc(name="decode", role="decode", replicas=2),
    ]
    fleet["fra-1"].tell(a_graph(components=pair))
    assert fleet["fra-1"].wanted().counts == {"prefill": 2, "decode": 4}
    edited = [pair[0], msgspec.structs.replace(pair[1], replicas=9)]
    fleet["fra-1"].tell(a_graph(components=edited))
    assert fleet.deployment("fra-1").shape == {"prefill": 1, "decode": 2}


def test_a_named_shape_is_learnt_only_by_a_graph_that_has_its_components(fleet: Fleet) -> None:
    fleet["fra-1"].lose()
    fleet.bind(on=["fra-1"], replicas=2, shape={"a": 1, "b": 2})
    fleet["fra-1"].tell(a_graph())
    assert fleet.deployment("fra-1").shape is None
    fleet["fra-1"].tell(a_graph(components=[ComponentDoc(name=name, role="worker", replicas=0) for name in "ab"]))
    assert fleet["fra-1"].wanted().counts == {"a": 2, "b": 4}


@pytest.mark.parametrize("complete", [True, False], ids=["a whole inventory without it", "by its name"])
def test_a_graph_that_is_gone_is_missing_and_what_is_wanted_of_it_stays(fleet: Fleet, complete: bool) -> None:
    fleet.bind(replicas=3)
    fleet.write()
    fleet["sin-1"].lose(complete=complete)
    assert fleet.deployment("sin-1").state == "missing"
    assert fleet.numbers() == {"fra-1": 1, "iad-1": 1, "sin-1": 1}
    id_ = fleet.scale(6)
    fleet.write("fra-1", "iad-1")
    assert fleet.waits(id_) == ["graph_missing"]
    fleet["sin-1"].tell(a_graph())
    fleet.write("sin-1")
    assert fleet.world.get(id_).phase == "succeeded"


def test_an_inventory_that_says_nothing_of_graphs_leaves_them_as_they_are(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet["sin-1"].send(graphs=None)
    assert count(fleet) == 3
    assert fleet.deployment("sin-1").state == "reconciling"


def test_a_part_changes_the_graphs_it_names_alone(fleet: Fleet) -> None:
    fleet["fra-1"].tell(a_graph("other"))
    assert count(fleet) == 4
    fleet["fra-1"].send(graphs=[a_graph("third")], complete=False)
    assert count(fleet) == 5
    fleet["fra-1"].send(graphs=[a_graph("third")])
    assert count(fleet) == 3


def test_graphs_that_nobody_bound_are_kept_and_bring_no_events(fleet: Fleet) -> None:
    before = fleet.world.events()
    fleet["fra-1"].decode(replicas=7)
    assert fleet.world.events() == before


# --- what cannot be written -------------------------------------------------------------------------------------------


def unwritten(fleet: Fleet, cluster: str, code: str = "adapter_missing") -> UnwrittenDoc:
    rev = fleet[cluster].wanted().rev
    return UnwrittenDoc(namespace="serving", graph="llama", rev=rev, code=code, why="decode has no adapter yet")


def test_why_something_is_not_written_is_shown_and_waited_for_in_the_operators_words(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.settle()
    id_ = fleet.scale(6)
    fleet.write("iad-1", "sin-1")
    fleet["fra-1"].send(complete=False, unwritten=[unwritten(fleet, "fra-1")])
    sentence = (
        "fra-1/serving/llama is to have 2 replicas, and its operator has not written that yet: "
        "decode has no adapter yet (adapter_missing)"
    )
    assert fleet.deployment("fra-1").message == sentence
    progress = fleet.world.get(id_).progress
    assert progress is not None
    assert [each.message for each in progress.blockers] == [sentence]


def test_what_is_not_told_again_stays_and_what_is_told_otherwise_goes(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    site = fleet["fra-1"]
    site.send(complete=False, unwritten=[unwritten(fleet, "fra-1")])
    site.send(complete=False)
    assert fleet.deployment("fra-1").message.endswith("(adapter_missing)")
    site.send(complete=False, unwritten=[])
    assert fleet.deployment("fra-1").message.endswith("has not written that yet")


def test_what_was_told_of_an_older_revision_says_nothing_of_a_newer_one(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet["fra-1"].send(complete=False, unwritten=[unwritten(fleet, "fra-1")])
    fleet.world.pass_s(1)
    fleet.scale(6)
    assert fleet.deployment("fra-1").message.endswith("has not written that yet")


def test_a_revert_that_only_the_operator_saw_ends_what_waits_for_it(fleet: Fleet) -> None:
    fleet.bind(replicas=3)
    fleet.settle()
    id_ = fleet.scale(6)
    fleet.write("iad-1", "sin-1")
    fleet["fra-1"].send(complete=False, unwritten=[unwritten(fleet, "fra-1", code="reverted")])
    phase, message = fleet.ended(id_)
    assert phase == "failed"
    assert "changed back: fra-1/serving/llama: decode has no adapter yet." in message
