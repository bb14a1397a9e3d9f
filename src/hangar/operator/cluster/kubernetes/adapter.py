"""KubernetesCluster: the port's four verbs on a real API server."""

import asyncio
import contextlib
import random
from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import TypeAlias, TypeVar, assert_never

import httpx2
import msgspec
from lightkube.config.kubeconfig import SingleConfig

from hangar.clock import Clock
from hangar.domain.cordon import why_not
from hangar.domain.decision import (
    Accepted,
    Answer,
    Apply,
    Busy,
    Cordon,
    Create,
    Delete,
    Evict,
    Gone,
    Namesake,
    Remove,
    Scale,
    Step,
    Trouble,
    Uncordon,
    Unknown,
    Unmark,
    Withheld,
)
from hangar.domain.ids import NodeName
from hangar.domain.limits import EVICTION_TIMEOUT_S
from hangar.domain.snapshot import Snapshot
from hangar.operator.cluster.kubernetes import access, answers, resources
from hangar.operator.cluster.kubernetes.api import MERGE_PATCH, Api, NoReplyError, NotSentError, WithheldError
from hangar.operator.cluster.kubernetes.apply import apply
from hangar.operator.cluster.kubernetes.create import create
from hangar.operator.cluster.kubernetes.reflector import Jitter
from hangar.operator.cluster.kubernetes.remove import remove
from hangar.operator.cluster.kubernetes.resources import CORDON_ANNOTATION
from hangar.operator.cluster.kubernetes.scale import scale
from hangar.operator.cluster.kubernetes.server_clock import ServerClock
from hangar.operator.cluster.kubernetes.sight import Sight
from hangar.operator.cluster.kubernetes.translate import FIELD_MANAGER, write_mark
from hangar.operator.cluster.kubernetes.watched import NODES
from hangar.operator.cluster.port import ClusterError, Gate, Identity, Watch

V = TypeVar("V")
R = TypeVar("R")

CONFLICT_TRIES = 4
"""A kubelet writes its node's status every few seconds; to meet it four times in a row is not chance."""

Change: TypeAlias = Callable[[int], dict[str, object]]
"""Returns a merge patch that is refused unless the node is still at a version."""

NodeStep: TypeAlias = Cordon | Uncordon | Unmark
GraphStep: TypeAlias = Apply | Scale | Create | Remove
PINNING_NAMESPACE = "/api/v1/namespaces/kube-system"
SYSTEM_JITTER: Jitter = random.SystemRandom().uniform


