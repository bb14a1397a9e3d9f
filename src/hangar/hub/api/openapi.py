"""The OpenAPI document: what FastAPI collects, and what only we know: bodies by kind, problems, the token."""

from collections.abc import Mapping

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from hangar.hub.catalogue import Catalogue
from hangar.wire.operator import JsonObject
from hangar.wire.problems import PROBLEM_MEDIA_TYPE, ProblemCode

REF = "#/components/schemas/"
DESCRIPTION = (
    "Recorded, explained, cancellable operations for fleets of GPU inference clusters. Instants are RFC 3339 in UTC. "
    "Every error is a problem (RFC 9457) with a stable `code`; `errors` names each field that is wrong."
)


STREAM_ANSWER: JsonObject = {
    "description": "The stream. Each event has its place in the feed as `id`, its type as `event`, and itself, as GET "
    "/v1/events has it, as `data`. `event: reset` says that what the reader knows is not to be relied on: `data` has "
    "the `reason` (`too_old`, `future`, `restored`, `slow`) and the revision `as_of` from which it goes on. While "
    "nothing happens, comments come, and move the `id` on.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
WATCH_ANSWER: JsonObject = {
    "description": "The connection is a WebSocket now. Its messages are JSON: `id` and `type` as in the stream, and as "
    "`event` the event itself, of a `reset` its reason and `as_of`, of a `heartbeat` null. Browsers, which cannot set "
    "a header, offer the token as a subprotocol, `bearer.TOKEN`.",
}


def json_body(model: type[BaseModel], headers: Mapping[str, str]) -> JsonObject:
    """Return what a route says of a JSON body that it reads itself, and of the headers that it takes."""
    schema = model.model_json_schema(ref_template=f"{REF}{{model}}")
    return {
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "parameters": [
            {"name": name, "in": "header", "required": False, "description": text, "schema": {"type": "string"}}
            for name, text in headers.items()
        ],
    }


def install_openapi(app: FastAPI, catalogue: Catalogue) -> None:
    """Make `/openapi.json` of the application say what it serves."""

    def build() -> JsonObject:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app, catalogue)
        return app.openapi_schema

    app.openapi = build  # type: ignore[method-assign]  # the way that FastAPI itself recommends


def _document(app: FastAPI, catalogue: Catalogue) -> JsonObject:
    document = get_openapi(title=app.title, version=app.version, description=DESCRIPTION, routes=app.routes)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = _problem_schema()
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    problem = {"description": "A problem", "content": {PROBLEM_MEDIA_TYPE: {"schema": {"$ref": f"{REF}Problem"}}}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            operation["responses"]["default"] = problem
            if not path.startswith("/v1"):
                operation["security"] = []
    _describe_kinds(document, catalogue)
    _gather_parts(document)
    return document


def _gather_parts(document: JsonObject) -> None:
    """Put what bodies are made of where references are looked for: among the schemas of the document."""
    for operations in document["paths"].values():
        for operation in operations.values():
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                document["components"]["schemas"] |= schema.pop("$defs", {})


def _describe_kinds(document: JsonObject, catalogue: Catalogue) -> None:
    """Say of the body that creates an operation which parameters each type takes."""
    content = document["paths"]["/v1/operations"]["post"]["requestBody"]["content"]["application/json"]
    general = content["schema"]
    general.pop("$defs", None)  # of the parameters in general, which each type's own take the place of
    content["schema"] = {"oneOf": []}
    for entry in catalogue.entries.values():
        name = entry.model.__name__
        document["components"]["schemas"][name] = entry.model.model_json_schema()
        properties = general["properties"] | {
            "type": {"const": entry.name, "description": entry.title},
            "params": {"$ref": f"{REF}{name}"},
        }
        content["schema"]["oneOf"].append(general | {"title": entry.name, "properties": properties})


def _problem_schema() -> JsonObject:
    codes = sorted(each.code for each in ProblemCode)
    path = "a dotted path into the body, query.NAME or header.NAME"
    return {
        "title": "Problem",
        "type": "object",
        "required": ["type", "title", "status", "code", "detail"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"type": "string", "enum": codes},
            "detail": {"type": "string", "description": "what is wrong with this request, and what to do next"},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["path", "message"],
                    "properties": {
                        "path": {"type": "string", "description": path},
                        "message": {"type": "string"},
                    },
                },
            },
            "retry_after_s": {"type": "integer"},
            "candidates": {"type": "array", "items": {"type": "string"}},
            "cluster": {"type": "string"},
            "clusters": {"type": "array", "items": {"type": "string"}},
            "needs": {"type": "string"},
            "allowed": {"type": "array", "items": {"type": "string"}},
            "project": {"type": "string"},
            "resource": {"type": "string"},
            "limit": {"type": "integer", "description": "how much of the resource the project may use"},
            "used": {"type": "integer", "description": "how much of it its other workloads use"},
            "asked": {"type": "integer", "description": "how much of it this one would use"},
            "workloads": {"type": "integer", "description": "how many workloads the project owns"},
            "conflicting_operation": {"type": "object"},
            "operation": {"$ref": f"{REF}Operation"},
        },
    }
