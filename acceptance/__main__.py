"""`python -m acceptance` shows each promise of this release by commands, and tells which are kept."""

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from acceptance.promises import PROMISES, PYTHON, Promise, Proof

ROOT = Path(__file__).resolve().parents[1]

LINES_SHOWN = 12
"""The end of what a command printed: its outcome is there."""

LINES_SHOWN_FAILED = 60


def main(words: Sequence[str] | None = None, promises: Sequence[Promise] = PROMISES) -> int:
    """Run the command line; returns 0 where all promises asked for are kept, 1 where one is not, 2 wrongly asked."""
    parser = argparse.ArgumentParser(prog="python -m acceptance", description="Show each promise of this release.")
    parser.add_argument("number", nargs="*", type=int, help="only these promises; all by default")
    parser.add_argument("--list", action="store_true", help="list the promises and the commands that show them")
    args = parser.parse_args(words)
    numbers = args.number or range(1, len(promises) + 1)
    if unknown := [str(number) for number in numbers if not 1 <= number <= len(promises)]:
        parser.error(f"there is no promise {', '.join(unknown)}; there are 1 to {len(promises)}")
    kept: dict[int, bool] = {}
    with tempfile.TemporaryDirectory(prefix="wingsmith-acceptance-") as home:
        for number in numbers:
            print(f"\n{number:2}  {promises[number - 1].text}", flush=True)
            proofs = promises[number - 1].proofs
            outcomes = [_holds(proof, _environment(home), is_listed=args.list) for proof in proofs]
            kept[number] = all(outcomes)
    return 0 if args.list else _summary(kept, promises)


def _environment(home: str) -> dict[str, str]:
    """Return the environment of a proof: this checkout's programs first, and no hub or demo of the user's."""
    path = f"{Path(PYTHON).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, "PATH": path, "XDG_RUNTIME_DIR": home, "XDG_CONFIG_HOME": home}
    return {name: value for name, value in environment.items() if not name.startswith("HGR_")}


def _holds(proof: Proof, environment: dict[str, str], *, is_listed: bool) -> bool:
    """Run one proof, or only list it; tell whether it held."""
    print(f"    $ {shlex.join('python' if word == PYTHON else word for word in proof.command)}", flush=True)
    if is_listed:
        return True
    began_s = time.monotonic()
    ran = subprocess.run(
        proof.command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    unsaid = [words for words in proof.says if words not in ran.stdout]
    is_held = ran.returncode == proof.exit_code and not unsaid
    for line in ran.stdout.rstrip().splitlines()[-(LINES_SHOWN if is_held else LINES_SHOWN_FAILED) :]:
        print(f"      {line}")
    if ran.returncode != proof.exit_code:
        print(f"    it exited with {ran.returncode}, not with {proof.exit_code}")
    for words in unsaid:
        print(f"    it did not say {words!r}")
    print(f"    {'ok' if is_held else 'FAILED'} after {time.monotonic() - began_s:.0f} s", flush=True)
    return is_held


def _summary(kept: dict[int, bool], promises: Sequence[Promise]) -> int:
    print("\nPromises of release 0.1:")
    for number, is_kept in kept.items():
        print(f"  {'ok    ' if is_kept else 'FAILED'}  {number:2}  {promises[number - 1].text}")
    print(f"{sum(kept.values())} of {len(kept)} are kept")
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
