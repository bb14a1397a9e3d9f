"""Whose pod it is, by its labels."""

from hangar.domain.workloads.graph import GraphRef
from hangar.domain.workloads.members import CAPTURE_LABEL, COMPONENT_LABEL, GRAPH_LABEL, Part, part_of

LABELS = {GRAPH_LABEL: "chat", COMPONENT_LABEL: "decode"}


def test_a_pod_is_a_part_of_the_graph_and_the_component_that_its_labels_name() -> None:
    assert part_of("serving", LABELS, "ReplicaSet") == Part(GraphRef("serving", "chat"), "decode")
    assert part_of("serving", LABELS, None) == Part(GraphRef("serving", "chat"), "decode")


def test_a_pod_that_lacks_one_of_them_is_of_no_graph() -> None:
    for name in LABELS:
        assert part_of("serving", {**LABELS, name: ""}, None) is None
        assert part_of("serving", {key: value for key, value in LABELS.items() if key != name}, None) is None


def test_a_job_that_captures_a_state_serves_nothing() -> None:
    capture = {**LABELS, CAPTURE_LABEL: "u"}
    assert part_of("serving", capture, "Job") is None
    assert part_of("serving", capture, "ReplicaSet") is not None
