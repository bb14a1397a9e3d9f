"""The oracle of placements: it tries every way to give out a number, and picks the fairest that moves the fewest."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from hangar.domain.ids import ClusterName
from hangar.domain.workloads.placement import Bounds, Division, Policy, Site


def best_way(policy: Policy, replicas: int, where: Sequence[Site]) -> Mapping[ClusterName, int] | None:
    """Return the number of each cluster under static weights, None where no way keeps the bounds.

    Slow: all ways are tried.
    """
    open_sites = [site for site in where if not site.is_drained]
    nothing = {site.cluster: 0 for site in where}
    if replicas == 0 or not open_sites:
        return nothing
    limits = [_bounds(policy, site) for site in open_sites]
    if policy.division is Division.DUPLICATED:
        ways = [(replicas,) * len(limits)] if all(_is_within(replicas, each) for each in limits) else []
    else:
        ways = list(_ways(replicas, limits))
    if not ways:
        return None
    quotas = _filled(policy, replicas, open_sites)
    best = min(ways, key=lambda way: _badness(way, quotas, open_sites))
    return nothing | {site.cluster: number for site, number in zip(open_sites, best, strict=True)}


def _is_within(number: int, limits: Bounds) -> bool:
    return limits.least <= number and (limits.most is None or number <= limits.most)


def _bounds(policy: Policy, site: Site) -> Bounds:
    return policy.bounds.get(site.cluster, policy.default_bounds)


def _ways(replicas: int, limits: Sequence[Bounds]) -> Iterator[tuple[int, ...]]:
    """Yield every way to give out a number within the bounds."""
    if not limits:
        if replicas == 0:
            yield ()
        return
    first, *rest = limits
    most = replicas if first.most is None else min(first.most, replicas)
    for number in range(first.least, most + 1):
        yield from ((number, *others) for others in _ways(replicas - number, rest))


def _filled(policy: Policy, replicas: int, where: Sequence[Site]) -> Mapping[ClusterName, Fraction]:
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
    way: tuple[int, ...], quotas: Mapping[ClusterName, Fraction], where: Sequence[Site]
) -> tuple[Fraction, int, tuple[int, ...]]:
    """Return how unfair a way is, then how much it moves, then how little the first names get."""
    unfair = sum(((number - quotas[site.cluster]) ** 2 for number, site in zip(way, where, strict=True)), Fraction(0))
    moved = sum(abs(number - site.desired) for number, site in zip(way, where, strict=True))
    return unfair, moved, tuple(-number for number in way)
