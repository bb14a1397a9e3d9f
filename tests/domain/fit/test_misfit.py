"""Misfit: the sentences, with their numbers."""

from typing import Any

from hangar.domain.fit.bound import misfits
from hangar.domain.fit.misfit import by_interest, in_sum, over_quota
from hangar.domain.placing import Demands, NodeOp, NodeRequirement, Quota, Volume, VolumeClaim
from hangar.domain.snapshot import Pod, Taint
from tests.domain.building import GPU, Object, a_node, a_pod, draining, our_node, owned_view

N1 = our_node(labels={"zone": "a"})
DATA = Demands(claims=frozenset({"data"}))


def said(pod: Pod, *objects: Object) -> list[str]:
    return [str(each) for each in misfits((pod,), owned_view(N1, *objects, pod, claims=draining("n1")))]


def only_zone_a(**fields: Any) -> Pod:
    return a_pod("db-0", demands=Demands(node_terms=((NodeRequirement("zone", NodeOp.IN, ("a",)),),), **fields))


def test_a_pod_that_its_affinity_pins_to_the_drained_node_is_told_so() -> None:
    """C10."""
    assert said(only_zone_a(), a_node("n2"), a_node("n3")) == [
        "default/db-0 can only run on n1: no other node matches its node selector or affinity"
    ]


def test_a_pod_that_its_volume_pins_to_the_drained_node_is_told_so() -> None:
    """C10."""
    local = (
        VolumeClaim("default", "data", "pv-1", once=True),
        Volume("pv-1", ((NodeRequirement("zone", NodeOp.EXISTS),),)),
    )
    assert said(a_pod("db-0", demands=DATA), *local, a_node("n2")) == [
        "default/db-0 can only run on n1: no other node reaches the volume of data"
    ]
    assert said(only_zone_a(claims=frozenset({"data"})), *local, a_node("n2", labels={"zone": "b"}), a_node("n3")) == [
        "default/db-0 can only run on n1: no other node matches its node selector or affinity"
    ]


def test_a_pod_that_could_run_elsewhere_if_that_were_open_is_not_pinned() -> None:
    assert said(only_zone_a(), a_node("n2"), a_node("n3", labels={"zone": "a"}, cordoned=True)) == [
        "default/db-0 fits on no other node: 1 does not match its node selector or affinity, 1 is cordoned"
    ]


def test_what_several_nodes_object_to_is_counted() -> None:
    red, blue = Taint("team", "red", "NoSchedule"), Taint("blue", "", "NoExecute")
    tainted = a_node("n2", taints=(red,)), a_node("n3", taints=(blue, red)), a_node("n4", ready=False)
    assert said(a_pod(), *tainted) == [
        "default/a fits on no other node: 1 is not ready, 2 have taints that it does not tolerate (blue, …)"
    ]


def test_of_several_resources_the_gpu_is_named() -> None:
    assert said(a_pod(requests={GPU: 1, "cpu": 65_000}), a_node("n2", gpus=0)) == [
        "default/a needs 1 nvidia.com/gpu on one node, at most 0 are free on one"
    ]
    assert sorted(["pods", "cpu", GPU, "memory"], key=by_interest) == [GPU, "cpu", "memory", "pods"]


def test_a_cluster_of_one_node_has_no_other() -> None:
    assert said(a_pod()) == ["default/a fits on no other node: there is none"]


def test_what_is_missing_for_all_says_so() -> None:
    assert str(in_sum(GPU, 6, 5, 2)) == "the pods ask for 6 nvidia.com/gpu in sum, 5 are free on 2 node(s)"


def test_a_quota_is_named_with_its_numbers() -> None:
    misfit = over_quota(a_pod(), Quota("default", "small", {"pods": 2}, {"pods": 3}), "pods")
    assert (misfit.code, str(misfit)) == (
        "quota_exceeded",
        "default/a cannot be made anew: quota default/small is exceeded, 3 of 2 pods are used",
    )
