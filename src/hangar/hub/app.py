"""The hub as one ASGI application: API, problems, documentation, and what goes on in the background."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress

import structlog
from fastapi import FastAPI

import hangar
from hangar.clock import Clock
from hangar.domain.limits import FEED_POLL_S, NOTICES_RETRY_S, STREAM_TOKEN_CHECK_S
from hangar.hub.api import fleet, operations, operator, stream, system, tokens, workloads
from hangar.hub.api.answers import add_problem_handlers
from hangar.hub.api.context import Hub
from hangar.hub.api.middleware import HearOut, RequestId
from hangar.hub.api.openapi import install_openapi
from hangar.hub.catalogue import Catalogue
from hangar.hub.settings import HubSettings
from hangar.hub.store.store import Store
from hangar.hub.store.writer import StoreUnavailableError
from hangar.kinds import KINDS, WORKLOAD_KINDS

log = structlog.get_logger(__name__)


def create_app(store: Store, clock: Clock, settings: HubSettings) -> FastAPI:
    """Return the hub over an open store; whoever opened the store closes it, after the application has ended."""
    hub = Hub(store, clock, settings, Catalogue({**KINDS, **WORKLOAD_KINDS}))

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await hub.begin()
        background = [asyncio.create_task(run, name=name) for name, run in _background(hub)]
        try:
            yield
        finally:
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)
            hub.follower.stop()
            with suppress(StoreUnavailableError):
                await hub.remember()

    app = FastAPI(
        title="Wingsmith",
        version=hangar.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.hub = hub
    for module in (
        operator,
        operations,
        fleet,
        stream,
        tokens,
        system,
        workloads,
    ):  # the most asked first: they are tried in this order
        # As they are: including a router would build each of its routes a second time.
        app.router.routes.extend(module.router.routes)
    system.mount_docs(app)
    add_problem_handlers(app)
    install_openapi(app, hub.catalogue)
    # Around everything, also around what answers for faults: each answer has its id, and each fault's line, too.
    app.middleware_stack = RequestId(HearOut(app.build_middleware_stack()), clock, hub.metrics)
    return app


def hub_in(app: FastAPI) -> Hub:
    """Return the hub that an application serves."""
    hub = app.state.hub
    assert isinstance(hub, Hub)
    return hub


def _background(hub: Hub) -> Iterator[tuple[str, Coroutine[None, None, None]]]:
    """Yield what runs beside the requests, by name."""
    yield "sweeps", _again_and_again("a sweep", hub.sweep, hub.settings.sweep_interval_s)
    yield "follower", _again_and_again("following the feed", hub.follower.run, FEED_POLL_S)
    yield "tokens", _again_and_again("a look at the tokens of streams", hub.check_streams, STREAM_TOKEN_CHECK_S)
    if hub.store.is_remote:
        yield "notices", _again_and_again("listening to other hubs", hub.listen, NOTICES_RETRY_S)


async def _again_and_again(name: str, run: Callable[[], Coroutine[None, None, None]], pause_s: float) -> None:
    while True:
        await asyncio.sleep(pause_s)
        # A failure must not be the last of it: what went wrong is logged, and it is tried again.
        (outcome,) = await asyncio.gather(run(), return_exceptions=True)
        if isinstance(outcome, Exception):
            log.error(f"{name} failed", exc_info=outcome)
