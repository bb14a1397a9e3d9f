"""A whole Kubernetes on loopback: started in seconds, stopped without a trace, each of its programs at hand."""

import contextlib
import os
import random
import shutil
import socket
import ssl
import tempfile
from dataclasses import dataclass, fields
from pathlib import Path
from types import TracebackType
from typing import Self

import yaml

from testbed import audit, kwok
from testbed.audit import AuditLog
from testbed.build import Programs
from testbed.certificates import SUPERUSERS, Authority, KeyPair
from testbed.component import Component, Probe
from testbed.kube import Kube

PORTS = range(20_000, 32_000)
"""Below what the kernel gives to outgoing connections: of those a starting API server opens hundreds, and one of them
might take a port that is still to be listened on."""

PREFIX = "wingsmith-bed-"

DISABLED_CONTROLLERS = (
    "persistentvolume-attach-detach-controller",
    "persistentvolume-expander-controller",
    "horizontal-pod-autoscaler-controller",
    "node-ipam-controller",
    "certificatesigningrequest-signing-controller",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a bed can be told.

    `unreachable_toleration_s` is how long pods stay on a dead node (Kubernetes' own default: 300);
    `etcd_compaction_s` makes watches from old versions end in a real 410 that soon;
    `event_ttl_s` is how long the cluster keeps its events;
    `node_grace_s` is how long a node may go unheard before it counts as not ready;
    `has_node_leases` lets nodes live by leases, which spares the API server their statuses. Then kwok holds a node by
    its lease, and takes no care of the pods of one whose lease is collected with a node of that name before, or is
    another kwok's that was killed.
    """

    unreachable_toleration_s: int | None = None
    etcd_compaction_s: int | None = None
    event_ttl_s: int = 600
    node_grace_s: int = 50
    has_node_leases: bool = False


@dataclass(frozen=True, slots=True)
class _Ports:
    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    scheduler: int
    kwok: int


class Bed:
    """One bed. `start` or a `with` statement brings it up; `stop` ends its processes and removes its folder.

    Attributes:
        kubeconfig: Path of the superuser's kubeconfig.
        server: URL of the API server.
        ca_file: The authority that every certificate of the bed is from.
        server_pair: A certificate for servers on loopback, and its key.
        etcd, apiserver, controller_manager, scheduler, kwok: The programs, each its own process.
        audit: What the API server recorded.
        kube: A client for arranging and reading objects.
    """

    def __init__(self, programs: Programs, settings: Settings | None = None) -> None:
        self._programs = programs
        self._settings = settings or Settings()
        _remove_left_over()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=_scratch()))
        self._ports = _Ports(*free_ports(len(fields(_Ports))))
        self._authority = Authority(self.folder)
        self._admin = self._authority.issue("admin", (SUPERUSERS,))
        self.server = f"https://127.0.0.1:{self._ports.apiserver}"
        self.ca_file = self._authority.path
        self.server_pair = self._admin
        self.kubeconfig = self._write_kubeconfig("admin", self._admin)
        kwok.write_config(self.folder / "kwok.yaml", programs, has_leases=self._settings.has_node_leases)
        audit.write_policy(self.folder / "audit.yaml")
        self.audit = AuditLog(self.folder / "audit.log")
        trust = self._trust()
        self.kube = Kube(self.server, trust)
        self.etcd = self._etcd()
        self.apiserver = self._apiserver(trust)
        self.controller_manager = self._controller_manager()
        self.scheduler = self._scheduler()
        self.kwok = self._kwok()

    def start(self) -> None:
        """Start everything and wait until it is ready; a failure stops what was started.

        Raises:
            BedError: A program died or did not become ready.
        """
        try:
            self.etcd.start()
            self.apiserver.start()
            self.apiserver.wait_ready()
            self._start(self.controller_manager, self.scheduler, self.kwok)
        except BaseException:
            self.stop()
            raise

    def restart_apiserver(self) -> None:
        """Kill the API server if it lives, start it again, and wait until the cluster works as before.

        Its clients are started anew with it: each backs off from a server that is away, and would sleep on for half a
        minute after it is back.
        """
        self.apiserver.restart()
        clients = (self.controller_manager, self.scheduler, self.kwok)
        for each in clients:
            each.kill()
        self._start(*clients)

    @staticmethod
    def _start(*components: Component) -> None:
        for each in components:
            each.start()
        for each in components:
            each.wait_ready()

    def stop(self) -> None:
        """End all processes, etcd last since the API server hangs without it, and remove the folder."""
        self.kube.close()
        for group in ((self.kwok, self.scheduler, self.controller_manager), (self.apiserver,), (self.etcd,)):
            for each in group:
                each.terminate()
            for each in group:
                each.reap()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def kubeconfig_for(self, user: str, groups: tuple[str, ...] = ()) -> Path:
        """Return a new kubeconfig of a user, who may do nothing until roles are bound to him or his groups."""
        return self._write_kubeconfig(user, self._authority.issue(user, groups))

    def kubeconfig_with_token(self, name: str, token: str) -> Path:
        """Return a new kubeconfig that carries a token, such as a service account's."""
        return self._write(name, {"token": token})

    def _write_kubeconfig(self, user: str, pair: KeyPair) -> Path:
        return self._write(user, {"client-certificate": str(pair.certificate), "client-key": str(pair.key)})

    def _write(self, user: str, credentials: dict[str, str]) -> Path:
        cluster = {"server": self.server, "certificate-authority": str(self._authority.path)}
        path = self.folder / f"{user}.kubeconfig"
        path.touch(mode=0o600)
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "testbed", "cluster": cluster}],
            "users": [{"name": user, "user": credentials}],
            "contexts": [{"name": "testbed", "context": {"cluster": "testbed", "user": user}}],
            "current-context": "testbed",
        }
        path.write_text(yaml.safe_dump(document))
        return path

    def _trust(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self._authority.path)
        context.load_cert_chain(self._admin.certificate, self._admin.key)
        return context

    def _component(self, name: str, flags: dict[str, object], probe: Probe) -> Component:
        words = [f"--{flag}={value}" for flag, value in flags.items()]
        return Component(name, [str(self._programs.path(name)), *words], self.folder / f"{name}.log", probe)

    def _etcd(self) -> Component:
        client = f"http://127.0.0.1:{self._ports.etcd}"
        peer = f"http://127.0.0.1:{self._ports.etcd_peer}"
        flags: dict[str, object] = {
            "name": "n0",
            "data-dir": self.folder / "etcd",
            "unsafe-no-fsync": "true",
            "log-level": "warn",
            "quota-backend-bytes": 8 * 2**30,
            "auto-compaction-mode": "periodic",
            "auto-compaction-retention": "5m",
            "listen-client-urls": client,
            "advertise-client-urls": client,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"n0={peer}",
        }
        return self._component("etcd", flags, Probe(self._ports.etcd, "/health"))

    def _apiserver(self, trust: ssl.SSLContext) -> Component:
        flags: dict[str, object] = {
            "etcd-servers": f"http://127.0.0.1:{self._ports.etcd}",
            "bind-address": "127.0.0.1",
            "secure-port": self._ports.apiserver,
            # Loopback is refused as an endpoint of the `kubernetes` service: advertise it, reconcile nothing.
            "advertise-address": "127.0.0.1",
            "endpoint-reconciler-type": "none",
            "tls-cert-file": self._admin.certificate,
            "tls-private-key-file": self._admin.key,
            "client-ca-file": self._authority.path,
            "authorization-mode": "Node,RBAC",
            "service-account-issuer": "https://kubernetes.default.svc.cluster.local",
            "service-account-key-file": self._admin.key,
            "service-account-signing-key-file": self._admin.key,
            "service-cluster-ip-range": "10.0.0.0/16",
            "allow-privileged": "true",
            "event-ttl": f"{self._settings.event_ttl_s}s",
            "profiling": "false",
            "audit-policy-file": self.folder / "audit.yaml",
            "audit-log-path": self.folder / "audit.log",
        }
        if self._settings.unreachable_toleration_s is not None:
            flags["default-unreachable-toleration-seconds"] = self._settings.unreachable_toleration_s
            flags["default-not-ready-toleration-seconds"] = self._settings.unreachable_toleration_s
        if self._settings.etcd_compaction_s is not None:
            flags["etcd-compaction-interval"] = f"{self._settings.etcd_compaction_s}s"
        return self._component("kube-apiserver", flags, Probe(self._ports.apiserver, "/readyz", trust))

    def _client_config(self, name: str) -> Path:
        # Each program has a name of its own, so that the audit log tells them apart.
        return self.kubeconfig_for(name, (SUPERUSERS,))

    def _controller_manager(self) -> Component:
        flags: dict[str, object] = {
            "kubeconfig": self._client_config("kube-controller-manager"),
            "leader-elect": "false",
            "bind-address": "127.0.0.1",
            "secure-port": self._ports.controller_manager,
            "root-ca-file": self._authority.path,
            "service-account-private-key-file": self._admin.key,
            "kube-api-qps": 5000,
            "kube-api-burst": 10000,
            "concurrent-replicaset-syncs": 20,
            "concurrent-deployment-syncs": 20,
            "node-monitor-period": "2s",
            "node-monitor-grace-period": f"{self._settings.node_grace_s}s",
            "controllers": ",".join(["*", *(f"-{each}" for each in DISABLED_CONTROLLERS)]),
        }
        return self._component("kube-controller-manager", flags, _own_tls(self._ports.controller_manager))

    def _scheduler(self) -> Component:
        flags: dict[str, object] = {
            "kubeconfig": self._client_config("kube-scheduler"),
            "leader-elect": "false",
            "bind-address": "127.0.0.1",
            "secure-port": self._ports.scheduler,
            "kube-api-qps": 5000,
            "kube-api-burst": 10000,
        }
        return self._component("kube-scheduler", flags, _own_tls(self._ports.scheduler))

    def _kwok(self) -> Component:
        flags: dict[str, object] = {
            "kubeconfig": self._client_config("kwok"),
            "config": self.folder / "kwok.yaml",
            "manage-nodes-with-label-selector": f"{kwok.KUBELET}=up",
            "node-lease-duration-seconds": 40 if self._settings.has_node_leases else 0,
            "cidr": "198.18.0.0/15",  # reserved for benchmarks: no such pod can ever be dialled by mistake
            "server-address": f"127.0.0.1:{self._ports.kwok}",
        }
        return self._component("kwok", flags, Probe(self._ports.kwok, "/healthz"))


def _own_tls(port: int) -> Probe:
    """Return the probe of a program that makes itself a certificate, which nobody could check."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return Probe(port, "/healthz", context)


def _scratch() -> Path:
    memory = Path("/dev/shm")
    return memory if os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


def free_ports(count: int) -> list[int]:
    """Return ports on loopback that nobody listens on, and that no outgoing connection will take."""
    free: list[int] = []
    for number in random.sample(PORTS, len(PORTS)):
        with contextlib.suppress(OSError), socket.socket() as listener:
            listener.bind(("127.0.0.1", number))
            free.append(number)
        if len(free) == count:
            break
    return free


def _remove_left_over() -> None:
    """Remove the folders of beds whose process was killed; its programs died with it."""
    for folder in _scratch().glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)
