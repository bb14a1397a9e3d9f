"""What the hub can be told from outside: flags first, then the environment."""

from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from hangar.domain.limits import (
    EVICTION_TIMEOUT_S,
    HAND_OVER_AFTER_S,
    LEASE_S,
    PENDING_TIMEOUT_S,
    STOP_SENDING_AFTER_S,
    SWEEP_INTERVAL_S,
    SYNC_WAIT_S,
)

POSTGRESQL_FORM = "postgresql://USER:PASSWORD@HOST:PORT/NAME"


class HubSettings(BaseSettings):
    """The hub's settings; each is HANGAR_NAME in the environment."""

    model_config = SettingsConfigDict(env_prefix="HANGAR_", frozen=True, extra="ignore")

    db: str = Field(
        default="hangar.db",
        description="the database: a path, sqlite:///PATH, or postgresql://USER@HOST/NAME, which hubs may share",
    )
    listen: str = Field(default="127.0.0.1:8443", description="where to listen, ADDRESS:PORT")
    tls_cert: Path | None = Field(default=None, description="the certificate chain, PEM")
    tls_key: Path | None = Field(default=None, description="the certificate's key, PEM")
    insecure_plain_http: bool = Field(
        default=False, description="listen beyond loopback without TLS, behind a proxy that does it"
    )
    log_format: Literal["json", "console"] = Field(default="console", description="how log lines look")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="what is logged")
    lease_s: float = Field(default=LEASE_S, gt=0, description="how long an operator may go unheard")
    stop_after_s: float = Field(
        default=STOP_SENDING_AFTER_S, gt=0, description="an operator sends nothing this long after its last sync"
    )
    hand_over_after_s: float = Field(
        default=HAND_OVER_AFTER_S, gt=0, description="another operator gets the cluster this long after the last sync"
    )
    sync_wait_s: float = Field(default=SYNC_WAIT_S, gt=0, description="how long a sync without news is parked")
    pending_timeout_s: float = Field(
        default=PENDING_TIMEOUT_S, gt=0, description="how long an operation waits for a live operator"
    )
    sweep_interval_s: float = Field(default=SWEEP_INTERVAL_S, gt=0, description="how often time-outs are looked for")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        """Check that an operator has stopped by its own clock before the hub gives its cluster away."""
        ordered = ("sync_wait_s", "stop_after_s", "lease_s", "hand_over_after_s")
        for earlier, later in pairwise(ordered):
            if getattr(self, earlier) >= getattr(self, later):
                values = ", ".join(f"{name} {getattr(self, name):g}" for name in ordered)
                raise ValueError(f"{earlier} must be shorter than {later}; they are {values}")
        return self

    @property
    def is_hand_over_safe(self) -> bool:
        """Tell whether a call that a silent operator sent last has ended before its cluster is handed over."""
        return self.hand_over_after_s >= self.stop_after_s + EVICTION_TIMEOUT_S


class SettingsError(Exception):
    """A setting cannot be used; the message says which and what to do."""


def database(db: str) -> Path | URL:
    """Return SQLite's file or the URL of PostgreSQL's database. Raises SettingsError where it is neither."""
    scheme, separator, rest = db.partition("://")
    if not separator:
        return Path(db)
    if scheme == "sqlite" and rest.startswith("/"):
        return Path(rest[1:])
    if scheme in ("postgresql", "postgres"):
        try:
            return make_url(f"postgresql://{rest}")
        except (ArgumentError, ValueError) as error:
            raise SettingsError(f"HANGAR_DB cannot be read: give {POSTGRESQL_FORM}") from error
    raise SettingsError(f"HANGAR_DB has the scheme {scheme!r}: give a path, sqlite:///PATH, or {POSTGRESQL_FORM}")


def listen_address(listen: str) -> tuple[str, int]:
    """Return host and port. Raises SettingsError where they cannot be read."""
    host, separator, port = listen.rpartition(":")
    if not separator or not host or not port.isdecimal() or int(port) > 65535:
        raise SettingsError(f"HANGAR_LISTEN is {listen!r}: give ADDRESS:PORT, for example 127.0.0.1:8443")
    return host.removeprefix("[").removesuffix("]"), int(port)
