"""Routes of the process itself: whether it lives and serves, its figures, and the page that shows the API."""

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import HTMLResponse
from starlette.staticfiles import StaticFiles
from swagger_ui_bundle import swagger_ui_path  # type: ignore[import-untyped]

from hangar.hub.api.answers import json_response
from hangar.hub.api.context import hub_of
from hangar.telemetry.metrics import CONTENT_TYPE

router = APIRouter(include_in_schema=False)

DOCS_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Wingsmith API</title>
<link rel="icon" href="docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
</head>
<body>
<div id="api"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

# The viewer that is packaged knows OpenAPI 3.0 by its number only; what our document has of 3.1, it shows.
DOCS_START = """fetch("openapi.json").then((answer) => answer.json()).then((spec) => {
  SwaggerUIBundle({dom_id: "#api", spec: {...spec, openapi: "3.0.3"}, deepLinking: true});
});
"""


def mount_docs(app: FastAPI) -> None:
    """Serve the viewer's files from where they are installed: no other host is asked for anything."""
    app.mount("/docs/assets", StaticFiles(directory=swagger_ui_path), name="docs")


@router.get("/healthz")
async def healthz() -> Response:
    """Say that the process lives."""
    return json_response({"status": "ok"})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Say that the hub serves: the store takes writes, which a store that only answers reads does not."""
    hub = hub_of(request)
    await hub.check_ready()
    return json_response({"status": "ready"})


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Show the hub's figures, also while the store is in trouble: that is when they are looked at."""
    return Response(await hub_of(request).metrics_text(), media_type=CONTENT_TYPE)


@router.get("/docs")
async def docs() -> Response:
    """Show the API."""
    return HTMLResponse(DOCS_PAGE)


@router.get("/docs/start.js")
async def docs_start() -> Response:
    """Start the viewer; a file of its own, so that no script stands in the page."""
    return Response(DOCS_START, media_type="text/javascript")
