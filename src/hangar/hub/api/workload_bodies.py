"""Bodies of requests about workloads and projects."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue

from hangar.domain.ids import ClusterName
from hangar.domain.limits import NAME_CHARS_MAX, REPLICAS_MAX
from hangar.domain.workloads.placement import Bounds, Division, Policy, Weighing
from hangar.hub.api.bodies import Name, StrictModel, Text
from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.workloads import WorkloadRequest
from hangar.hub.validation import check_name
from hangar.wire.problems import FieldError, Problem, ProblemCode

Replicas = Annotated[int, Field(ge=0, le=REPLICAS_MAX)]


def _check_bounds(bounds: "PutBounds") -> "PutBounds":
    if bounds.max is not None and bounds.max < bounds.min:
        raise ValueError(f"max {bounds.max} is below min {bounds.min}")
    return bounds


class PutBounds(StrictModel):
    """How many replicas a cluster may have."""

    min: Replicas = Field(default=0, description="replicas at least")
    max: Replicas | None = Field(default=None, description="replicas at most; null: any number")


class PutPolicy(PutBounds):
    """How a workload is placed."""

    division: Literal["divided", "duplicated"] = Field(
        default="divided", description="divided: shared out among the clusters; duplicated: each runs the full number"
    )
    weighing: Literal["static", "free"] = Field(
        default="static", description="static: by weights; free: by how many replicas each cluster could run"
    )
    weights: dict[Name, Annotated[int, Field(ge=0, le=REPLICAS_MAX)]] = Field(
        default={}, description="by cluster; one without a weight weighs 1"
    )
    bounds: dict[Name, Annotated[PutBounds, AfterValidator(_check_bounds)]] = Field(
        default={}, description="by cluster; one without has min and max of the policy"
    )


class PutDeployment(StrictModel):
    """Which graph of a cluster serves the workload there."""

    cluster: Name = Field(min_length=1, max_length=NAME_CHARS_MAX, description="the cluster")
    namespace: Name = Field(min_length=1, max_length=NAME_CHARS_MAX, description="namespace of the graph")
    graph: Name = Field(min_length=1, max_length=NAME_CHARS_MAX, description="name of the DynamoGraphDeployment")


class PutWorkload(StrictModel):
    """PUT /v1/workloads/{name}."""

    project: Name = Field(min_length=1, max_length=NAME_CHARS_MAX, description="the project that owns it")
    replicas: Replicas | None = Field(
        default=None, description="the global number; null leaves it, of a new one it adopts what runs"
    )
    policy: Annotated[PutPolicy, AfterValidator(_check_bounds)] | None = Field(
        default=None, description="how it is placed; null leaves it"
    )
    shape: dict[Text, Annotated[int, Field(ge=1, le=REPLICAS_MAX)]] | None = Field(
        default=None, min_length=1, description="how many of each component are one replica; null: each graph's own"
    )
    deployments: list[PutDeployment] | None = Field(
        default=None, description="all graphs that serve it, one a cluster; null leaves them"
    )
    template: dict[str, JsonValue] | None = Field(
        default=None,
        description="a whole DynamoGraphDeployment, v1beta1 or v1alpha1, without status, of which graphs are created "
        "that are not there; its name and namespace are those of each deployment. Null leaves it",
    )


class PatchWorkload(StrictModel):
    """PATCH /v1/workloads/{name}."""

    replicas: Replicas = Field(description="the global number of replicas")


class PutProject(StrictModel):
    """PUT /v1/projects/{name}."""

    quotas: dict[Text, Annotated[int, Field(ge=0)]] = Field(default={}, description="limits, by resource")


def checked_name(name: str) -> None:
    """Raise INVALID_VALUE where a name in the path could be none."""
    try:
        check_name(name)
    except ValueError as error:
        raise Problem(ProblemCode.INVALID_VALUE, f"name: {error}", (FieldError("path.name", str(error)),)) from error


def request_of(body: PutWorkload) -> WorkloadRequest:
    """Return what a body asks a workload to be."""
    return WorkloadRequest(
        project=body.project,
        replicas=body.replicas,
        policy=None if body.policy is None else _policy(body.policy),
        shape=body.shape,
        bindings=None
        if body.deployments is None
        else tuple(Binding(each.cluster, each.namespace, each.graph) for each in body.deployments),
        template=body.template,
    )


def _policy(body: PutPolicy) -> Policy:
    return Policy(
        division=Division(body.division),
        weighing=Weighing(body.weighing),
        weights={ClusterName(cluster): weight for cluster, weight in body.weights.items()},
        bounds={ClusterName(cluster): Bounds(each.min, each.max) for cluster, each in body.bounds.items()},
        default_bounds=Bounds(body.min, body.max),
    )
