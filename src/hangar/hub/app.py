"""The hub as one ASGI application: API, problems, documentation, and the sweep in the background."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog
from fastapi import FastAPI

import hangar
from hangar.clock import Clock
from hangar.hub.api import fleet, operations, operator, system, tokens
from hangar.hub.api.answers import add_problem_handlers
from hangar.hub.api.context import Hub
from hangar.hub.api.middleware import HearOut, RequestId
from hangar.hub.api.openapi import install_openapi
from hangar.hub.catalogue import Catalogue
from hangar.hub.settings import HubSettings
from hangar.hub.store.store import Store
from hangar.kinds import KINDS

log = structlog.get_logger(__name__)


def create_app(store: Store, clock: Clock, settings: HubSettings) -> FastAPI:
    """Return the hub over an open store; whoever opened the store closes it, after the application has ended."""
    hub = Hub(store, clock, settings, Catalogue(KINDS))

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        hub.tail.start()
        sweeper = asyncio.create_task(_sweep_for_ever(hub), name="sweeper")
        try:
            yield
        finally:
            sweeper.cancel()
            with suppress(asyncio.CancelledError):
                await sweeper

    app = FastAPI(
        title="Wingsmith",
        version=hangar.__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.hub = hub
    for module in (operator, operations, fleet, tokens, system):  # the most asked first: they are tried in this order
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


async def _sweep_for_ever(hub: Hub) -> None:
    while True:
        await asyncio.sleep(hub.settings.sweep_interval_s)
        # One failed sweep must not be the last: what went wrong is logged, and the next one tries again.
        (outcome,) = await asyncio.gather(hub.sweep(), return_exceptions=True)
        if isinstance(outcome, Exception):
            log.error("a sweep failed", exc_info=outcome)
