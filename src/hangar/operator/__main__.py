"""hangar-operator: the process inside a cluster; it takes its settings from HANGAR_… variables."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Mapping

import structlog
from pydantic import ValidationError

from hangar.clock import SystemClock
from hangar.collector import collect_rarely
from hangar.domain.limits import RETRY_MAX_S
from hangar.domain.view import ClusterSettings
from hangar.kinds import KINDS
from hangar.operator.channel import HttpChannel
from hangar.operator.cluster.kubernetes.adapter import KubernetesCluster
from hangar.operator.cluster.kubernetes.connect import load
from hangar.operator.cluster.port import Cluster, ClusterError, Identity
from hangar.operator.conductor import Conductor
from hangar.operator.listener import ListenError, listening
from hangar.operator.loop import Operator
from hangar.operator.metrics import OperatorMetrics
from hangar.operator.probes import Probes
from hangar.operator.session import session_request
from hangar.operator.settings import OperatorSettings, address_of
from hangar.telemetry.logs import configure_logs

log = structlog.get_logger("hangar.operator")


def main() -> int:
    """Run the operator; returns the exit code: 0 stopped, 1 failed, 2 wrongly set."""
    try:
        settings = OperatorSettings.model_validate({})
        token = settings.token_file.read_text(encoding="utf-8").strip()
        kubeconfig = load(settings.kubeconfig)
    except (ValidationError, ClusterError, OSError) as error:
        print(f"hangar-operator: {error}", file=sys.stderr)
        return 2
    configure_logs(settings.log_format, "info")
    collect_rarely()
    try:
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run(_serve(settings, token, KubernetesCluster(kubeconfig, SystemClock())))
    except ListenError as error:
        print(f"hangar-operator: HANGAR_METRICS_LISTEN: {error}", file=sys.stderr)
        return 1
    return 0


async def _serve(settings: OperatorSettings, token: str, cluster: KubernetesCluster) -> None:
    this = asyncio.current_task()
    assert this is not None
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, this.cancel)
    metrics = OperatorMetrics()
    ca_file = str(settings.ca_file) if settings.ca_file else None
    channel = HttpChannel(settings.server, token, ca_file, on_call=metrics.called)
    probes = Probes(cluster, metrics)
    try:
        async with _shown(settings, probes):
            identity, allowed = await introduce(settings, cluster)
            log.info("starting", cluster=identity.uid, kubernetes=identity.version, allowed=sorted(allowed))
            request = session_request(identity, allowed, has_autoscaler=settings.has_autoscaler)
            told = ClusterSettings(settings.has_autoscaler, settings.settle_s, settings.evictions_per_minute)
            conductor = Conductor(KINDS, allowed, told)
            operator = probes.operator = Operator(cluster, channel, conductor, request, SystemClock(), metrics)
            await operator.run()
    finally:
        log.info("stopped")
        await channel.close()
        await cluster.close()


@contextlib.asynccontextmanager
async def _shown(settings: OperatorSettings, probes: Probes) -> AsyncIterator[None]:
    """Serve the probes' pages where they are wanted. Raises ListenError."""
    if settings.metrics_listen is None:
        yield
        return
    host, port = address_of(settings.metrics_listen)
    async with listening(host, port, probes.pages()) as bound:
        log.info("showing metrics and health", address=f"http://{host}:{bound}")
        yield


async def introduce(settings: OperatorSettings, cluster: Cluster) -> tuple[Identity, frozenset[str]]:
    """Return who the cluster is and what is allowed there: what the settings say, cut down by what Kubernetes grants.

    Waits for the API server: an operator may start before it, and one that has just started knows no access rules yet.
    """
    told = ""
    while True:
        try:
            identity = await cluster.identity()
            granted = {} if settings.read_only else await cluster.grants()
        except ClusterError as error:
            if str(error) != told:
                told = str(error)
                log.warning("cannot reach the cluster", why=told)
            await asyncio.sleep(RETRY_MAX_S)
        else:
            return identity, _allowed(settings, granted)


def _allowed(settings: OperatorSettings, granted: Mapping[str, bool]) -> frozenset[str]:
    for name in sorted(settings.allowed):
        if not granted.get(name, False):
            log.warning("allowed by the settings, but not granted by Kubernetes", operation=name)
    return frozenset(name for name in settings.allowed if granted.get(name, False))


if __name__ == "__main__":
    sys.exit(main())
