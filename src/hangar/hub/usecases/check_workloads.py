"""What keeps a workload from being what it is asked to be, all of it at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, select

from hangar.domain.ids import ClusterName
from hangar.domain.workloads.shape import NoShape, default_shape, shape_problems
from hangar.domain.workloads.template import template_faults
from hangar.domain.workloads.workload import Workload
from hangar.hub.store.records import find_cluster
from hangar.hub.store.tables import deployments, removals
from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError, Problem, ProblemCode


@dataclass(frozen=True, slots=True)
class Binding:
    """Which graph of a cluster serves a workload there."""

    cluster: str
    namespace: str
    graph: str


def check_asked(
    connection: Connection,
    name: str,
    before: Workload | None,
    bindings: tuple[Binding, ...] | None,
    template: JsonObject | None,
) -> None:
    """Raise INVALID_VALUE where a template is none, or a graph cannot be bound, or must not be let go of like that."""
    faults = [] if template is None else template_faults(template)
    errors = [FieldError(f"template.{each.path}", each.message) for each in faults]
    if bindings is not None:
        errors += _binding_errors(connection, name, bindings)
        errors += [] if before is None else _loss_errors(before, bindings)
    _raise(errors)


def check_shape(workload: Workload, named: Mapping[str, int] | None) -> None:
    """Raise INVALID_VALUE where a graph that is known does not tell its shape, or the named one is not of it."""
    errors = []
    for each in workload.deployments:
        if each.described is None:
            continue
        if named is not None:
            errors += [FieldError("shape", problem) for problem in shape_problems(named, each.described)]
        elif each.shape is None and isinstance(own := default_shape(each.described), NoShape):
            text = f"{each.ref} of {each.cluster} does not tell what a replica is: {own.why}; name a shape"
            errors.append(FieldError("shape", text))
    _raise(errors)


def _binding_errors(connection: Connection, name: str, bindings: tuple[Binding, ...]) -> Iterable[FieldError]:
    seen: set[str] = set()
    for index, each in enumerate(bindings):
        path = f"deployments[{index}]"
        graph = f"{each.namespace}/{each.graph} of {each.cluster}"
        if each.cluster in seen:
            yield FieldError(f"{path}.cluster", f"{each.cluster} is given twice")
        seen.add(each.cluster)
        if find_cluster(connection, each.cluster) is None:
            yield FieldError(f"{path}.cluster", f"there is no cluster {each.cluster}")
        taken = select(deployments.c.workload).where(
            deployments.c.cluster == each.cluster,
            deployments.c.namespace == each.namespace,
            deployments.c.graph == each.graph,
            deployments.c.workload != name,
        )
        if (other := connection.execute(taken).scalar_one_or_none()) is not None:
            yield FieldError(f"{path}.graph", f"{graph} is bound to workload {other} already")
        going = select(removals.c.workload).where(
            removals.c.cluster == each.cluster,
            removals.c.namespace == each.namespace,
            removals.c.name == each.graph,
            removals.c.uid.is_not(None),
        )
        if (former := connection.execute(going).scalar_one_or_none()) is not None:
            text = f"{graph} is being removed, since it served workload {former}: try again when it is gone"
            yield FieldError(f"{path}.graph", text)


def _loss_errors(before: Workload, bindings: tuple[Binding, ...]) -> Iterable[FieldError]:
    """Yield the graphs of ours that would be left behind, with nobody to run them down."""
    kept = {(ClusterName(each.cluster), each.namespace, each.graph) for each in bindings}
    for each in before.deployments:
        is_ours = each.graph.is_ours if each.graph is not None else each.planned is not None
        if is_ours and (each.cluster, each.ref.namespace, each.ref.name) not in kept:
            text = (
                f"leaves out {each.ref} of {each.cluster}, which Wingsmith created: delete the deployment first, with "
                f"`hgr workload delete {before.name} --cluster {each.cluster}`, and --keep if the graph is to stay"
            )
            yield FieldError("deployments", text)


def _raise(errors: list[FieldError]) -> None:
    if errors:
        detail = "; ".join(f"{each.path}: {each.message}" for each in errors)
        raise Problem(ProblemCode.INVALID_VALUE, detail, tuple(errors))
