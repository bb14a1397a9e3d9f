"""What an operator is told at its start, by environment variables HANGAR_…."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from hangar.domain.kind import NodeNeed
from hangar.domain.limits import EVICTIONS_PER_MINUTE_MAX, SETTLE_S

WORKLOADS: Mapping[str, frozenset[str]] = MappingProxyType(
    {"manage": frozenset({"scale", "deploy"}), "scale": frozenset({"scale"}), "observe": frozenset()}
)
"""What may be done to workloads, by how they are handled: members of the cluster's allowed set."""


def _split(value: object) -> object:
    return [each.strip() for each in value.split(",") if each.strip()] if isinstance(value, str) else value


class OperatorSettings(BaseSettings):
    """The settings of `hangar-operator`."""

    model_config = SettingsConfigDict(env_prefix="HANGAR_", extra="ignore")

    server: str = Field(description="address of the hub, such as https://hub.example:8443")
    token_file: Path = Field(description="file with the operator's token")
    ca_file: Path | None = Field(default=None, description="CA that signed the hub's certificate, if not a public one")
    kubeconfig: Path | None = Field(default=None, description="kubeconfig; without one the pod's own service account")
    allowed_operations: Annotated[frozenset[NodeNeed], NoDecode, BeforeValidator(_split)] = Field(
        default=frozenset({"cordon", "drain"}),
        description="what users may do on this cluster, comma-separated; the chart's cluster.allowedOperations",
    )
    workloads: Literal["manage", "scale", "observe"] = Field(
        default="manage", description="what may be done to workloads; the chart's cluster.workloads"
    )
    read_only: bool = Field(default=False, description="allow nothing; the chart's cluster.readOnly")
    has_autoscaler: bool = Field(
        default=False, description="nodes are added on demand: what fits nowhere now may later"
    )
    settle_s: float = Field(default=SETTLE_S, ge=0, description="how long a verdict waits for foreign controllers")
    evictions_per_minute: int = Field(
        default=EVICTIONS_PER_MINUTE_MAX, ge=1, description="evictions a minute at most, over all operations"
    )
    metrics_listen: str | None = Field(
        default=None, description="where to serve /metrics and /healthz, ADDRESS:PORT; nowhere by default"
    )
    log_format: Literal["console", "json"] = Field(default="json", description="form of the log lines on stderr")

    @property
    def allowed(self) -> frozenset[str]:
        """What users may do on this cluster, before it is cut down by what Kubernetes grants."""
        return frozenset() if self.read_only else self.allowed_operations | WORKLOADS[self.workloads]

    @field_validator("metrics_listen")
    @classmethod
    def _can_be_listened_on(cls, listen: str | None) -> str | None:
        if listen is not None:
            address_of(listen)
        return listen


def address_of(listen: str) -> tuple[str, int]:
    """Return host and port of ADDRESS:PORT. Raises ValueError where they cannot be read."""
    parts = urlsplit(f"//{listen}")
    if not parts.hostname or parts.port is None or parts.netloc != listen:
        raise ValueError(f"{listen!r} is no ADDRESS:PORT: give for example 0.0.0.0:9464")
    return parts.hostname, parts.port
