"""The marks of GitOps on a graph, and which of them mean nothing."""

import json

import pytest

from hangar.domain.workloads.graph import Rival, RivalKind
from hangar.operator.cluster.kubernetes.watched import GRAPHS
from tests.operator.cluster.kubernetes.documents import a_graph

FLUX = "kustomize.toolkit.fluxcd.io"
TRACKING = "argocd.argoproj.io/tracking-id"


def rivals(annotations: dict[str, str] | None = None, labels: dict[str, str] | None = None) -> tuple[Rival, ...]:
    metadata = {key: value for key, value in (("annotations", annotations), ("labels", labels)) if value is not None}
    for watched in GRAPHS:
        seen = watched.read(json.dumps(a_graph(watched.version, metadata=metadata)).encode())
    return seen.value.graph.rivals


@pytest.mark.parametrize(
    ("annotations", "labels", "names"),
    [
        ({TRACKING: "web:nvidia.com/DynamoGraphDeployment:serving/chat"}, {}, ["Argo CD application web"]),
        ({}, {"argocd.argoproj.io/instance": "web"}, ["Argo CD application web"]),
        ({}, {f"{FLUX}/name": "apps", f"{FLUX}/namespace": "flux-system"}, ["Flux kustomization flux-system/apps"]),
        ({f"{FLUX}/reconcile": "enabled"}, {f"{FLUX}/name": "apps"}, ["Flux kustomization apps"]),
        (
            {},
            {"helm.toolkit.fluxcd.io/name": "chat", "helm.toolkit.fluxcd.io/namespace": "serving"},
            ["Flux Helm release serving/chat"],
        ),
    ],
)
def test_a_graph_says_what_applies_it(annotations: dict[str, str], labels: dict[str, str], names: list[str]) -> None:
    assert rivals(annotations, labels) == tuple(Rival(RivalKind.GITOPS, name) for name in names)


@pytest.mark.parametrize(
    ("annotations", "labels"),
    [
        (None, None),
        ({TRACKING: "web:nvidia.com/DynamoGraphDeployment:serving/other"}, {}),
        ({TRACKING: "web:apps/Deployment:serving/chat"}, {}),
        ({TRACKING: "nonsense"}, {}),
        ({}, {"app.kubernetes.io/instance": "web", "app.kubernetes.io/managed-by": "Helm"}),
        ({f"{FLUX}/reconcile": "disabled"}, {f"{FLUX}/name": "apps"}),
    ],
)
def test_a_copied_mark_a_common_label_and_what_is_switched_off_mean_nothing(
    annotations: dict[str, str] | None, labels: dict[str, str] | None
) -> None:
    assert rivals(annotations, labels) == ()
