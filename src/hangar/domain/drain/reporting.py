"""What a drain tells people: how far it is, and at its end what became of every pod of the node."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from hangar.domain.decision import Accepted, Blocker, Fact, Progress, Rows
from hangar.domain.drain.moves import Tally, TrackedPod, match_successors, rescheduled_count, tally, units
from hangar.domain.drain.naming import as_facts
from hangar.domain.drain.selection import Skip, select
from hangar.domain.ids import NodeName, OperationId, PodUid
from hangar.domain.owners import name_of
from hangar.domain.snapshot import Pod
from hangar.domain.view import StepKey, StepName, View


@dataclass(frozen=True, slots=True)
class DrainState:
    """A drain as it stands: whether its node is cordoned, and was before, and the pods that it found, on this view."""

    operation: OperationId
    node: NodeName
    is_cordoned: bool
    pods: Mapping[PodUid, TrackedPod]
    view: View
    was_cordoned_before: bool = False

    def tally(self) -> Tally:
        """Return what became of each pod."""
        return tally(self.pods, self.operation, self.view)


def progress(state: DrainState, blockers: tuple[Blocker, ...]) -> Progress:
    """Return the progress: `evicted 3/5, rescheduled 2/5 (1 loading), blocked 1 by pdb x/y: needs 4 has 4`.

    Before the cordon is seen it is not known which pods there are to move, so that there is nothing to count.
    """
    count = state.tally()
    total = units(state.pods.values())
    gone = total - units(state.pods[pod.ref.uid] for pod in count.remaining)
    rescheduled = rescheduled_count(count.gone, state.view)
    loading = f" ({gone - rescheduled} loading)" if gone > rescheduled else ""
    if not state.is_cordoned:
        words = ["cordoning"]
    elif not total:
        words = ["no pods to move"]
    else:
        words = [f"evicted {gone}/{total}", f"rescheduled {rescheduled}/{total}{loading}"]
    if count.terminating:
        words.append(f"{len(count.terminating)} terminating")
    return Progress(gone, total, "pods", ", ".join(words + _blocked(blockers)), blockers)


_COUNTED = frozenset(
    {"namespace_terminating", "ordered", "orphaned", "paced", "retry", "several_budgets", "settling", "unreadable"}
)


def _blocked(blockers: tuple[Blocker, ...]) -> list[str]:
    held: Counter[str] = Counter()
    for each in blockers:
        pods = each.facts.get("pods")
        count = len(pods) if isinstance(pods, list) else 1
        if "needs" in each.facts and each.code.startswith("budget_"):
            held[f"{each.subject}: needs {each.facts['needs']} has {each.facts['has']}"] += count
        elif each.code.startswith("budget_"):
            held[each.subject] += count
        elif each.code == "last_ready":
            held[f"the last ready {each.facts['unit']} of {each.facts['owner']}"] += 1
        elif each.code in _COUNTED:
            held[each.code.replace("_", " ")] += count
    return [f"blocked {count} by {what}" for what, count in sorted(held.items())]


def cancelled_message(state: DrainState) -> str:
    """Return one line on a cancelled drain."""
    count = state.tally()
    terminating, unknown = _sent(state, count)
    of_unknown = f", {len(unknown)} sent with unknown outcome" if unknown else ""
    return (
        f"cancelled: {units(count.evicted)} moved, {len(terminating)} terminating{of_unknown}, "
        f"{len(count.untouched)} not touched"
    )


def details(state: DrainState) -> dict[str, Fact]:
    """Return every pod of the node in one of the lists moved, left, terminating, unknown, untouched and skipped.

    `forced` are those of them that were deleted past their budgets.
    """
    count = state.tally()
    terminating, unknown = _sent(state, count)
    moved: Rows = [
        each.as_facts() | as_facts(each.pod.part, state.view) for each in match_successors(count.evicted, state.view)
    ]
    left: Rows = [_row(each, state.view) for each in count.left]
    tracked = sorted(state.pods.values(), key=lambda each: each.ref)
    forced: Rows = [_row(each, state.view) for each in tracked if each.forced_at is not None]
    found: dict[str, Fact] = {
        "moved": moved,
        "left": left,
        "terminating": _rows(terminating, state.view),
        "unknown": _rows(unknown, state.view),
        "untouched": _rows(count.untouched, state.view),
        "skipped": _skipped(state),
        "forced": forced,
        "warnings": _warnings(state),
    }
    return found


def _sent(state: DrainState, count: Tally) -> tuple[tuple[Pod, ...], tuple[Pod, ...]]:
    """Return the pods that are terminating, and those that an eviction was sent for whose outcome is not known.

    What was accepted has begun to end, even where the watch has not shown it yet: a last word does not wait for that.
    """
    accepted = tuple(pod for pod in count.unknown if _is_accepted(pod.ref.uid, state))
    unknown = tuple(pod for pod in count.unknown if pod not in accepted)
    return tuple(sorted(count.terminating + accepted, key=lambda pod: pod.ref)), unknown


def _is_accepted(uid: PodUid, state: DrainState) -> bool:
    answered = state.view.answers.get(StepKey(state.operation, StepName.EVICT, uid))
    sent_at = state.pods[uid].sent_at
    if answered is None or sent_at is None or answered.at < sent_at:
        return False  # an answer from before was to an earlier try
    return isinstance(answered.answer, Accepted)


def _rows(pods: tuple[Pod, ...], view: View) -> Rows:
    rows: Rows = []
    for pod in pods:
        owner = view.snapshot.top_owner(pod)
        whose = name_of(owner, pod.ref.namespace) if owner else None
        rows.append({"pod": str(pod.ref), "uid": pod.ref.uid, "owner": whose, **as_facts(pod.part, view)})
    return rows


def _row(each: TrackedPod, view: View) -> dict[str, str | int | None]:
    return {"pod": str(each.ref), "uid": each.ref.uid, **as_facts(each.part, view)}


def _skipped(state: DrainState) -> Rows:
    skipped: Rows = []
    if state.node not in state.view.draining_nodes():
        return skipped  # another node has taken the name, with pods of its own
    for pod in sorted(state.view.snapshot.pods_on(state.node), key=lambda each: each.ref):
        match select(pod, state.view.snapshot):
            case Skip(reason=reason):
                skipped.append({"pod": str(pod.ref), "uid": pod.ref.uid, "reason": reason.value})
            case _:
                pass
    return skipped


def _warnings(state: DrainState) -> list[str]:
    warnings = [
        f"{each.ref} keeps data in an emptyDir on disk, which is lost when it moves"
        for each in sorted(state.pods.values(), key=lambda tracked: tracked.ref)
        if each.has_disk_empty_dir
    ]
    if state.was_cordoned_before:
        warnings.append(f"node {state.node} was cordoned before this drain, and stays so whatever becomes of it")
    node = state.view.snapshot.nodes.get(state.node)
    remaining = len(state.tally().remaining)
    if remaining and node is not None and node.unschedulable and state.node in state.view.draining_nodes():
        warnings.append(
            f"{remaining} pod(s) are still on {state.node}, which stays cordoned: see that nothing takes it for unused "
            "and removes it"
        )
    return warnings
