"""Who may put back what is written to an object, by the marks that GitOps controllers leave on what they apply."""

import msgspec

from hangar.domain.workloads.graph import Rival, RivalKind

ARGO_TRACKING = "argocd.argoproj.io/tracking-id"
FLUX_RECONCILE = "kustomize.toolkit.fluxcd.io/reconcile"


class Labels(msgspec.Struct, frozen=True):
    """The labels that say which application of which controller an object belongs to.

    Argo CD's older mark, `app.kubernetes.io/instance`, is not among them: Helm and people set it, too.
    """

    argo: str = msgspec.field(default="", name="argocd.argoproj.io/instance")
    kustomization: str = msgspec.field(default="", name="kustomize.toolkit.fluxcd.io/name")
    kustomization_namespace: str = msgspec.field(default="", name="kustomize.toolkit.fluxcd.io/namespace")
    release: str = msgspec.field(default="", name="helm.toolkit.fluxcd.io/name")
    release_namespace: str = msgspec.field(default="", name="helm.toolkit.fluxcd.io/namespace")


def rivals(identity: str, labels: Labels, tracking: str, reconcile: str) -> tuple[Rival, ...]:
    """Return what applies an object again and again.

    Args:
        identity: The object as Argo CD writes it, `GROUP/KIND:NAMESPACE/NAME`.
        labels: The object's labels.
        tracking: Argo CD's annotation, `APPLICATION:IDENTITY`; a copy of another object's means nothing.
        reconcile: Flux's annotation, by which somebody may have switched it off for this object.
    """
    application, _, of = tracking.partition(":")
    argo = application if application and of == identity else labels.argo
    found = [f"Argo CD application {argo}"] if argo else []
    if labels.kustomization and reconcile != "disabled":
        found.append(f"Flux kustomization {_named(labels.kustomization_namespace, labels.kustomization)}")
    if labels.release:
        found.append(f"Flux Helm release {_named(labels.release_namespace, labels.release)}")
    return tuple(Rival(RivalKind.GITOPS, each) for each in found)


def _named(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name
