"""Graphs as a cluster has them: which version of them it serves, if any, and what is in them."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus

import msgspec

from hangar.domain.limits import RETRY_FIRST_S, RETRY_MAX_S
from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.operator.cluster.kubernetes.answers import Reply
from hangar.operator.cluster.kubernetes.api import Api, NoReplyError, NotSentError
from hangar.operator.cluster.kubernetes.envelopes import ServedKinds
from hangar.operator.cluster.kubernetes.health import Health
from hangar.operator.cluster.kubernetes.mirror import Mirror
from hangar.operator.cluster.kubernetes.reflector import Jitter, Reflector
from hangar.operator.cluster.kubernetes.translate_graph import GROUP, PLURAL, SeenGraph
from hangar.operator.cluster.kubernetes.watched import GRAPHS, Watched

LOOK_AGAIN_S = 30.0
"""How often it is looked which version is served: Dynamo is installed, upgraded and removed while we run."""

_SERVED = msgspec.json.Decoder(ServedKinds)


class CannotTellError(Exception):
    """The API server does not say what it serves; `is_forbidden` where it does not want to."""

    def __init__(self, message: str, *, is_forbidden: bool = False) -> None:
        super().__init__(message)
        self.is_forbidden = is_forbidden


class Graphs:
    """The mirror of a cluster's graphs, whichever version of them it serves; none where it serves none.

    Args:
        api: The API server.
        put: Adds or replaces a graph in the index.
        drop: Removes a graph from the index.
        changed: Told of every change that a decision could see.
        jitter: Where randomness comes from.
    """

    def __init__(
        self,
        api: Api,
        put: Callable[[Graph], None],
        drop: Callable[[GraphRef], None],
        changed: Callable[[], None],
        jitter: Jitter,
    ) -> None:
        self._api = api
        self._changed = changed
        self._jitter = jitter
        self.mirror: Mirror[SeenGraph] = Mirror(
            lambda seen: put(seen.graph), lambda seen: drop(seen.graph.ref), changed
        )
        self.served: Watched[SeenGraph] | None = None
        self._looking = Health(PLURAL, changed)
        self._reflector: Reflector[SeenGraph] | None = None

    @property
    def health(self) -> Health:
        """Whether graphs can be read; that there are none to read is known as well as what is in them."""
        return self._looking if self._reflector is None else self._reflector.health

    async def run(self) -> None:
        """Read until cancelled; trouble is waited out."""
        tries = 0
        async with asyncio.TaskGroup() as group:
            reading: asyncio.Task[None] | None = None
            while True:
                try:
                    served = await self._look()
                except CannotTellError as error:
                    if reading is None:  # or else whoever reads has the same trouble, and tells it
                        self._looking.broke(str(error), is_forbidden=error.is_forbidden, is_stale=True)
                    longest_s = min(RETRY_FIRST_S * 2 ** min(tries, 10), RETRY_MAX_S)
                    tries += 1
                else:
                    tries, longest_s = 0, LOOK_AGAIN_S
                    if served is not self.served and reading is not None:
                        reading.cancel()
                        await asyncio.wait((reading,))
                        reading = None
                    if served is not None and reading is None:
                        reading = group.create_task(self._reader(served).run())
                    self._settle(served)
                await asyncio.sleep(self._jitter(longest_s / 2, longest_s))

    def _reader(self, served: Watched[SeenGraph]) -> Reflector[SeenGraph]:
        self._reflector = Reflector(served, self._api, self.mirror, self._changed, self._jitter)
        return self._reflector

    def _settle(self, served: Watched[SeenGraph] | None) -> None:
        """Note what is served; where nothing is, there are no graphs."""
        if served is not self.served:
            self._changed()
        self.served = served
        if served is None:
            self._reflector = None
            self.mirror.replace((), 0)
        self._looking.heard()
        self._looking.recovered()

    async def _look(self) -> Watched[SeenGraph] | None:
        """Return the best version that is served, None where there is none.

        The group says too little: others have kinds and versions of their own in it.
        """
        for each in GRAPHS:
            path = f"/apis/{GROUP}/{each.version}"
            try:
                reply = await self._api.call("GET", path)
            except (NotSentError, NoReplyError) as error:
                raise CannotTellError(str(error)) from error
            if reply.is_success and _serves(reply):
                return each
            if not reply.is_success and reply.code != HTTPStatus.NOT_FOUND:
                raise CannotTellError(reply.text(), is_forbidden=reply.code == HTTPStatus.FORBIDDEN)
        return None


def _serves(reply: Reply) -> bool:
    try:
        kinds = _SERVED.decode(reply.body).resources or ()
    except msgspec.DecodeError as error:
        raise CannotTellError(f"no API server replies: {error}") from error
    return any(each.name == PLURAL for each in kinds)
