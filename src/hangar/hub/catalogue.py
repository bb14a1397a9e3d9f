"""The kinds as the hub knows them: what they are called, what they need, and which parameters they take."""

import dataclasses
from collections.abc import Mapping
from typing import Any, Protocol, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from hangar.domain.kind import needed
from hangar.hub.validation import field_errors
from hangar.wire.operator import JsonObject
from hangar.wire.problems import FieldError


class KindFacts(Protocol):
    """What the hub reads of a kind; how a kind decides is none of its business."""

    @property
    def name(self) -> str:
        """Return the type of operation: `node.drain`."""

    @property
    def version(self) -> int:
        """Return the version of its parameters and memory."""

    @property
    def title(self) -> str:
        """Return what it does, in a line."""

    @property
    def needs(self) -> str:
        """Return the member of a cluster's allowed set that it needs."""

    @property
    def runs_in(self) -> str:
        """Return who carries it out: the `operator` of a cluster, or the `hub`."""

    @property
    def params(self) -> type[Any]:
        """Return the dataclass of its parameters, whose fields carry `help`, `min` and `max` as metadata."""


class Entry:
    """A kind with the model that checks its parameters."""

    def __init__(self, kind: KindFacts) -> None:
        self.name = kind.name
        self.version = kind.version
        self.title = kind.title
        self.runs_in = kind.runs_in
        self._needs = kind.needs
        self._params = kind.params
        self.model = _model(kind)

    def needs(self, params: JsonObject) -> tuple[str, ...]:
        """Return the members of a cluster's allowed set that an operation with these parameters needs."""
        return needed(self._needs, self._params, params)

    def check(self, params: JsonObject) -> tuple[JsonObject, tuple[FieldError, ...]]:
        """Return the parameters with their defaults, and all that is wrong with them."""
        try:
            return self.model.model_validate(params).model_dump(mode="json"), ()
        except ValidationError as error:
            return {}, field_errors(error, root="params", allowed=tuple(self.model.model_fields))


class Catalogue:
    """All kinds, by name."""

    def __init__(self, kinds: Mapping[str, KindFacts]) -> None:
        self.entries: Mapping[str, Entry] = {name: Entry(kind) for name, kind in sorted(kinds.items())}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the types of operations there are, sorted."""
        return tuple(self.entries)


def _model(kind: KindFacts) -> type[BaseModel]:
    hints = get_type_hints(kind.params)
    fields: JsonObject = {}
    for each in dataclasses.fields(kind.params):
        limits = each.metadata
        default = ... if each.default is dataclasses.MISSING else each.default
        info = Field(default=default, ge=limits.get("min"), le=limits.get("max"), description=limits.get("help"))
        fields[each.name] = (hints[each.name], info)
    name = "".join(part.title() for part in kind.name.split(".")) + "Params"
    return create_model(name, __config__=ConfigDict(extra="forbid", strict=True), **fields)
