"""Builds the programs of the test bed once a machine, and finds them in the user's cache folder afterwards."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent

KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
STAGES = (
    "node/fast/node-initialize.yaml",
    "node/heartbeat/node-heartbeat.yaml",
    "node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "pod/fast/pod-ready.yaml",
    "pod/fast/pod-complete.yaml",
)
PROGRESS_INTERVAL_S = 30.0
"""A cold build takes ten minutes: whoever waits is told at least this often that it goes on."""

GO_ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false"}


class BuildError(Exception):
    """The programs cannot be built; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the built programs and kwok's own stages are."""

    folder: Path

    def path(self, name: str) -> Path:
        """Return the path of a program such as `etcd`."""
        return self.folder / name

    def stage(self, name: str) -> Path:
        """Return the path of a file of STAGES by its last part, such as `pod-ready.yaml`."""
        return self.folder / "stages" / name


def cache_folder() -> Path:
    """Return the folder of today's programs: a change of go.sum names another one."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    digest = hashlib.sha256((HERE / "go.sum").read_bytes()).hexdigest()
    return Path(base) / "wingsmith-testbed" / digest[:16]


def build() -> Programs:
    """Build what is missing and return where everything is; quick when nothing is.

    Each program is built to a temporary name and renamed, so that an interrupted build leaves none
    half-written; a lock makes a second builder wait for the first.

    Raises:
        BuildError: Go is missing or a build failed.
    """
    programs = Programs(cache_folder())
    programs.folder.mkdir(parents=True, exist_ok=True)
    with _locked(programs.folder / "lock"):
        versions = _versions()
        _build_missing(
            programs, KUBERNETES, "k8s.io/kubernetes/cmd/{}", _kubernetes_flags(versions["k8s.io/kubernetes"])
        )
        _build_missing(programs, ("etcd",), "go.etcd.io/etcd/server/v3", ("-ldflags", "-s -w"))
        stamp = f"-s -w -X sigs.k8s.io/kwok/pkg/consts.Version={versions['sigs.k8s.io/kwok']}"
        _build_missing(programs, ("kwok",), "sigs.k8s.io/kwok/cmd/{}", ("-ldflags", stamp))
        _copy_stages(programs)
    return programs


def _kubernetes_flags(version: str) -> tuple[str, ...]:
    # Unstamped programs report a version that Helm and clients cannot parse.
    major, minor, _ = version.removeprefix("v").split(".")
    stamps = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "buildDate": "2026-11-01T00:00:00Z",
    }
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    words = [f"-X {package}.{key}={value}" for package in packages for key, value in stamps.items()]
    return ("-pgo=off", "-ldflags", " ".join(["-s -w", *words]))


def _versions() -> Mapping[str, str]:
    """Return the versions of go.mod's direct requirements, by module."""
    text = (HERE / "go.mod").read_text()
    return dict(re.findall(r"^\t(\S+) (v\S+)$", text, flags=re.MULTILINE))


def _build_missing(programs: Programs, names: tuple[str, ...], package: str, flags: tuple[str, ...]) -> None:
    missing = [name for name in names if not programs.path(name).exists()]
    if not missing:
        return
    _say(f"building {', '.join(missing)} (minutes on a machine that never did, seconds later)")
    started_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix=".building-", dir=programs.folder) as scratch:
        packages = [package.format(name) for name in missing]
        target = f"{scratch}/" if len(missing) > 1 else f"{scratch}/{missing[0]}"
        _go("build", "-trimpath", *flags, "-o", target, *packages)
        for name in missing:
            (Path(scratch) / name).rename(programs.path(name))
    _say(f"built {', '.join(missing)} in {time.monotonic() - started_s:.0f} s")


def _copy_stages(programs: Programs) -> None:
    missing = [stage for stage in STAGES if not programs.stage(Path(stage).name).exists()]
    if not missing:
        return
    source = Path(_go("list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok").strip()) / "kustomize" / "stage"
    programs.stage("").mkdir(exist_ok=True)
    for stage in missing:
        target = programs.stage(Path(stage).name)
        partial = target.with_suffix(".partial")
        shutil.copyfile(source / stage, partial)
        partial.rename(target)


def _go(*arguments: str) -> str:
    if shutil.which("go") is None:
        raise BuildError("the test bed's programs are missing and there is no `go` to build them: install Go 1.26")
    environment = os.environ | GO_ENVIRONMENT
    with subprocess.Popen(["go", *arguments], cwd=HERE, env=environment, stdout=subprocess.PIPE, text=True) as going:
        output = _waited_for(going)
    if going.returncode != 0:
        command = " ".join(arguments)
        raise BuildError(f"`go {command}` failed in {HERE} with code {going.returncode}: see the lines above")
    return output


def _waited_for(going: "subprocess.Popen[str]") -> str:
    started_s = time.monotonic()
    while True:
        try:
            output, _ = going.communicate(timeout=PROGRESS_INTERVAL_S)
        except subprocess.TimeoutExpired:
            _say(f"still building after {time.monotonic() - started_s:.0f} s")
        except BaseException:
            going.terminate()
            raise
        else:
            return output


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("waiting for another build of the same programs")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(line: str) -> None:
    print(f"testbed: {line}", file=sys.stderr, flush=True)
