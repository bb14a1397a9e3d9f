"""What every cluster adapter answers to cordons, and how it shows whose they are."""

from dataclasses import replace

from hangar.domain.decision import (
    Accepted,
    Busy,
    Cordon,
    Gone,
    Namesake,
    Trouble,
    Uncordon,
    Unmark,
)
from hangar.domain.ids import NodeName, NodeUid, OperationId
from hangar.operator.cluster.simulated.spec import NodeSpec
from tests.contracts.cluster_stage import MARK, Stage, a_node, now_shown, scene, take, until


@scene
async def a_cordon_is_seen_at_once_with_its_mark_and_as_ours(stage: Stage) -> None:
    node = await a_node(stage)
    assert await take(stage, Cordon(node.name, node.uid, MARK)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark, seen.cordon_is_ours) == (True, MARK, True)
    assert seen.cordon_manager == "hangar-operator"


@scene
async def a_cordon_again_takes_the_new_mark(stage: Stage) -> None:
    node = await a_node(stage)
    mark = replace(MARK, operation=OperationId("op_02"), reason=None, prior_unschedulable=True)
    for each in (MARK, mark):
        assert await take(stage, Cordon(node.name, node.uid, each)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark, seen.cordon_is_ours) == (True, mark, True)


@scene
async def a_cordon_on_top_of_somebody_elses_does_not_make_it_ours(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.cordon_by_hand("n1", "kubectl-cordon")
    await until(stage, "it is cordoned", lambda snapshot: snapshot.nodes[node.name].unschedulable)
    mark = replace(MARK, prior_unschedulable=True)
    assert await take(stage, Cordon(node.name, node.uid, mark)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.mark, seen.cordon_is_ours, seen.cordon_manager) == (mark, False, "kubectl-cordon")


@scene
async def an_uncordon_by_hand_leaves_our_mark_until_it_is_taken_off(stage: Stage) -> None:
    node = await a_node(stage)
    await take(stage, Cordon(node.name, node.uid, MARK))
    await stage.cordon_by_hand("n1", "kubectl-uncordon", on=False)
    await until(stage, "it is uncordoned", lambda snapshot: not snapshot.nodes[node.name].unschedulable)
    seen = now_shown(stage).nodes[node.name]
    assert (seen.mark, seen.cordon_is_ours, seen.cordon_manager) == (MARK, False, None)
    assert await take(stage, Unmark(node.name, node.uid)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark) == (False, None)


@scene
async def a_cordon_by_hand_under_our_mark_is_not_ours(stage: Stage) -> None:
    node = await a_node(stage)
    await take(stage, Cordon(node.name, node.uid, MARK))
    await stage.cordon_by_hand("n1", "kubectl-uncordon", on=False)
    await stage.cordon_by_hand("n1", "kubectl-cordon")
    seen = await until(
        stage,
        "it is cordoned by hand",
        lambda snapshot: node if (node := snapshot.nodes[NodeName("n1")]).cordon_manager == "kubectl-cordon" else None,
    )
    assert (seen.unschedulable, seen.mark, seen.cordon_is_ours) == (True, MARK, False)
    assert await take(stage, Unmark(node.name, node.uid)) == Accepted()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark) == (True, None)


@scene
async def the_mark_of_a_cordon_that_is_ours_is_not_taken_off(stage: Stage) -> None:
    node = await a_node(stage)
    await take(stage, Cordon(node.name, node.uid, MARK))
    answer = await take(stage, Unmark(node.name, node.uid))
    why = "node n1 was cordoned anew, and the annotation is that cordon's"
    assert answer == Busy(why, trouble=Trouble.CONFLICT)
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark, seen.cordon_is_ours) == (True, MARK, True)


@scene
async def a_step_is_not_taken_on_a_cordon_that_changed_hands_since_its_decision(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.cordon_by_hand("n1", "kubectl-cordon")
    await until(stage, "it is cordoned", lambda snapshot: snapshot.nodes[node.name].unschedulable)
    for step in (Cordon(node.name, node.uid, MARK), Uncordon(node.name, node.uid, held_by=MARK.operation)):
        assert isinstance(await take(stage, step), Busy)
    seen = now_shown(stage).nodes[node.name]
    assert (seen.unschedulable, seen.mark, seen.cordon_manager) == (True, None, "kubectl-cordon")


@scene
async def an_uncordon_works_on_anybodys_cordon(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.cordon_by_hand("n1", "kubectl-cordon")
    await until(stage, "it is cordoned", lambda snapshot: snapshot.nodes[node.name].unschedulable)
    for _ in range(2):
        assert await take(stage, Uncordon(node.name, node.uid)) == Accepted()
        seen = now_shown(stage).nodes[node.name]
        assert (seen.unschedulable, seen.mark, seen.cordon_manager) == (False, None, None)


@scene
async def a_node_replaced_under_its_name_is_never_touched(stage: Stage) -> None:
    node = await a_node(stage)
    await stage.replace_node(NodeSpec("n1"))
    other = await until(
        stage,
        "another node has the name",
        lambda snapshot: each if (each := snapshot.nodes.get(node.name)) is not None and each.uid != node.uid else None,
    )
    for step in (Cordon(node.name, node.uid, MARK), Uncordon(node.name, node.uid), Unmark(node.name, node.uid)):
        assert await take(stage, step) == Namesake()
    seen = now_shown(stage).nodes[node.name]
    assert (seen.uid, seen.unschedulable, seen.mark) == (other.uid, False, None)


@scene
async def a_node_that_never_was_is_gone(stage: Stage) -> None:
    missing = (NodeName("nowhere"), NodeUid("no-uid"))
    for step in (Cordon(*missing, MARK), Uncordon(*missing), Unmark(*missing)):
        assert await take(stage, step) == Gone()
