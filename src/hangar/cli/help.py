"""What hgr says about itself: its nouns, their verbs, and its exit codes."""

from __future__ import annotations

from hangar.cli.nouns import COMMANDS, NOUNS, WORDS, verbs_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def overview() -> str:
    """Return the help of hgr as a whole."""
    return "\n".join(
        (
            "usage: hgr NOUN VERB [ARGUMENTS]",
            "",
            "Drives a fleet of GPU inference clusters: recorded, explained, cancellable operations.",
            "",
            "nouns:",
            *_listed(NOUNS),
            "",
            "also:",
            *_listed({**COMMANDS, **WORDS}),
            "",
            "which hub (before the noun, or after the verb):",
            *_listed(
                {
                    "--server URL": "the hub's address (HGR_SERVER)",
                    "--context NAME": "a context of `hgr context` (HGR_CONTEXT)",
                    "--token-file FILE": "a file with the token (HGR_TOKEN_FILE; HGR_TOKEN is the token itself)",
                }
            ),
            "A running hangar-demo is found without any of them.",
            "",
            "hgr NOUN --help lists a noun's verbs, hgr NOUN VERB --help explains one.",
        )
    )


def of_noun(noun: str) -> str:
    """Return the help of one noun."""
    verbs = {name: verb.summary for name, verb in verbs_of(noun).items()}
    return "\n".join(
        (
            f"usage: hgr {noun} VERB [ARGUMENTS]",
            "",
            f"{NOUNS[noun]}.",
            "",
            "verbs:",
            *_listed(verbs),
            "",
            f"hgr {noun} VERB --help explains one.",
        )
    )


def exit_codes() -> str:
    """Return the exit codes and their meanings, one a line."""
    from hangar.cli.exits import Exit

    return "\n".join(f"{code.value:>3}  {code.meaning}" for code in Exit)


def _listed(texts: Mapping[str, str]) -> list[str]:
    width = max(map(len, texts))
    return [f"  {name:<{width}}  {text}" for name, text in texts.items()]
