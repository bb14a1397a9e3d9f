"""How a global number becomes a number for each cluster, held against a slow oracle that tries every way to do it."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.ids import ClusterName
from hangar.domain.workloads.placement import Bounds, Division, Misfit, Policy, Site, Weighing, place, total

NAMES = [ClusterName(each) for each in ("ams-1", "fra-1", "iad-1", "sin-1")]


def sites(*numbers: int) -> list[Site]:
    return [Site(name, number) for name, number in zip(NAMES, numbers, strict=False)]


def placed(policy: Policy, replicas: int, where: list[Site]) -> list[int]:
    found = place(policy, replicas, where)
    assert not isinstance(found, Misfit)
    return [found[site.cluster] for site in where]


# --- by hand ----------------------------------------------------------------------------------------------------------


def test_a_divided_number_is_shared_out_and_the_first_names_get_the_rest() -> None:
    assert placed(Policy(), 8, sites(0, 0, 0)) == [3, 3, 2]


def test_the_rest_stays_where_it_is() -> None:
    assert placed(Policy(), 8, sites(2, 3, 3)) == [2, 3, 3]
    assert placed(Policy(), 7, sites(2, 3, 3)) == [2, 3, 2]


def test_weights_decide_by_largest_remainder() -> None:
    policy = Policy(weights={NAMES[0]: 3, NAMES[1]: 2, NAMES[2]: 1})
    assert placed(policy, 10, sites(0, 0, 0)) == [5, 3, 2]


def test_what_bounds_hold_back_goes_to_the_others() -> None:
    policy = Policy(weights={NAMES[0]: 8}, bounds={NAMES[0]: Bounds(0, 3), NAMES[2]: Bounds(4)})
    assert placed(policy, 10, sites(0, 0, 0)) == [3, 3, 4]


def test_a_duplicated_number_is_every_clusters_own() -> None:
    policy = Policy(Division.DUPLICATED)
    assert placed(policy, 4, sites(0, 9, 0)) == [4, 4, 4]
    assert total(policy, 4, 3) == 12


def test_a_drained_cluster_is_left_out_and_the_others_take_over() -> None:
    where = [Site(NAMES[0], 2), Site(NAMES[1], 2, is_drained=True), Site(NAMES[2], 2)]
    assert placed(Policy(), 6, where) == [3, 0, 3]


def test_free_capacity_counts_what_a_cluster_runs_and_what_it_has_room_for() -> None:
    where = [Site(NAMES[0], 2, room=6), Site(NAMES[1], 0, room=4), Site(NAMES[2], 0, room=0)]
    assert placed(Policy(weighing=Weighing.FREE), 6, where) == [4, 2, 0]


def test_nothing_is_always_allowed_and_other_numbers_only_within_the_bounds() -> None:
    policy = Policy(default_bounds=Bounds(1, 3))
    assert placed(policy, 0, sites(1, 1)) == [0, 0]
    assert place(policy, 1, sites(1, 1)) == Misfit(1, 2, 6)
    assert place(policy, 7, sites(1, 1)) == Misfit(7, 2, 6)
    assert place(Policy(Division.DUPLICATED, default_bounds=Bounds(1, 3)), 4, sites(1, 1)) == Misfit(4, 1, 3)


def test_where_all_are_drained_there_is_nothing_to_place() -> None:
    assert placed(Policy(default_bounds=Bounds(1)), 2, [Site(NAMES[0], 1, is_drained=True)]) == [0]


# --- by chance, against the oracle ------------------------------------------------------------------------------------

bounds = st.tuples(st.integers(0, 3), st.none() | st.integers(3, 6)).map(lambda pair: Bounds(*pair))
policies = st.builds(
    Policy,
    weights=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 5)),
    bounds=st.dictionaries(st.sampled_from(NAMES), bounds),
)
site_lists = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=4).map(
    lambda rows: [
        Site(name, number, is_drained=is_drained) for name, (number, is_drained) in zip(NAMES, rows, strict=False)
    ]
)


@given(policies, st.integers(0, 12), site_lists)
def test_it_places_as_the_oracle_does(policy: Policy, replicas: int, where: list[Site]) -> None:
    found = place(policy, replicas, where)
    open_sites = [site for site in where if not site.is_drained]
    replicas = replicas if open_sites else 0
    ways = [] if replicas == 0 else list(_ways(replicas, [_bounds(policy, site) for site in open_sites]))
    if replicas and not ways:
        assert isinstance(found, Misfit)
        return
    assert not isinstance(found, Misfit)
    assert [found[site.cluster] for site in where if site.is_drained] == [0] * (len(where) - len(open_sites))
    if replicas == 0:
        assert set(found.values()) == {0}
        return
    quotas = _filled(policy, replicas, open_sites)
    best = min(ways, key=lambda way: _badness(way, quotas, open_sites))
    assert tuple(found[site.cluster] for site in open_sites) == best


@given(policies, st.integers(0, 12), site_lists)
def test_what_is_placed_stays_when_it_is_placed_again(policy: Policy, replicas: int, where: list[Site]) -> None:
    found = place(policy, replicas, where)
    if not isinstance(found, Misfit):
        again = [Site(site.cluster, found[site.cluster], is_drained=site.is_drained) for site in reversed(where)]
        assert place(policy, replicas, again) == found


def _bounds(policy: Policy, site: Site) -> Bounds:
    return policy.bounds.get(site.cluster, policy.default_bounds)


def _ways(replicas: int, limits: list[Bounds]) -> Iterator[tuple[int, ...]]:
    """Yield every way to give out a number within the bounds."""
    if not limits:
        if replicas == 0:
            yield ()
        return
    first, *rest = limits
    most = replicas if first.most is None else min(first.most, replicas)
    for number in range(first.least, most + 1):
        yield from ((number, *others) for others in _ways(replicas - number, rest))


def _filled(policy: Policy, replicas: int, where: list[Site]) -> Mapping[ClusterName, Fraction]:
    """Return the exact shares by raising one level, to each cluster's weight, until all is given out.

    Clusters without a weight come after all others have as much as they may.
    """
    shares = {site.cluster: Fraction(_bounds(policy, site).least) for site in where}
    weights = {site.cluster: policy.weights.get(site.cluster, 1) for site in where}
    for group in (
        [site for site in where if weights[site.cluster]],
        [site for site in where if not weights[site.cluster]],
    ):
        weight = {site.cluster: weights[site.cluster] or 1 for site in group}
        levels = sorted(
            {Fraction(0)} | {Fraction(edge, weight[site.cluster]) for site in group for edge in _edges(policy, site)}
        )
        for at, above in zip(levels, [*levels[1:], None], strict=True):
            left = replicas - sum(shares.values(), Fraction(0))
            rising = [
                site
                for site in group
                if shares[site.cluster] <= at * weight[site.cluster]
                and shares[site.cluster] != _bounds(policy, site).most
            ]
            if not rising or left <= 0:
                continue
            step = left / sum(weight[site.cluster] for site in rising)
            step = step if above is None else min(step, above - at)
            for site in rising:
                shares[site.cluster] += step * weight[site.cluster]
    return shares


def _edges(policy: Policy, site: Site) -> list[int]:
    limits = _bounds(policy, site)
    return [limits.least] if limits.most is None else [limits.least, limits.most]


def _badness(
    way: tuple[int, ...], quotas: Mapping[ClusterName, Fraction], where: list[Site]
) -> tuple[Fraction, int, tuple[int, ...]]:
    """Return how unfair a way is, then how much it moves, then how little the first names get."""
    unfair = sum(((number - quotas[site.cluster]) ** 2 for number, site in zip(way, where, strict=True)), Fraction(0))
    moved = sum(abs(number - site.desired) for number, site in zip(way, where, strict=True))
    return unfair, moved, tuple(-number for number in way)
