"""The product on a bed: the hub and the cluster's operator, each a process of its own, speaking over loopback."""

import os
import ssl
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

import httpx2

from hangar.domain.limits import (
    EVICTION_TIMEOUT_S,
    HAND_OVER_AFTER_S,
    LEASE_S,
    STOP_SENDING_AFTER_S,
    SYNC_WAIT_S,
)
from testbed.bed import Bed, free_ports
from testbed.component import Component, Probe
from testbed.hub import HubClient, HubRefusedError

SOURCES = Path(__file__).parents[1] / "src"

CLUSTER = "bed"
"""The name of the cluster in the hub."""

ADMIN = "kim"
"""Who asks for what tests ask for."""


@dataclass(frozen=True, slots=True)
class Leases:
    """How soon hub and operator give each other up; the fields are the hub's settings of these names."""

    lease_s: float = LEASE_S
    stop_after_s: float = STOP_SENDING_AFTER_S
    hand_over_after_s: float = HAND_OVER_AFTER_S
    sync_wait_s: float = SYNC_WAIT_S

    def environment(self) -> dict[str, str]:
        """Return them as the hub takes them."""
        return {f"HANGAR_{each.name.upper()}": str(getattr(self, each.name)) for each in fields(self)}


SHORT = Leases(lease_s=4.0, stop_after_s=3.0, hand_over_after_s=3.0 + EVICTION_TIMEOUT_S + 0.5, sync_wait_s=0.75)
"""As short as a call to the cluster lets them be: whoever takes over waits for the last one of his predecessor."""

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class Stack:
    """A hub and the operator of a bed. `start` or a `with` statement brings them up.

    Args:
        bed: A running bed.
        kubeconfig: As whom the operator acts.
        leases: The hub's times.
        settings: More of the operator's settings, such as `HANGAR_SETTLE_S`.
        is_secure: Whether the hub serves TLS, with the bed's certificate; `bed.ca_file` is then what to trust.

    Attributes:
        hub, operator: The processes; start them from a thread that lives as long as they.
        client: The hub's API, as an admin.
        server, token: How others come in.
    """

    def __init__(
        self,
        bed: Bed,
        kubeconfig: Path,
        leases: Leases = SHORT,
        settings: Mapping[str, str] = NO_SETTINGS,
        *,
        is_secure: bool = False,
    ) -> None:
        (port,) = free_ports(1)
        self._folder = bed.folder / f"stack-{port}"
        self._folder.mkdir()
        self.server = f"{'https' if is_secure else 'http'}://127.0.0.1:{port}"
        trust = ssl.create_default_context(cafile=bed.ca_file) if is_secure else None
        pair = ["--tls-cert", str(bed.server_pair.certificate), "--tls-key", str(bed.server_pair.key)]
        database = {"HANGAR_DB": str(self._folder / "hub.db")}
        self.token, operator_token = _tokens(database)
        self.client = HubClient(self.server, self.token, trust)
        self._ca = {"HANGAR_CA_FILE": str(bed.ca_file)} if is_secure else {}
        self._kubeconfig = kubeconfig
        self._token_file = self._folder / "operator.token"
        self._token_file.touch(mode=0o600)
        self._token_file.write_text(operator_token)
        self.hub = Component(
            "hangar-server",
            [
                sys.executable,
                "-m",
                "hangar.hub",
                "serve",
                "--listen",
                f"127.0.0.1:{port}",
                *(pair if is_secure else []),
            ],
            self._folder / "hub.log",
            Probe(port, "/readyz", trust),
            _environment(leases.environment() | database),
        )
        self.operator = self.operator_with(settings)

    def operator_with(self, settings: Mapping[str, str]) -> Component:
        """Return an operator of the cluster that is not started yet, with these settings beside the usual ones."""
        usual = {
            "HANGAR_SERVER": self.server,
            "HANGAR_TOKEN_FILE": str(self._token_file),
            "HANGAR_KUBECONFIG": str(self._kubeconfig),
            "HANGAR_LOG_FORMAT": "console",
            **self._ca,
        }
        return Component(
            "hangar-operator",
            [sys.executable, "-m", "hangar.operator"],
            self._folder / "operator.log",
            _Online(self.client),
            _environment(usual | dict(settings)),
        )

    def hgr(self, *words: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """Run the command line as an admin, to its end."""
        environment = {**os.environ, "PYTHONPATH": str(SOURCES), "HGR_SERVER": self.server, "HGR_TOKEN": self.token}
        command = [sys.executable, "-m", "hangar.cli", *words]
        return subprocess.run(command, env=environment, input=stdin, capture_output=True, text=True, check=False)

    def start(self) -> None:
        """Start both and wait until the hub hears the operator; a failure stops what was started.

        Raises:
            BedError: One of them died or did not become ready.
        """
        try:
            self.hub.start()
            self.hub.wait_ready()
            self.operator.start()
            self.operator.wait_ready()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End both, the operator first so that it can sign off."""
        self.operator.terminate()
        self.operator.reap()
        self.client.close()
        self.hub.terminate()
        self.hub.reap()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


@dataclass(frozen=True, slots=True)
class _Online:
    """An operator is ready when the hub has heard it."""

    client: HubClient

    def answers(self) -> bool:
        try:
            return bool(self.client.cluster(CLUSTER)["online"])
        except (HubRefusedError, httpx2.HTTPError):
            return False


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with these settings and none of its own."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HANGAR_", "HGR_"))}
    return {**inherited, "PYTHONPATH": str(SOURCES), **settings}


def _tokens(database: Mapping[str, str]) -> tuple[str, str]:
    """Make the tokens of an admin and of the cluster's operator, before there is a hub."""
    wanted = (
        ("--role", "admin", "--name", ADMIN),
        ("--role", "operator", "--name", f"{CLUSTER}-operator", "--cluster", CLUSTER),
    )
    command = [sys.executable, "-m", "hangar.hub", "token", "create"]
    admin, operator = (
        subprocess.run(
            [*command, *words], env=_environment(database), check=True, capture_output=True, text=True
        ).stdout.strip()
        for words in wanted
    )
    return admin, operator
