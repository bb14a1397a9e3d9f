"""Leases: the renewals that wait to be written; one hub's own, and lost with it, which its start allows for."""

from collections.abc import Iterable

from hangar.hub.usecases.renew import Renewal


class Leases:
    """The newest renewal of each cluster that is not in the store yet. Used in the event loop alone."""

    def __init__(self) -> None:
        self._waiting: dict[str, Renewal] = {}

    def keep(self, renewal: Renewal) -> None:
        """Remember a renewal until it is taken to be written."""
        self._waiting[renewal.cluster] = renewal

    def of(self, cluster: str) -> Renewal | None:
        """Return the renewal of a cluster that is not written yet."""
        return self._waiting.get(cluster)

    def take(self) -> list[Renewal]:
        """Return all renewals, to be written now."""
        taken = list(self._waiting.values())
        self._waiting.clear()
        return taken

    def put_back(self, renewals: Iterable[Renewal]) -> None:
        """Remember renewals that could not be written, but for those that newer ones have followed."""
        for renewal in renewals:
            self._waiting.setdefault(renewal.cluster, renewal)
