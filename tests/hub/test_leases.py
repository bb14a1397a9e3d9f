"""Renewals that wait to be written: the newest of each cluster."""

from hangar.hub.leases import Leases
from hangar.hub.usecases.renew import Renewal

FIRST = Renewal("iad-1", "ses_iad-1_1", 1, 1_000)
SECOND = Renewal("iad-1", "ses_iad-1_1", 1, 2_000)
OTHER = Renewal("ord-1", "ses_ord-1_1", 1, 1_500)


def test_the_newest_of_each_cluster_is_kept_until_it_is_taken() -> None:
    leases = Leases()
    for renewal in (FIRST, OTHER, SECOND):
        leases.keep(renewal)
    assert leases.of("iad-1") == SECOND
    assert leases.take() == [SECOND, OTHER]
    assert leases.take() == []
    assert leases.of("iad-1") is None


def test_what_is_put_back_does_not_replace_what_came_since() -> None:
    leases = Leases()
    leases.keep(SECOND)
    leases.put_back([FIRST, OTHER])
    assert sorted(each.seen_us for each in leases.take()) == [1_500, 2_000]
