"""What a drain would do, told before anything is done."""

from hangar.domain.drain_plan import DrainChoices, plan_drain
from hangar.domain.plan import Fits
from tests.domain.building import GPU, NOON, a_node, a_pod, a_view, an_owner, draining

CHOICES = DrainChoices(deadline_s=3600, grace_period_s=None, skip_fit_check=False, force=False)


def test_a_pod_that_fits_nowhere_is_named_with_what_is_missing() -> None:
    node, pod = a_node(), a_pod("api-1", requests={GPU: 8})
    view = a_view(node, a_node("n2", gpus=4), pod, an_owner(desired=1), claims=draining("n1"))
    plan = plan_drain(node, CHOICES, view, NOON)
    assert [(each.pod, each.fits) for each in plan.moves] == [("default/api-1", Fits.NO)]
    assert [each.code for each in plan.obstructions] == ["no_capacity"]
    assert "needs 8 nvidia.com/gpu on one node, at most 4 are free on one" in plan.obstructions[0].message
