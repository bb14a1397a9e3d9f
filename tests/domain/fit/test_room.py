"""Room: amounts by full name, never added together."""

from hangar.domain.fit.room import asked_by, free_beside, gpus_asked, is_gpu, size_of, suffices, unlisted
from tests.domain.building import GPU, a_node, a_pod, a_snapshot

MIG = "nvidia.com/mig-1g.10gb"


def test_a_pod_asks_for_what_it_requests_and_for_a_place() -> None:
    assert asked_by(a_pod(requests={GPU: 2, "cpu": 0})) == {GPU: 2, "pods": 1}


def test_what_is_free_is_what_the_pods_leave_and_may_be_less_than_nothing() -> None:
    node = a_node(allocatable={GPU: 8, "cpu": 100, "pods": 3})
    free = free_beside(node, [a_pod("a", requests={GPU: 9}), a_pod("b", requests={MIG: 1, "cpu": 40})])
    assert free == {GPU: -1, "cpu": 60, "pods": 1}
    assert free_beside(a_node(allocatable={}), [a_pod()]) == {"pods": -1}


def test_enough_is_enough_of_each_resource() -> None:
    assert suffices({GPU: 2, "pods": 1}, {GPU: 2, "pods": 1})
    assert not suffices({GPU: 2}, {GPU: 2, "pods": 1})
    assert suffices({GPU: -1, "pods": 1}, {"pods": 1})


def test_a_slice_is_no_gpu_and_of_several_sorts_the_most_counts() -> None:
    assert [is_gpu(each) for each in (GPU, MIG, "amd.com/gpu", "gpu.intel.com/xe")] == [True] * 4
    assert [is_gpu(each) for each in ("cpu", "memory", "rdma/hca", "gpu")] == [False] * 4
    assert gpus_asked(a_pod(requests={GPU: 2, MIG: 3, "rdma/hca": 9})) == 3
    assert gpus_asked(a_pod()) == 0
    assert size_of(a_pod(requests={GPU: 1, "cpu": 2, "memory": 3})) == (1, 2, 3)


def test_a_resource_that_its_own_node_does_not_list_is_handed_out_elsewhere() -> None:
    snapshot = a_snapshot(a_node(allocatable={"cpu": 4, GPU: 0}))
    assert unlisted(a_pod(requests={GPU: 1, MIG: 1, "cpu": 1, "memory": 0}), snapshot) == (MIG,)
    assert unlisted(a_pod(on=None, requests={MIG: 1}), snapshot) == ()
    assert unlisted(a_pod(on="gone", requests={MIG: 1}), snapshot) == ()
