"""Verdict: for each pod that a drain moves, whether it fits elsewhere, and for example where, or why not."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hangar.domain.fit.bound import Need, exceeded, needs_of, no_room
from hangar.domain.fit.misfit import Misfit, over_quota
from hangar.domain.fit.neighbours import company_of, is_its_own_company
from hangar.domain.fit.node_rules import reach_of
from hangar.domain.fit.packing import Packing
from hangar.domain.fit.promised import by_size, is_gated, promised
from hangar.domain.fit.room import asked_by, unlisted
from hangar.domain.fit.scene import Scene
from hangar.domain.ids import NodeName, PodUid
from hangar.domain.plan import Fits
from hangar.domain.snapshot import Pod, Snapshot
from hangar.domain.view import View


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a pod fits elsewhere. `node` has room for it, where one was found; `why` says more where there is more.

    "Does not fit" is certain as the cluster is now; "fits" only says that there is a way.
    """

    fits: Fits
    node: NodeName | None = None
    why: str | None = None


def weigh(node: NodeName, moving: Iterable[Pod], view: View) -> dict[PodUid, Verdict]:
    """Return the verdict on each pod that a drain of a node moves."""
    moving = tuple(moving)
    needs = needs_of(moving, view)
    found = {pod.ref.uid: _not_needed(pod) for pod in moving if needs[pod.ref.uid] is Need.NONE}
    scene = Scene(moving, view)
    needed = tuple(pod for pod in moving if needs[pod.ref.uid] is Need.CERTAIN)
    missing = no_room(needed, scene)
    for pod in needed:
        if (quota := exceeded(pod, view.snapshot)) is not None:
            found[pod.ref.uid] = Verdict(Fits.NO, why=str(over_quota(pod, *quota)))
        elif (misfit := next((each for each in missing if each.pod is pod), None)) is not None:
            found[pod.ref.uid] = _no(misfit, view)
    others = promised(node, view)
    packing = Packing(scene)
    for pod in others:
        packing.promise(pod)
    for pod in sorted((pod for pod in moving if pod.ref.uid not in found), key=by_size):
        doubt = next(_doubts(pod, view.snapshot), None)
        place = packing.place(pod) if doubt is None else packing.promise(pod)
        in_sum = next((each for each in missing if each.pod is None and each.resource in asked_by(pod)), None)
        if place is None and in_sum is not None:
            found[pod.ref.uid] = _no(in_sum, view)
        elif doubt is not None:
            found[pod.ref.uid] = Verdict(Fits.UNKNOWN, why=doubt)
        elif place is not None:
            found[pod.ref.uid] = Verdict(Fits.YES, place)
        else:
            found[pod.ref.uid] = Verdict(Fits.UNKNOWN, why=_why_not_found(pod, scene, bool(others)))
    return found


def in_all(verdicts: Iterable[Verdict]) -> Fits:
    """Return the verdict on all pods together."""
    every = {each.fits for each in verdicts}
    return next((each for each in (Fits.NO, Fits.UNKNOWN) if each in every), Fits.YES)


def _not_needed(pod: Pod) -> Verdict:
    if pod.controller is None:
        return Verdict(Fits.YES, why="nothing comes in its place: it has no controller")
    return Verdict(Fits.YES, why="nothing has to come in its place: its owner has all it wants elsewhere")


def _no(misfit: Misfit, view: View) -> Verdict:
    if view.settings.has_autoscaler:
        return Verdict(Fits.UNKNOWN, why=f"{misfit}; but nodes are added to this cluster on demand")
    return Verdict(Fits.NO, why=str(misfit))


def _doubts(pod: Pod, snapshot: Snapshot) -> Iterator[str]:
    if pod.demands.has_device_claims:
        yield "it asks for devices by claims, and which nodes have such devices is not known"
    if pod.group is not None and any(_is_bound_to_others(each) for each in snapshot.pods_of(pod.group.owner_uid)):
        yield f"{pod.group} restarts as a whole, and where all of its pods fit together is not known"
    if unknown := reach_of(pod, snapshot).unknown:
        yield f"it is not known which nodes reach the volume of {' and '.join(unknown)}"
    if hidden := unlisted(pod, snapshot):
        yield f"not even {pod.node} lists the {' and '.join(hidden)} that it holds there"
    siblings = snapshot.pods_by_controller.get(pod.controller.uid, ()) if pod.controller is not None else ()
    if any(is_gated(snapshot.pods[uid]) for uid in siblings):
        yield "new pods of its controller are held back by a scheduling gate"


def _is_bound_to_others(pod: Pod) -> bool:
    return bool(pod.demands.near or pod.demands.apart_from)


def _why_not_found(pod: Pod, scene: Scene, has_others: bool) -> str:
    """Return why no place was found for a pod that may fit as far as the bounds say."""
    if pod.demands.near and not company_of(pod, scene.crowd) and not is_its_own_company(pod):
        return "none of the pods that it has to be with is there now"
    if not Packing(scene).could_place(pod):
        return "no node has a place for it now; one may, when pods there have ended or moved"
    others = "to pods of other operations and pods that wait for a place, or " if has_others else ""
    return f"the places it could take now go {others}to pods that move with it"
