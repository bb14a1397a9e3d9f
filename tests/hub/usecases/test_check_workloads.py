"""What keeps a workload from being bound as it is asked for."""

from typing import Any

import pytest

from hangar.hub.usecases.check_workloads import Binding
from hangar.hub.usecases.remove_workloads import delete_workload
from hangar.wire.problems import Problem, ProblemCode
from tests.hub.sites import TEMPLATE, Fleet, a_graph
from tests.hub.world import ADMIN

NEW = Binding("fra-1", "serving", "new")


def refused(fleet: Fleet, **given: Any) -> list[tuple[str, str]]:
    with pytest.raises(Problem) as caught:
        fleet.apply("new", **given)
    assert caught.value.code is ProblemCode.INVALID_VALUE
    return [(each.path, each.message) for each in caught.value.errors]


def test_what_is_wrong_with_a_template_is_said_beside_what_is_wrong_with_bindings(fleet: Fleet) -> None:
    errors = refused(fleet, template={**TEMPLATE, "kind": "Pod"}, bindings=(Binding("mars", "serving", "new"),))
    assert [path for path, _ in errors] == ["template.kind", "deployments[0].cluster"]


def test_a_template_that_does_not_tell_its_shape_needs_one(fleet: Fleet) -> None:
    workers = [{"name": name, "type": "worker"} for name in ("a", "b")]
    template = TEMPLATE | {"spec": {"components": workers}}
    [(path, message)] = refused(fleet, template=template, bindings=(NEW,))
    assert path == "shape"
    assert message.startswith("serving/new of fra-1 does not tell what a replica is")
    [(path, message)] = refused(fleet, template=template, bindings=(NEW,), shape={"c": 1})
    assert message == "serving/new has no component 'c'; it has a, b"
    fleet.apply("new", template=template, bindings=(NEW,), shape={"a": 1, "b": 2}, replicas=2)
    assert fleet["fra-1"].wanted("new").counts == {"a": 2, "b": 4}


def test_a_graph_that_is_being_removed_cannot_be_bound(fleet: Fleet) -> None:
    fleet.apply("new", template=TEMPLATE, bindings=(NEW,), replicas=1)
    fleet["fra-1"].tell(a_graph("new", is_ours=True))
    fleet.world.store.write(lambda tx: delete_workload(tx, ADMIN, "new", fleet.world.now_us))
    text = "serving/new of fra-1 is being removed, since it served workload new: try again when it is gone"
    assert refused(fleet, bindings=(NEW,)) == [("deployments[0].graph", text)]
    fleet["fra-1"].lose("new")
    fleet.apply("new", template=TEMPLATE, bindings=(NEW,))


@pytest.mark.parametrize("is_there", [True, False])
def test_a_graph_that_was_created_is_not_left_behind_by_leaving_it_out(fleet: Fleet, is_there: bool) -> None:
    fleet.apply("new", template=TEMPLATE, bindings=(NEW,), replicas=1)
    if is_there:
        fleet["fra-1"].tell(a_graph("new", is_ours=True))
    [(path, message)] = refused(fleet, bindings=())
    assert path == "deployments"
    assert message.startswith("leaves out serving/new of fra-1, which Wingsmith created: delete the deployment first")
