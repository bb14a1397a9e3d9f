"""Crowd: pods are found by label, by term and by claim, also those that come later."""

from hangar.domain.fit.crowd import Crowd, applies
from hangar.domain.placing import HOST_NAME, Demands, PodTerm, Requirement, SelectorOp
from hangar.domain.snapshot import Pod
from tests.domain.building import a_pod

API = (Requirement("app", SelectorOp.IN, frozenset({"api"})),)
NOT_OLD = Requirement("old", SelectorOp.DOES_NOT_EXIST)
HERE = frozenset({"default"})


def names(pods: object) -> list[str]:
    assert isinstance(pods, list)
    return sorted(each.ref.name for each in pods)


def test_pods_are_found_by_all_of_a_selector_in_its_namespaces() -> None:
    others = [a_pod("old", labels={"app": "api", "old": ""}), a_pod("web", labels={"app": "web"})]
    crowd = Crowd([a_pod("a"), a_pod("far", namespace="far"), *others])
    assert names(list(crowd.matching(API, HERE))) == ["a", "old"]
    assert names(list(crowd.matching((*API, NOT_OLD), HERE))) == ["a"]
    assert names(list(crowd.matching(API, None))) == ["a", "far", "old"]
    assert names(list(crowd.matching((NOT_OLD,), HERE))) == ["a", "web"]
    assert names(list(crowd.matching((), HERE))) == ["a", "old", "web"]


def test_a_pod_that_comes_later_is_found_as_well() -> None:
    crowd = Crowd()
    assert list(crowd.matching(API, HERE)) == []
    crowd.add(a_pod("a"))
    assert names(list(crowd.matching(API, HERE))) == ["a"]


def keeper(name: str, *terms: PodTerm) -> Pod:
    return a_pod(name, demands=Demands(apart_from=terms))


def test_who_keeps_a_pod_away_is_found_by_its_terms() -> None:
    from_api, from_all = PodTerm(HOST_NAME, API, HERE), PodTerm("zone", (NOT_OLD,), None)
    elsewhere = PodTerm(HOST_NAME, API, frozenset({"far"}))
    crowd = Crowd([keeper("a", from_api), keeper("b", from_all), keeper("c", elsewhere), a_pod("d")])
    found = crowd.keeping_away(a_pod("x"))
    assert sorted((pod.ref.name, term.topology_key) for pod, term in found) == [("a", HOST_NAME), ("b", "zone")]
    assert [pod.ref.name for pod, _ in crowd.keeping_away(a_pod("x", labels={"app": "web"}))] == ["b"]
    assert list(crowd.keeping_away(a_pod("x", labels={"app": "web", "old": ""}))) == []


def test_a_pod_does_not_keep_itself_away() -> None:
    itself = keeper("a", PodTerm(HOST_NAME, API, HERE))
    assert list(Crowd([itself]).keeping_away(itself)) == []


def test_who_mounts_a_claim_is_found_by_namespace_and_name() -> None:
    crowd = Crowd([a_pod("a", demands=Demands(claims=frozenset({"data"}))), a_pod("b")])
    assert [each.ref.name for each in crowd.holding("default", "data")] == ["a"]
    assert list(crowd.holding("far", "data")) == []


def test_a_term_applies_by_namespace_and_labels() -> None:
    assert applies(PodTerm(HOST_NAME, API, None), a_pod(namespace="far"))
    assert not applies(PodTerm(HOST_NAME, API, HERE), a_pod(namespace="far"))
    assert not applies(PodTerm(HOST_NAME, API, HERE), a_pod(labels={}))
