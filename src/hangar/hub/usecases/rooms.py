"""rooms: find out how much more of a workload its clusters could run, of what operators told of their nodes."""

from dataclasses import replace

import msgspec
from sqlalchemy import Connection, select

from hangar.domain.devices import GPU
from hangar.domain.workloads.placement import Division, Weighing
from hangar.domain.workloads.room import room
from hangar.domain.workloads.workload import Deployment, Workload
from hangar.hub.store.records import find_cluster
from hangar.hub.store.tables import nodes
from hangar.hub.usecases.rules import SECOND_US
from hangar.wire.operator import NodeDoc


def is_weighed(workload: Workload) -> bool:
    """Tell whether a workload is placed by room."""
    return workload.policy.division is Division.DIVIDED and workload.policy.weighing is Weighing.FREE


def weighed(connection: Connection, workload: Workload, now_us: int) -> Workload:
    """Return a workload with the room of its clusters where it is placed by that; nothing is looked up otherwise."""
    return with_room(connection, workload, now_us) if is_weighed(workload) else workload


def with_room(connection: Connection, workload: Workload, now_us: int) -> Workload:
    """Return a workload with the room of each of its clusters; of an offline one it is the last known."""
    return replace(workload, deployments=tuple(_with_room(connection, each, now_us) for each in workload.deployments))


def _with_room(connection: Connection, deployment: Deployment, now_us: int) -> Deployment:
    cluster = find_cluster(connection, deployment.cluster)
    if cluster is None or cluster.has_autoscaler:
        return deployment  # nodes may come for whatever is asked for
    found = room(deployment, _free(connection, deployment.cluster))
    age_s = None if cluster.online or cluster.seen_us is None else max(0, now_us - cluster.seen_us) // SECOND_US
    return replace(deployment, room=found, silent_s=age_s)


def _free(connection: Connection, cluster: str) -> list[int]:
    """Return the GPUs that new pods could get now on each node that has any: none where it takes no pods."""
    free = []
    for doc in connection.execute(select(nodes.c.doc).where(nodes.c.cluster == cluster)).scalars():
        node = msgspec.convert(doc, NodeDoc)
        if GPU in node.allocatable:
            takes = node.ready and not node.cordoned
            free.append(max(0, node.allocatable[GPU] - node.allocated.get(GPU, 0)) if takes else 0)
    return free
