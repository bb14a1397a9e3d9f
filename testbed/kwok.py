"""What the made-up kubelets do: when pods become ready, how long they take to end, and how nodes fall ill."""

from pathlib import Path
from typing import Any

import yaml

from testbed.build import Programs

READY_AFTER = "wingsmith.test/ready-after"
"""Annotation of a pod: how long after its start it becomes ready, such as `2s`; without it at once."""

TERMINATE_AFTER = "wingsmith.test/terminate-after"
"""Annotation of a pod: how long its end takes, such as `5s`; without it its whole grace period."""

RUN_FOR = "wingsmith.test/run-for"
"""Annotation of a Job's pod: how long it runs before it succeeds; without it for ever."""

KUBELET = "wingsmith.test/kubelet"
"""Label of a node: `up` while its kubelet lives. Removing it is the kubelet's death."""

NOT_READY = "wingsmith.test/not-ready"
"""Label of a node whose kubelet lives and says that the node is not ready."""

PARALLELISM = 16

Document = dict[str, Any]

_NOT_READY_STATUS = """
{{ $now := Now }}
conditions:
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
  message: "made not ready by a label"
  reason: "TestBed"
  status: "False"
  type: Ready
"""


def write_config(path: Path, programs: Programs, *, has_leases: bool) -> None:
    """Write kwok's configuration: our stages, made of its own templates and our delays.

    Nodes show that they live by a lease, or by their status every half a minute.
    """
    config: Document = {
        "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
        "kind": "KwokConfiguration",
        "options": {
            "podPlayStageParallelism": PARALLELISM,
            "nodePlayStageParallelism": PARALLELISM,
            "nodeLeaseParallelism": PARALLELISM,
        },
    }
    path.write_text(yaml.safe_dump_all([config, *_stages(programs, has_leases=has_leases)]))


def _stages(programs: Programs, *, has_leases: bool) -> list[Document]:
    initialize = _template(programs, "node-initialize.yaml")
    heartbeat = _template(programs, "node-heartbeat-with-lease.yaml" if has_leases else "node-heartbeat.yaml")
    for healthy in (initialize, heartbeat):  # of several stages that match kwok takes any one
        healthy["spec"]["selector"]["matchExpressions"].append(_label(NOT_READY, "DoesNotExist"))
    ready = _template(programs, "pod-ready.yaml")
    ready["spec"]["delay"] = _after(_annotation(READY_AFTER))
    complete = _template(programs, "pod-complete.yaml")
    complete["spec"]["selector"]["matchExpressions"].append({"key": _annotation(RUN_FOR), "operator": "Exists"})
    complete["spec"]["delay"] = _after(_annotation(RUN_FOR))
    end = _stage("pod-end", "Pod", [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}], {"delete": True})
    # An annotation is a time to wait, deletionTimestamp an instant that contains the grace: kwok reads both.
    end["spec"]["delay"] = _after(f"{_annotation(TERMINATE_AFTER)} // .metadata.deletionTimestamp")
    is_ready = {
        "key": '.status.conditions.[] | select( .type == "Ready" ) | .status',
        "operator": "In",
        "values": ["True"],
    }
    ill = _stage(
        "node-not-ready", "Node", [_label(NOT_READY, "Exists"), is_ready], {"statusTemplate": _NOT_READY_STATUS}
    )
    return [initialize, heartbeat, ready, complete, end, ill]


def _template(programs: Programs, name: str) -> Document:
    document: Document = yaml.safe_load(programs.stage(name).read_text())
    return document


def _stage(name: str, kind: str, conditions: list[Document], then: Document) -> Document:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": conditions},
            "next": then,
        },
    }


def _label(name: str, operator: str) -> Document:
    return {"key": f'.metadata.labels["{name}"]', "operator": operator}


def _annotation(name: str) -> str:
    return f'.metadata.annotations["{name}"]'


def _after(expression: str) -> Document:
    return {"durationMilliseconds": 0, "durationFrom": {"expressionFrom": expression}}
