"""What the API server wraps around objects, or says instead of them: watch events, lists, refusals."""

import msgspec

INITIAL_EVENTS_END_ANNOTATION = "k8s.io/initial-events-end"


class WatchEvent(msgspec.Struct, frozen=True, rename="camel"):
    """One line of a watch; the object is decoded when its type is known."""

    type: str
    object: msgspec.Raw


class BookmarkAnnotations(msgspec.Struct, frozen=True, rename="camel"):
    """The mark at the end of a watch's initial events."""

    initial_events_end: str = msgspec.field(default="", name=INITIAL_EVENTS_END_ANNOTATION)


class BookmarkMeta(msgspec.Struct, frozen=True, rename="camel"):
    """A bookmark's metadata."""

    resource_version: str
    annotations: BookmarkAnnotations = BookmarkAnnotations()


class Bookmark(msgspec.Struct, frozen=True, rename="camel"):
    """The object of a bookmark: a version, and nothing else that means anything."""

    metadata: BookmarkMeta


class ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    """A list's metadata; `continue_` names the next page."""

    resource_version: str
    continue_: str = msgspec.field(default="", name="continue")


class ListPage(msgspec.Struct, frozen=True, rename="camel"):
    """One page of a list."""

    metadata: ListMeta
    items: tuple[msgspec.Raw, ...] | None = None


class Cause(msgspec.Struct, frozen=True, rename="camel"):
    """One cause of a refusal; `reason` is the word programs read."""

    reason: str = ""
    message: str = ""


class StatusDetails(msgspec.Struct, frozen=True, rename="camel"):
    """What a refusal is about: the kind (a plural, such as `pods`) and name of an object, and the causes."""

    kind: str = ""
    name: str = ""
    causes: tuple[Cause, ...] = ()
    retry_after_seconds: int = 0


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """The API server's answer when it is not an object."""

    code: int = 0
    reason: str = ""
    message: str = ""
    details: StatusDetails = StatusDetails()


class ServedKind(msgspec.Struct, frozen=True, rename="camel"):
    """One kind that is served, by its plural; subresources too."""

    name: str = ""


class ServedKinds(msgspec.Struct, frozen=True, rename="camel"):
    """What is served of one version of a group."""

    resources: tuple[ServedKind, ...] | None = None
