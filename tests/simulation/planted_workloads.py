"""Faults planted into what keeps workloads: who writes, what comes first, and when a drain is over."""

from dataclasses import replace
from typing import Any

import pytest

import hangar.domain.workloads.converge
import hangar.domain.workloads.workload
import hangar.hub.usecases.sweep
from hangar.domain.workloads.errands import Attempts
from hangar.domain.workloads.graph import Desired, has_drifted
from hangar.domain.workloads.workload import Deployment


def what_others_changed_is_written_over(patch: pytest.MonkeyPatch) -> None:
    """A graph is written until its numbers are those that are wanted, whoever changes them."""
    real = hangar.domain.workloads.converge._written

    def fighting(desired: Desired, allowed: Any, attempts: Attempts) -> Any:
        snapshot = attempts.view.snapshot
        graph = snapshot.graphs.get(desired.ref)
        if graph is not None and has_drifted(graph, desired):
            graphs = {**snapshot.graphs, desired.ref: replace(graph, applied_rev=None)}
            view = replace(attempts.view, snapshot=replace(snapshot, graphs=graphs))
            attempts = Attempts(view, attempts.now)
        return real(desired, allowed, attempts)

    patch.setattr(hangar.domain.workloads.converge, "_written", fighting)


def a_new_number_has_an_older_revision(patch: pytest.MonkeyPatch) -> None:
    """A deployment whose number changes goes back by one revision."""
    real = hangar.domain.workloads.workload._with

    def going_back(deployment: Deployment, *rest: Any) -> Deployment:
        after = real(deployment, *rest)
        is_old = after is not deployment and deployment.desired_rev
        return replace(after, desired_rev=deployment.desired_rev - 1) if is_old else after

    patch.setattr(hangar.domain.workloads.workload, "_with", going_back)


def the_others_are_not_waited_for(patch: pytest.MonkeyPatch) -> None:
    """A drained cluster goes down at once, whether or not others serve by then."""
    patch.setattr("hangar.kinds.workload_drain._left", lambda *_, **__: 0)


def what_ends_is_gone(patch: pytest.MonkeyPatch) -> None:
    """A drain is over as soon as its number is written, whatever pods are left."""
    patch.setattr(Deployment, "is_empty", property(lambda _: True))


def nobody_looks_at_the_time(patch: pytest.MonkeyPatch) -> None:
    """What waits on a workload is carried on only when a graph has changed."""
    patch.setattr(hangar.hub.usecases.sweep, "_conduct_workloads", lambda *_: None)


WORKLOADS = (
    what_others_changed_is_written_over,
    a_new_number_has_an_older_revision,
    the_others_are_not_waited_for,
    what_ends_is_gone,
    nobody_looks_at_the_time,
)
