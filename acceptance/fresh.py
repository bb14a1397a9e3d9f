"""A newcomer's first minutes: clone, `make demo`, and a second shell that does what the demo says."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]

DOWN_WITHIN_S = 30
"""The hub lets requests end for a few seconds."""

LAST_LINE = "Ctrl-C ends the fleet and forgets it."
UP_WITHIN_S = 900
"""Installing takes a minute or two from a warm cache, and several over a slow line."""

COMMANDS = """\
set -ex
hgr node ls --cluster iad-1 | head -3
hgr operation create node.drain iad-1-n02 --reason "firmware upgrade" --wait
hgr node get iad-1-n02 | grep -x 'cordoned: true'
hgr operation create node.uncordon iad-1-n02 --wait
hgr node get iad-1-n02 | grep -x 'cordoned: false'
hgr operation create node.cordon iad-1-n03 --wait
hgr node get iad-1-n03 | grep -x 'cordoned: true'
hgr operation ls
"""


def main() -> int:
    """Clone what is committed, run the demo there and use it; returns 0 where all went as the README says."""
    with tempfile.TemporaryDirectory(prefix="wingsmith-fresh-") as folder:
        clone = Path(folder, "wingsmith")
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {**os.environ, "XDG_RUNTIME_DIR": folder, "XDG_CONFIG_HOME": folder}
        for name in [each for each in environment if each.startswith("HGR_")] + ["PYTHONPATH", "VIRTUAL_ENV"]:
            environment.pop(name, None)
        return _in_two_shells(clone, environment)


def _in_two_shells(clone: Path, environment: dict[str, str]) -> int:
    began_s = time.monotonic()
    demo = subprocess.Popen(
        ["make", "demo"], cwd=clone, env=environment, stdout=subprocess.PIPE, text=True, process_group=0
    )
    assert demo.stdout is not None
    try:
        said: list[str] = []
        signal.signal(signal.SIGALRM, _too_late)
        signal.alarm(UP_WITHIN_S)
        for line in demo.stdout:
            said.append(line)
            print(line, end="", flush=True)
            if line.strip() == LAST_LINE:
                break
        signal.alarm(0)
        (export,) = [line.strip() for line in said if line.strip().startswith("export PATH=")]
        print(f"up after {time.monotonic() - began_s:.0f} s, with all that had to be installed", flush=True)
        used = subprocess.run(["sh", "-c", f"{export}\n{COMMANDS}"], env=environment, check=False)
        os.killpg(demo.pid, signal.SIGINT)
        ended = demo.wait(DOWN_WITHIN_S)
        print(f"the second shell exited with {used.returncode}, make demo after Ctrl-C with {ended}")
        return used.returncode or (0 if ended in (0, -signal.SIGINT) else 1)  # make dies of the signal that it was sent
    finally:
        if demo.poll() is None:
            os.killpg(demo.pid, signal.SIGKILL)
            demo.wait()


def _too_late(_number: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"make demo did not come up within {UP_WITHIN_S} s")


if __name__ == "__main__":
    sys.exit(main())
