"""The type of what the hub sends: plain dicts, as JSON decodes them; their fields are those of hangar.wire.shown."""

from typing import Any, TypeAlias

Document: TypeAlias = dict[str, Any]
