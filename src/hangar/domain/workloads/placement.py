"""Placement: how a workload's global number of replicas becomes a number for each cluster."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from hangar.domain.ids import ClusterName

NOTHING: Mapping[ClusterName, int] = MappingProxyType({})


class Division(StrEnum):
    """What the global number means."""

    DIVIDED = "divided"  # it is shared out among the clusters
    DUPLICATED = "duplicated"  # every cluster runs all of it


class Weighing(StrEnum):
    """By what a divided number is shared out."""

    STATIC = "static"  # the weights that the policy gives
    FREE = "free"  # how many replicas each cluster could run: what it runs, and what it has room for


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many replicas one cluster may have; `most` None means any number."""

    least: int = 0
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """How a workload is placed. A cluster without a weight weighs 1; one without bounds has none of its own."""

    division: Division = Division.DIVIDED
    weighing: Weighing = Weighing.STATIC
    weights: Mapping[ClusterName, int] = field(default_factory=lambda: NOTHING)
    bounds: Mapping[ClusterName, Bounds] = field(default_factory=dict)
    default_bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True)
class Site:
    """A cluster that a workload is deployed on. `desired` is its number so far, `room` how many more it could run.

    An offline cluster is a site like any other: it keeps its share, and follows when it is back.
    """

    cluster: ClusterName
    desired: int = 0
    is_drained: bool = False
    room: int | None = None


@dataclass(frozen=True, slots=True)
class Misfit:
    """A number that the bounds do not let be placed: it would have to be between `least` and `most`, or 0."""

    replicas: int
    least: int
    most: int | None


def place(policy: Policy, replicas: int, sites: Iterable[Site]) -> Mapping[ClusterName, int] | Misfit:
    """Return the number of replicas of each site; drained ones have none.

    Where all are drained there is nothing to place. Divided numbers are as fair as whole numbers can be: by largest
    remainder within the bounds. Where that leaves a choice the fewest replicas move, and then the first names get more.
    """
    sites = sorted(sites, key=lambda site: site.cluster)
    open_sites = [site for site in sites if not site.is_drained]
    placed = dict.fromkeys((site.cluster for site in sites), 0)
    if replicas == 0 or not open_sites:
        return placed
    misfit = _misfit(policy, replicas, open_sites)
    if misfit is not None:
        return misfit
    if policy.division is Division.DUPLICATED:
        return placed | {site.cluster: replicas for site in open_sites}
    return placed | _shared_out(policy, replicas, open_sites)


def bounds_of(policy: Policy, cluster: ClusterName) -> Bounds:
    """Return how many replicas a cluster may have."""
    return policy.bounds.get(cluster, policy.default_bounds)


def total(policy: Policy, replicas: int, sites: int) -> int:
    """Return how many replicas a global number means on so many clusters that are not drained."""
    return replicas * sites if policy.division is Division.DUPLICATED else replicas


def _misfit(policy: Policy, replicas: int, sites: list[Site]) -> Misfit | None:
    bounds = [bounds_of(policy, site.cluster) for site in sites]
    mosts = [each.most for each in bounds if each.most is not None]
    if policy.division is Division.DUPLICATED:
        least, most = max(each.least for each in bounds), min(mosts, default=None)
    else:
        least, most = sum(each.least for each in bounds), sum(mosts) if len(mosts) == len(bounds) else None
    if replicas < least or (most is not None and replicas > most):
        return Misfit(replicas, least, most)
    return None


def _shared_out(policy: Policy, replicas: int, sites: list[Site]) -> dict[ClusterName, int]:
    quotas = _quotas(policy, replicas, sites)
    shared = {cluster: int(quota) for cluster, quota in quotas.items()}
    before = {site.cluster: site.desired for site in sites}

    def claim(cluster: ClusterName) -> tuple[Fraction, bool, ClusterName]:
        # Of equal remainders those stay that are there: the fewest replicas move.
        return (-(quotas[cluster] % 1), before[cluster] <= shared[cluster], cluster)

    for cluster in sorted(shared, key=claim)[: replicas - sum(shared.values())]:
        shared[cluster] += 1
    return shared


def _quotas(policy: Policy, replicas: int, sites: list[Site]) -> dict[ClusterName, Fraction]:
    """Return each site's share of a number, in proportion to its weight as far as its bounds allow."""
    weights = _weights(policy, sites)
    fixed: dict[ClusterName, Fraction] = {}
    while True:
        loose = [site.cluster for site in sites if site.cluster not in fixed]
        left = replicas - sum(fixed.values())
        shares = _in_proportion(Fraction(left), {cluster: weights[cluster] for cluster in loose})
        over = {cluster: share - _clamped(policy, cluster, share) for cluster, share in shares.items()}
        excess = sum(over.values())
        if not any(over.values()):
            return fixed | shares
        # The side that is further out is settled first: what is fixed then stays right when the rest is shared anew.
        settled = [cluster for cluster, by in over.items() if by and (excess == 0 or (by > 0) == (excess > 0))]
        fixed |= {cluster: _clamped(policy, cluster, shares[cluster]) for cluster in settled}


def _clamped(policy: Policy, cluster: ClusterName, share: Fraction) -> Fraction:
    bounds = bounds_of(policy, cluster)
    low = max(share, Fraction(bounds.least))
    return low if bounds.most is None else min(low, Fraction(bounds.most))


def _weights(policy: Policy, sites: list[Site]) -> dict[ClusterName, int]:
    if policy.weighing is Weighing.FREE:
        return {site.cluster: site.desired + (site.room or 0) for site in sites}
    return {site.cluster: policy.weights.get(site.cluster, 1) for site in sites}


def _in_proportion(amount: Fraction, weights: Mapping[ClusterName, int]) -> dict[ClusterName, Fraction]:
    whole = sum(weights.values())
    if whole == 0:  # nothing to go by: all alike
        return {cluster: amount / len(weights) for cluster in weights}
    return {cluster: amount * weight / whole for cluster, weight in weights.items()}
