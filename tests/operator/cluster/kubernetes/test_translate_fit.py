"""Quotas, claims and volumes as the values that the fit reads."""

import json
from typing import Any

from hangar.domain.placing import NodeOp, NodeRequirement, Quota, Volume, VolumeClaim
from hangar.operator.cluster.kubernetes.watched import CLAIMS, QUOTAS, VOLUMES


def document(**parts: Any) -> bytes:
    metadata = {"namespace": "default", "name": "x", "uid": "u", "resourceVersion": "1"}
    return json.dumps({"metadata": metadata, **parts}).encode()


def test_a_quota_has_its_own_names_and_counts_cpu_in_millicores_under_each() -> None:
    hard = {"cpu": "2", "requests.cpu": "3", "limits.cpu": "4500m", "requests.nvidia.com/gpu": "8", "pods": "10"}
    used = {"cpu": "500m", "memory": "1Gi", "count/jobs.batch": "1"}
    assert QUOTAS.read(document(spec={"hard": hard}, status={"hard": {}, "used": used})).value == Quota(
        "default",
        "x",
        {"cpu": 2000, "requests.cpu": 3000, "limits.cpu": 4500, "requests.nvidia.com/gpu": 8, "pods": 10},
        {"cpu": 500, "memory": 1 << 30, "count/jobs.batch": 1},
    )


def test_a_quota_with_scopes_is_none_that_we_could_weigh() -> None:
    selector = {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]}
    assert QUOTAS.read(document(spec={"hard": {}, "scopes": ["BestEffort"]})).value is None
    assert QUOTAS.read(document(spec={"hard": {}, "scopeSelector": selector})).value is None


def test_a_claim_is_for_one_node_where_no_mode_lets_a_second_in() -> None:
    def seen(*modes: str, **spec: Any) -> VolumeClaim:
        return CLAIMS.read(document(spec={"accessModes": modes, **spec})).value

    assert seen("ReadWriteOnce", volumeName="pv-1") == VolumeClaim("default", "x", "pv-1", once=True)
    assert seen("ReadWriteOncePod") == VolumeClaim("default", "x", None, once=True)
    assert not seen("ReadWriteOnce", "ReadOnlyMany").once
    assert not seen("ReadWriteMany").once


def test_a_volume_says_which_nodes_reach_it() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    affinity = {"required": {"nodeSelectorTerms": [term]}}
    terms = ((NodeRequirement("zone", NodeOp.IN, ("a",)),),)
    assert VOLUMES.read(document(spec={"nodeAffinity": affinity})).value == Volume("x", terms)
    assert VOLUMES.read(document(spec={})).value == Volume("x")
