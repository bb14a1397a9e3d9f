"""A kind that not every cluster has, in the best version that is served; where none is, there are no objects of it."""

import asyncio
from collections.abc import Callable
from http import HTTPStatus
from typing import Generic, TypeVar

import msgspec

from hangar.domain.limits import RETRY_FIRST_S, RETRY_MAX_S
from hangar.operator.cluster.kubernetes.answers import Reply
from hangar.operator.cluster.kubernetes.api import Api, NoReplyError, NotSentError
from hangar.operator.cluster.kubernetes.envelopes import ServedKinds
from hangar.operator.cluster.kubernetes.health import Health
from hangar.operator.cluster.kubernetes.mirror import Mirror
from hangar.operator.cluster.kubernetes.reflector import Jitter, Reflector
from hangar.operator.cluster.kubernetes.watched import Watched

V = TypeVar("V")

LOOK_AGAIN_S = 30.0
"""How often it is looked which version is served: Dynamo is installed, upgraded and removed while we run."""

_SERVED = msgspec.json.Decoder(ServedKinds)


class CannotTellError(Exception):
    """The API server does not say what it serves; `is_forbidden` where it does not want to."""

    def __init__(self, message: str, *, is_forbidden: bool = False) -> None:
        super().__init__(message)
        self.is_forbidden = is_forbidden


class Served(Generic[V]):
    """The mirror of one kind, in the best version of it that is served.

    Args:
        versions: The kind in every version that can be read, the best first.
        api: The API server.
        mirror: Where the objects go.
        changed: Told of every change that a decision could see.
        jitter: Where randomness comes from.
    """

    def __init__(
        self,
        versions: tuple[Watched[V], ...],
        api: Api,
        mirror: Mirror[V],
        changed: Callable[[], None],
        jitter: Jitter,
    ) -> None:
        self._versions = versions
        self._api = api
        self._changed = changed
        self._jitter = jitter
        self.mirror = mirror
        self.all_served: tuple[Watched[V], ...] = ()
        self._looking = Health(versions[0].plural, changed)
        self._reflector: Reflector[V] | None = None

    @property
    def served(self) -> Watched[V] | None:
        """The version that is read, None where none is served."""
        return self.all_served[0] if self.all_served else None

    @property
    def health(self) -> Health:
        """Whether the kind can be read; that there is nothing to read is known as well as what is in it."""
        return self._looking if self._reflector is None else self._reflector.health

    def named(self, api_version: str) -> Watched[V] | None:
        """Return a version by its whole name, such as `nvidia.com/v1beta1`, None where it is not served."""
        return next((each for each in self.all_served if each.api_version == api_version), None)

    async def run(self) -> None:
        """Read until cancelled; trouble is waited out."""
        tries = 0
        async with asyncio.TaskGroup() as group:
            reading: asyncio.Task[None] | None = None
            while True:
                try:
                    found = await self._look()
                except CannotTellError as error:
                    if reading is None:  # or else whoever reads has the same trouble, and tells it
                        is_stale = not self._looking.is_complete
                        self._looking.broke(str(error), is_forbidden=error.is_forbidden, is_stale=is_stale)
                    longest_s = min(RETRY_FIRST_S * 2 ** min(tries, 10), RETRY_MAX_S)
                    tries += 1
                else:
                    tries, longest_s = 0, LOOK_AGAIN_S
                    best = found[0] if found else None
                    if best is not self.served and reading is not None:
                        reading.cancel()
                        await asyncio.wait((reading,))
                        reading = None
                    if best is not None and reading is None:
                        reading = group.create_task(self._reader(best).run())
                    self._settle(found)
                await asyncio.sleep(self._jitter(longest_s / 2, longest_s))

    def _reader(self, best: Watched[V]) -> Reflector[V]:
        self._reflector = Reflector(best, self._api, self.mirror, self._changed, self._jitter)
        return self._reflector

    def _settle(self, found: tuple[Watched[V], ...]) -> None:
        """Note what is served; where nothing is, there are no objects."""
        if found != self.all_served:
            self._changed()
        self.all_served = found
        if not found:
            self._reflector = None
            self.mirror.replace((), 0)
        self._looking.heard()
        self._looking.recovered()

    async def _look(self) -> tuple[Watched[V], ...]:
        """Return the versions that are served, the best first."""
        return tuple([each for each in self._versions if await self._is_served(each)])

    async def _is_served(self, each: Watched[V]) -> bool:
        """Tell whether a version is served. The group says too little: others have kinds and versions of their own."""
        try:
            reply = await self._api.call("GET", f"/apis/{each.api_version}")
        except (NotSentError, NoReplyError) as error:
            raise CannotTellError(str(error)) from error
        if reply.is_success:
            return _has(reply, each.plural)
        if reply.code == HTTPStatus.NOT_FOUND:
            return False
        raise CannotTellError(reply.text(), is_forbidden=reply.code == HTTPStatus.FORBIDDEN)


def _has(reply: Reply, plural: str) -> bool:
    try:
        kinds = _SERVED.decode(reply.body).resources or ()
    except msgspec.DecodeError as error:
        raise CannotTellError(f"no API server replies: {error}") from error
    return any(each.name == plural for each in kinds)
