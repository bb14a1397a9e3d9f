"""Prints documents and lists in the form that was asked for: data on stdout, hints on stderr."""

from __future__ import annotations

import os
import sys
import time

from hangar.cli.render import Table, clean, key_values, paint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import TextIO

    from hangar.cli.documents import Document
    from hangar.cli.render import Column

    NamesOf = Callable[[Iterator[Document]], Iterator[str]]


def hint(text: str) -> None:
    """Print a line on stderr."""
    print(clean(text), file=sys.stderr, flush=True)


def is_capable(stream: TextIO | None) -> bool:
    """Tell whether a stream is a terminal that can do more than print lines; None is a stream that was closed."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def is_coloured(stream: TextIO | None) -> bool:
    """Tell whether colours may be used: only on a capable terminal, and not if NO_COLOR is set."""
    return is_capable(stream) and not os.environ.get("NO_COLOR")


def size_of(stream: TextIO | None) -> tuple[int, int] | None:
    """Return the columns and rows of a terminal, or None where there is no terminal or it does not say."""
    if stream is None or not stream.isatty():
        return None
    try:
        size = os.get_terminal_size(stream.fileno())
    except OSError:
        return None
    return (size.columns, size.lines) if size.columns and size.lines else None


def width_of(stream: TextIO | None) -> int | None:
    """Return the width of a terminal in cells, or None where there is no terminal or it does not say."""
    size = size_of(stream)
    return size[0] if size is not None else None


def print_one(
    args: Namespace,
    document: Document,
    name: str,
    lines: Callable[[Document], Iterable[str]] = key_values,
) -> None:
    """Print one document; `name` is what `-o name` shows of it, `lines` makes what people read."""
    match "name" if args.quiet else args.output:
        case "name":
            print(clean(name))
        case "json":
            print(_json(document))
        case "yaml":
            print(yaml_of(document), end="")
        case _:
            for line in lines(document):
                print(line)


def print_list(
    args: Namespace, pages: Iterator[Document], columns: Sequence[Column], names: NamesOf, what: str
) -> None:
    """Print a list page by page; `what` names its items in the plural."""
    match "name" if args.quiet else args.output:
        case "name":
            for name in names(item for page in pages for item in page["items"]):
                print(clean(name))
        case "json":
            _print_json(pages)
        case "yaml":
            _print_yaml(pages)
        case _:
            _print_table(args, pages, columns, what)


def among(what: str, filters: Mapping[str, str | None]) -> str:
    """Return what a list is cut down to, for when it is empty: a mistyped filter is then seen at once."""
    given = [f"{name}={value}" for name, value in filters.items() if value is not None]
    return f"{what} with {', '.join(given)}" if given else what


def names_in(field: str) -> NamesOf:
    """Return the names that `-o name` shows where one field is the name."""
    return lambda items: (str(item[field]) for item in items)


def table_for(args: Namespace, columns: Sequence[Column], *, is_growing: bool = False) -> Table:
    """Return the table that was asked for: cut to the terminal, but for `-o wide`, which shows all of all columns."""
    is_wide = args.output == "wide"
    return Table(
        [column for column in columns if is_wide or not column.is_wide],
        has_header=not args.no_headers,
        is_coloured=is_coloured(sys.stdout),
        width_max=None if is_wide else width_of(sys.stdout),
        is_growing=is_growing,
    )


def table_lines(columns: Iterable[Column], items: list[Document], *, is_wide: bool) -> Iterator[str]:
    """Yield a table that stands among other lines, cut to the terminal unless it is to be wide."""
    table = Table(
        list(columns),
        has_header=True,
        is_coloured=is_coloured(sys.stdout),
        width_max=None if is_wide else width_of(sys.stdout),
    )
    yield from table.lines(items, time.time())


def labelled(label: str, text: str, colour: str) -> str:
    """Return a line with its label, which has a colour where colours may be used."""
    return f"{paint(label, colour) if is_coloured(sys.stdout) else label}: {text}"


def _print_table(args: Namespace, pages: Iterator[Document], columns: Sequence[Column], what: str) -> None:
    table = table_for(args, columns)
    count = 0
    for page in pages:
        count += len(page["items"])
        if page["items"] or page.get("next_page_token") is None:
            for line in table.lines(page["items"], time.time()):
                print(line)
    if not count:
        hint(f"no {what}")


def _print_json(pages: Iterator[Document]) -> None:
    """Print a list as the API gives it, in one piece, without holding all of it."""
    before, last = '{\n  "items": [', {}
    for last in pages:
        for item in last["items"]:
            print(f"{before}\n    " + _json(item).replace("\n", "\n    "), end="")
            before = ","
    print("\n  ]" if before == "," else f"{before}]", end="")
    for name, value in _all_but_items(last).items():
        print(f",\n  {_json(name)}: {_json(value)}", end="")
    print("\n}")


def _print_yaml(pages: Iterator[Document]) -> None:
    before, last = "items:\n", {}
    for last in pages:
        if last["items"]:
            print(before + yaml_of(last["items"]), end="")
            before = ""
    print(yaml_of(_all_but_items(last) if not before else {"items": [], **_all_but_items(last)}), end="")


def _all_but_items(page: Document) -> Document:
    return {name: value for name, value in page.items() if name != "items"}


def _json(value: object) -> str:
    import json

    return json.dumps(value, indent=2)


def compact_json(value: object) -> str:
    """Return a JSON document on one line."""
    import json

    return json.dumps(value)


def yaml_of(value: object) -> str:
    """Return a YAML document, with a line's end."""
    import yaml  # the only user of PyYAML, and only when asked for

    text: str = yaml.safe_dump(value, sort_keys=False, width=sys.maxsize)
    return text
