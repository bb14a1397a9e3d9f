"""What every cluster adapter shows of what pods demand, and that the cluster holds to it."""

from hangar.domain.placing import (
    HOST_NAME,
    Demands,
    HostPort,
    NodeOp,
    NodeRequirement,
    PodTerm,
    Requirement,
    SelectorOp,
    Spread,
    Volume,
    VolumeClaim,
)
from hangar.domain.snapshot import Pod, Snapshot
from hangar.operator.cluster.simulated.spec import ClaimSpec, VolumeSpec
from tests.contracts.cluster_stage import (
    Stage,
    a_deployment,
    a_node,
    now_shown,
    pods_of,
    scene,
    serving,
    until,
)

IS_WEB = (Requirement("app", SelectorOp.IN, frozenset({"web"})),)
IN_ZONE_A = (NodeRequirement("zone", NodeOp.IN, ("a",)),)
HERE = frozenset({"default"})
APART = PodTerm(HOST_NAME, IS_WEB, HERE)


@scene
async def a_pod_is_shown_with_all_that_it_demands(stage: Stage) -> None:
    await a_node(stage, zone="a", gpus="8")
    numbers = (
        NodeRequirement("gpus", NodeOp.GREATER, ("4",)),
        NodeRequirement("spot", NodeOp.DOES_NOT_EXIST),
        NodeRequirement("metadata.name", NodeOp.IN, ("n1",)),
    )
    demands = Demands(
        node_terms=(IN_ZONE_A, numbers),
        apart_from=(APART, PodTerm("zone", (Requirement("loud", SelectorOp.EXISTS),), None)),
        near=(PodTerm("zone", IS_WEB, HERE),),
        spread=(Spread("zone", 2, IS_WEB), Spread(HOST_NAME, 1, IS_WEB, honors_affinity=False, honors_taints=True)),
        host_ports=(HostPort(8080), HostPort(53, "UDP", "127.0.0.1")),
    )
    await stage.add_workload(a_deployment(replicas=1, demands=demands, runtime_class=None))
    (pod,) = await serving(stage, "web", 1)
    assert pod.demands == demands


@scene
async def a_pod_with_a_volume_is_shown_with_its_claim_and_what_reaches_the_volume(stage: Stage) -> None:
    await a_node(stage, "n1", zone="b")
    await a_node(stage, "n2", zone="a")
    await stage.add_volume(VolumeSpec("models", (IN_ZONE_A,)))
    await stage.add_claim(ClaimSpec("models", "models"))
    await stage.add_workload(a_deployment(replicas=2, demands=Demands(claims=frozenset({"models"}))))
    pods = await serving(stage, "web", 2)
    assert [pod.node for pod in pods] == ["n2", "n2"]
    assert {pod.demands.claims for pod in pods} == {frozenset({"models"})}
    snapshot = await until(stage, "all is shown", lambda snapshot: snapshot if snapshot.volumes else None)
    assert snapshot.claims == {("default", "models"): VolumeClaim("default", "models", "models", once=True)}
    assert snapshot.volumes == {"models": Volume("models", (IN_ZONE_A,))}


# --- what is held to --------------------------------------------------------------------------------------------------


async def waiting(stage: Stage, app: str = "web") -> Pod:
    """Wait for a pod that the scheduler has no node for, and return it."""

    def look(snapshot: Snapshot) -> Pod | None:
        return next((pod for pod in pods_of(snapshot, app) if pod.unschedulable_since is not None), None)

    return await until(stage, f"a pod of {app} has no node", look)


@scene
async def pods_that_keep_apart_wait_for_a_node_of_their_own(stage: Stage) -> None:
    await a_node(stage, "n1")
    await stage.add_workload(a_deployment(replicas=2, demands=Demands(apart_from=(APART,))))
    assert "didn't match pod anti-affinity rules" in ((await waiting(stage)).waiting or "")
    await a_node(stage, "n2")
    assert {pod.node for pod in await serving(stage, "web", 2)} == {"n1", "n2"}


@scene
async def a_pod_keeps_away_from_one_that_wants_to_be_alone(stage: Stage) -> None:
    await a_node(stage)
    alone = Demands(apart_from=(PodTerm(HOST_NAME, (), HERE),))
    await stage.add_workload(a_deployment("alone", replicas=1, demands=alone))
    await serving(stage, "alone", 1)
    await stage.add_workload(a_deployment(replicas=1))
    assert "didn't satisfy existing pods anti-affinity rules" in ((await waiting(stage)).waiting or "")


@scene
async def pods_that_stay_near_others_follow_them_and_the_first_goes_where_it_likes(stage: Stage) -> None:
    await a_node(stage, "n1", zone="a")
    near_web = Demands(near=(PodTerm("zone", IS_WEB, HERE),))
    await stage.add_workload(a_deployment("cache", replicas=1, demands=near_web))
    assert "didn't match pod affinity rules" in ((await waiting(stage, "cache")).waiting or "")
    await stage.add_workload(a_deployment(replicas=2, demands=near_web))  # web itself is near web
    await serving(stage, "web", 2)
    await serving(stage, "cache", 1)


@scene
async def pods_are_spread_evenly_over_domains(stage: Stage) -> None:
    await a_node(stage, "n1", zone="a")
    await a_node(stage, "n2", zone="b")
    await stage.add_workload(a_deployment(replicas=4, demands=Demands(spread=(Spread("zone", 1, IS_WEB),))))
    pods = await serving(stage, "web", 4)
    assert sorted(str(pod.node) for pod in pods) == ["n1", "n1", "n2", "n2"]
    # Bound to one of two zones that both count, the second pod would make one more there than in the other.
    is_left = (Requirement("app", SelectorOp.IN, frozenset({"left"})),)
    left = Demands((IN_ZONE_A,), spread=(Spread("zone", 1, is_left, honors_affinity=False),))
    await stage.add_workload(a_deployment("left", replicas=2, demands=left))
    assert "didn't match pod topology spread constraints" in ((await waiting(stage, "left")).waiting or "")


@scene
async def two_pods_never_have_one_port_of_a_node(stage: Stage) -> None:
    await a_node(stage, "n1")
    await stage.add_workload(a_deployment(replicas=2, demands=Demands(host_ports=(HostPort(8080),))))
    assert "didn't have free ports" in ((await waiting(stage)).waiting or "")


@scene
async def a_pod_goes_only_to_nodes_that_its_affinity_names(stage: Stage) -> None:
    await a_node(stage, "n1", zone="b")
    await stage.add_workload(a_deployment(replicas=1, demands=Demands(node_terms=(IN_ZONE_A,))))
    assert "didn't match Pod's node affinity/selector" in ((await waiting(stage)).waiting or "")
    await a_node(stage, "n2", zone="a")
    (pod,) = await serving(stage, "web", 1)
    assert pod.node == "n2"
    assert now_shown(stage).pods[pod.ref.uid].waiting is None
