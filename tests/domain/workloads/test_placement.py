"""How a global number becomes a number for each cluster, held against a slow oracle that tries every way to do it."""

from hypothesis import given
from hypothesis import strategies as st

from hangar.domain.ids import ClusterName
from hangar.domain.workloads.placement import Bounds, Division, Misfit, Policy, Site, Weighing, place, total
from tests.domain.workloads.oracle import best_way

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
    st.sampled_from(Division),
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
    best = best_way(policy, replicas, where)
    assert isinstance(found, Misfit) if best is None else found == best


@given(policies, st.integers(0, 12), site_lists)
def test_what_is_placed_stays_when_it_is_placed_again(policy: Policy, replicas: int, where: list[Site]) -> None:
    found = place(policy, replicas, where)
    if not isinstance(found, Misfit):
        again = [Site(site.cluster, found[site.cluster], is_drained=site.is_drained) for site in reversed(where)]
        assert place(policy, replicas, again) == found
