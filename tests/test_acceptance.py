"""The script that shows the release's promises: it tells kept from broken, and names only what is there."""

import sys

import pytest

from acceptance.__main__ import ROOT, main
from acceptance.promises import PROMISES, Promise, Proof


def saying(words: str, exit_code: int = 0) -> tuple[str, ...]:
    return (sys.executable, "-c", f"print({words!r}); raise SystemExit({exit_code})")


GOOD = Promise("it greets", (Proof(saying("hello"), says=("hello",)), Proof(saying("bye", 11), exit_code=11)))
RUDE = Promise("it greets too", (Proof(saying("go away"), says=("hello",)),))
BROKEN = Promise("it works", (Proof(saying("oops", 3)),))


def test_a_promise_is_kept_when_every_proof_exits_and_says_as_it_must(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [GOOD]) == 0
    out = capsys.readouterr().out
    assert "      hello\n    ok after " in out
    assert out.endswith("Promises of release 0.1:\n  ok       1  it greets\n1 of 1 are kept\n")


def test_a_broken_promise_says_why_and_the_others_are_shown_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], [RUDE, BROKEN, GOOD]) == 1
    out = capsys.readouterr().out
    assert "    it did not say 'hello'\n    FAILED after " in out
    assert "    it exited with 3, not with 0\n    FAILED after " in out
    assert out.endswith(
        "  FAILED   1  it greets too\n  FAILED   2  it works\n  ok       3  it greets\n1 of 3 are kept\n"
    )


def test_single_promises_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["2"], [BROKEN, GOOD]) == 0
    with pytest.raises(SystemExit):
        main(["3"], [BROKEN, GOOD])
    assert "there is no promise 3; there are 1 to 2" in capsys.readouterr().err


def test_the_list_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"], [BROKEN]) == 0
    assert capsys.readouterr().out.startswith("\n 1  it works\n    $ python -c ")


def test_every_test_and_target_that_a_proof_names_is_there() -> None:
    commands = [proof.command for promise in PROMISES for proof in promise.proofs]
    named = [word.partition("::") for command in commands for word in command if word.startswith("tests/")]
    assert named != []
    for file, _, test in named:
        assert (ROOT / file).is_dir() or f"def {test}" in (ROOT / file).read_text(encoding="utf-8")
    targets = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert all(f"\n{command[1]}:" in targets for command in commands if command[0] == "make")
