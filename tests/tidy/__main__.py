"""`python -m tests.tidy` lowers the ratchet to what is still needed; it never adds to it."""

import json
from collections.abc import Iterable

from tests.tidy import ratchet
from tests.tidy.finding import Finding
from tests.tidy.test_tidy import RULES
from tests.tidy.tree import ROOT, modules


def lowered(exceptions: ratchet.Exceptions, findings: Iterable[Finding]) -> dict[str, int | str]:
    """Return the exceptions that are still needed, each as small as it can be."""
    found = list(findings)
    kept: dict[str, int | str] = {}
    for key, allowed in exceptions.items():
        outlived = ratchet.judge(found, {key: allowed}).outlived
        amount = sum(each.amount for each in found if each.key == key)
        if not outlived:
            kept[key] = allowed
        elif isinstance(allowed, int) and amount:
            kept[key] = amount
    return kept


def main() -> None:
    """Rewrite the ratchet."""
    before, lines = ratchet.load(), [ratchet.HEAD]
    for rule in RULES:
        kept = lowered(before.get(rule.name, {}), rule.find(modules()))
        if kept:
            lines += ["", f"[{rule.name}]", *(f"{json.dumps(key)} = {json.dumps(kept[key])}" for key in sorted(kept))]
    (ROOT / ratchet.PATH).write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
