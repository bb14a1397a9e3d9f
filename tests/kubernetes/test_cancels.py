"""After a cancelled drain has ended nothing of it reaches the API server, whenever it was cancelled."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from random import Random

import pytest

from testbed.bed import Bed
from testbed.ground import QUICK, Ground
from testbed.stack import Stack
from tests.kubernetes.scenes import Played, Scene, played
from tests.kubernetes.told import OPERATOR, Document, evicted, listed, uids

PODS = 8
"""A cancel comes when some have gone and some have not: one goes every half second."""

DELAY_MAX_S = 2.5
"""From the first eviction to the cancel, at most."""

ROUNDING = timedelta(milliseconds=1)
"""What an operation's instants are cut down to."""


def cancelled_at_a_moment(seed: int, ground: Ground) -> None:
    moment = Random(seed)
    ends_after_s = moment.uniform(0.2, 1.5)
    node = ground.add_node()
    before = ground.deploy("api", PODS, replace(QUICK, ready_after="500ms", terminate_after=f"{ends_after_s:.3f}s"))
    ground.guard("api", max_unavailable=1)
    ground.add_node()
    operation = ground.hub.submit("node.drain", node)
    ground.hub.wait(operation, "the first eviction", _has_evicted)
    ground.hub.pause(operation, moment.uniform(0.0, DELAY_MAX_S))
    ground.hub.cancel(operation)
    done = ground.hub.finish(operation)
    assert done["phase"] == "cancelled"
    ground.wait_ready("api", PODS)  # now the budget is open again, and a drain would go on

    entries = ground.evictions()
    accepted = set(evicted(entries))
    moved, terminating, unknown, untouched = (
        uids(listed(done, name)) for name in ("moved", "terminating", "unknown", "untouched")
    )
    assert accepted
    assert untouched
    assert accepted == moved | terminating | unknown
    assert untouched == uids(before) - accepted
    assert untouched <= uids(ground.ready_pods("api"))
    finished_at = datetime.fromisoformat(done["finished_at"]) + ROUNDING
    assert [each for each in entries if each.at > finished_at] == []
    assert not any(each.resource == "pods" for each in ground.bed.audit.writes(OPERATOR))


def _has_evicted(seen: Document) -> bool:
    progress = seen["progress"]
    return progress is not None and (progress["done"] > 0 or "terminating" in progress["message"])


SCENES: Mapping[int, Scene] = {seed: partial(cancelled_at_a_moment, seed) for seed in range(24)}


@pytest.fixture(scope="module")
def all_played(bed: Bed, stack: Stack) -> Iterator[Played]:
    with played(SCENES.values(), bed, stack, "cancel") as futures:
        yield futures


@pytest.mark.parametrize("seed", SCENES)
def test_nothing_is_sent_after_a_cancelled_drain_has_ended(seed: int, all_played: Played) -> None:
    all_played[SCENES[seed]].result()