class KubernetesCluster:
    """A cluster behind its API server.

    Args:
        config: From `connect.load`.
        clock: Our own clocks.
        transport: What carries requests instead of the network; tests alone give one.
        jitter: Where randomness comes from.

    Raises:
        ClusterError: The configuration's certificates or credentials cannot be used.
    """

    def __init__(
        self,
        config: SingleConfig,
        clock: Clock,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        jitter: Jitter = SYSTEM_JITTER,
    ) -> None:
        self._clock = ServerClock(clock)
        self._api = Api(config, self._clock, transport)
        self._sight = Sight(self._api, jitter)

    # --- seeing -------------------------------------------------------------------------------------------------------

    async def identity(self) -> Identity:
        """Return who the cluster is. Raises ClusterError while it cannot be reached."""
        version = await self._ask("GET", "/version", _Version)
        namespace = await self._ask("GET", PINNING_NAMESPACE, _Pin)
        return Identity(namespace.metadata.uid, version.git_version)

    async def grants(self) -> Mapping[str, bool]:
        """Return which operations the cluster's access rules grant us. Raises ClusterError where it will not say."""
        questions = list(dict.fromkeys(each for needed in access.NEEDED.values() for each in needed))
        allowed = dict(zip(questions, await asyncio.gather(*map(self._is_allowed, questions)), strict=True))
        return {name: all(allowed[each] for each in needed) for name, needed in access.NEEDED.items()}

    async def run(self, changed: asyncio.Event) -> None:
        """Keep the snapshot fresh until cancelled, setting `changed` on every change; survives every trouble."""
        await self._sight.run(changed)

    def snapshot(self) -> Snapshot | None:
        """Return the cluster as known now, or None before every kind was read once, or refused."""
        return self._sight.snapshot()

    def watches(self) -> tuple[Watch, ...]:
        """Return how reading goes, resource by resource."""
        return self._sight.watches()

    def now(self) -> datetime:
        """Return the API server's time."""
        return self._clock.now()

    async def close(self) -> None:
        """Close all connections, once `run` has ended."""
        await self._api.close()

    # --- acting -------------------------------------------------------------------------------------------------------

    async def perform(self, step: Step, gate: Gate) -> Answer:
        """Take one step within EVICTION_TIMEOUT_S, asking the gate at the last moment."""
        deadline_s = self._clock.monotonic_s() + EVICTION_TIMEOUT_S
        try:
            match step:
                case Cordon():
                    return await self._patch(step, _change(write_mark(step.mark), unschedulable=True), gate, deadline_s)
                case Uncordon():
                    return await self._patch(step, _change(None, unschedulable=None), gate, deadline_s)
                case Unmark():
                    return await self._patch(step, _change(None), gate, deadline_s)
                case Evict():
                    return await self._evict(step, gate, deadline_s)
                case Delete():
                    return await self._delete(step, gate, deadline_s)
                case Apply() | Scale() | Create() | Remove():
                    return await self._write(step, gate, lambda: self._left_s(deadline_s))
                case _:
                    assert_never(step)
        except WithheldError as error:
            return Withheld(str(error))
        except NotSentError as error:
            trouble = Trouble.CREDENTIALS if error.lacks_credentials else Trouble.UNAVAILABLE
            return Busy(f"not sent: {error}", trouble=trouble)
        except NoReplyError as error:
            return Unknown(str(error))
        except (msgspec.DecodeError, ValueError) as error:
            return Busy(f"not sent: the API server's word on {step} cannot be understood: {error}")

    async def _write(self, step: GraphStep, gate: Gate, left_s: Callable[[], float]) -> Answer:
        graphs = self._sight.graphs
        match step:
            case Apply():
                return await apply(self._api, graphs, step, gate, left_s)
            case Scale():
                return await scale(self._api, self._sight.adapters, step, gate, left_s)
            case Create():
                return await create(self._api, graphs, step, gate, left_s)
            case Remove():
                return await remove(self._api, graphs, step, gate, left_s)
            case _:
                assert_never(step)

    async def _patch(self, step: NodeStep, change: Change, gate: Gate, deadline_s: float) -> Answer:
        """Merge a change into a node as last seen; where somebody was faster, look and try again."""
        seen = self._sight.nodes.get(step.uid)
        for _ in range(CONFLICT_TRIES):
            if seen is None:
                reply = await self._api.call("GET", _node_path(step.node), timeout_s=self._left_s(deadline_s))
                if not reply.is_success:
                    return answers.of_write(reply)
                seen = NODES.read(reply.body)
                if seen.uid != step.uid:
                    return Namesake()
            if (why := why_not(step, seen.value)) is not None:
                return Busy(why, trouble=Trouble.CONFLICT)
            reply = await self._api.call(
                "PATCH",
                _node_path(step.node),
                params={"fieldManager": FIELD_MANAGER},
                body=change(seen.version),
                content_type=MERGE_PATCH,
                gate=gate,
                timeout_s=self._left_s(deadline_s),
            )
            if reply.is_success:
                self._merge(reply.body)
            if reply.code != HTTPStatus.CONFLICT:
                return answers.of_write(reply)
            seen = None
        why = f"node {step.node} was changed by others {CONFLICT_TRIES} times in a row"
        return Busy(why, trouble=Trouble.CONFLICT)

    def _merge(self, node: bytes) -> None:
        # What cannot be understood now, the watch will bring, and say so.
        with contextlib.suppress(msgspec.DecodeError, ValueError):
            self._sight.nodes.merge(NODES.read(node))

    async def _evict(self, step: Evict, gate: Gate, deadline_s: float) -> Answer:
        pod = step.pod
        options: dict[str, object] = {"preconditions": {"uid": pod.uid}}
        if step.grace_s is not None:
            options["gracePeriodSeconds"] = step.grace_s
        reply = await self._api.call(
            "POST",
            f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/eviction",
            body={
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"namespace": pod.namespace, "name": pod.name},
                "deleteOptions": options,
            },
            gate=gate,
            timeout_s=self._left_s(deadline_s),
        )
        answer = answers.of_eviction(reply)
        match answer:
            case Accepted() | Gone() | Namesake() | Unknown():
                return answer
            case _:
                return self._sight.departed(pod) or answer

    async def _delete(self, step: Delete, gate: Gate, deadline_s: float) -> Answer:
        pod = step.pod
        options = {"preconditions": {"uid": pod.uid}, "gracePeriodSeconds": step.grace_s}
        reply = await self._api.call(
            "DELETE",
            f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}",
            body={"apiVersion": "v1", "kind": "DeleteOptions", **options},
            gate=gate,
            timeout_s=self._left_s(deadline_s),
        )
        return answers.of_delete(reply)

    def _left_s(self, deadline_s: float) -> float:
        return max(0.0, deadline_s - self._clock.monotonic_s())

    # --- questions ----------------------------------------------------------------------------------------------------

    async def _is_allowed(self, question: access.Access) -> bool:
        return (await self._ask("POST", access.PATH, access.Review, question.review())).status.allowed

    async def _ask(self, method: str, path: str, expected: type[R], body: object = None) -> R:
        try:
            reply = await self._api.call(method, path, body=body)
        except (NotSentError, NoReplyError) as error:
            raise ClusterError(f"the API server cannot be reached: {method} {path}: {error}") from error
        if not reply.is_success:
            raise ClusterError(f"the API server does not let us in: {method} {path}: {reply.text()}")
        try:
            return msgspec.json.decode(reply.body, type=expected)
        except msgspec.DecodeError as error:
            raise ClusterError(f"no API server replies to {method} {path}: {error}") from error


class _Pin(msgspec.Struct):
    metadata: resources.ObjectMeta


class _Version(msgspec.Struct, rename="camel"):
    git_version: str


KEEP = object()


def _change(annotation: str | None, *, unschedulable: object = KEEP) -> Change:
    """Return the change that sets our annotation (None removes it) and, unless kept, the cordon (None removes it)."""
    spec = {} if unschedulable is KEEP else {"spec": {"unschedulable": unschedulable}}

    def at(version: int) -> dict[str, object]:
        metadata = {"resourceVersion": str(version), "annotations": {CORDON_ANNOTATION: annotation}}
        return {"metadata": metadata, **spec}

    return at


def _node_path(name: NodeName) -> str:
    return f"/api/v1/nodes/{name}"
