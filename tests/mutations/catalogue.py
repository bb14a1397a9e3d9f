"""What is taken out of the product, line by line, and the test that names the case and has to fail for it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """One fix taken out: in a file below `src/hangar`, a text that stands there once is replaced by another.

    `test` is a file below `tests` and a test in it, which names the case in its docstring.
    """

    case: str
    fault: str
    file: str
    before: str
    after: str
    test: str


MUTATIONS = (
    Mutation(
        "C01",
        "an eviction carries no UID",
        "operator/cluster/kubernetes/adapter.py",
        'options: dict[str, object] = {"preconditions": {"uid": pod.uid}}',
        "options: dict[str, object] = {}",
        "operator/cluster/kubernetes/test_adapter.py::test_an_eviction_names_the_uid_and_no_grace_unless_it_was_asked_for",
    ),
    Mutation(
        "C02",
        "a pod is looked up by its name",
        "domain/drain/moves.py",
        "pod = view.snapshot.pods.get(uid)",
        "pod = next((pod for pod in view.snapshot.pods.values() if str(pod.ref) == str(each.ref)), None)",
        "kinds/test_node_drain_names.py::test_a_retry_stops_for_a_pod_that_was_moved_and_is_never_turned_on_its_namesake",
    ),
    Mutation(
        "C06",
        "gone is done",
        "kinds/node_drain.py",
        "return is_empty and not lacking(job.memory.pods.values(), view)",
        "return is_empty",
        "kinds/test_node_drain_waits.py::test_success_waits_for_the_replacements_to_be_ready",
    ),
    Mutation(
        "C12",
        "a pod that has finished is in the way",
        "domain/drain/selection.py",
        "return Skip(SkipReason.FINISHED) if pod.is_finished else None",
        "return None",
        "kinds/test_node_drain.py::test_daemons_and_finished_pods_are_left_and_listed",
    ),
    Mutation(
        "C13",
        "tolerations are not looked at",
        "domain/drain/selection.py",
        "if through is None or not takes(node, pod):",
        "if True:",
        "kinds/test_node_drain_checks.py::test_a_pod_that_would_come_back_fails_the_drain_with_its_toleration",
    ),
    Mutation(
        "C14",
        "bare pods go without force",
        "domain/drain/selection.py",
        "return Refuse(RefuseReason.UNMANAGED) if pod.controller is None else None",
        "return None",
        "kinds/test_node_drain_force.py::test_what_nobody_recreates_is_refused_and_with_force_evicted",
    ),
    Mutation(
        "C16",
        "a budget that can never open is waited for",
        "domain/budgets.py",
        "Hold(Cause.NEVER if is_never else Cause.SPENT, budgets)",
        "Hold(Cause.SPENT, budgets)",
        "kinds/test_node_drain_checks.py::test_a_budget_that_can_never_allow_it_fails_the_drain_before_any_eviction",
    ),
    Mutation(
        "C18",
        "what is under way is not counted",
        "domain/budgets.py",
        "return min(budget.allowed - _going(budget, view), healthy(budget, view) - budget.desired_healthy)",
        "return budget.allowed",
        "domain/drain/test_pacing.py::test_each_sees_what_those_before_it_have_spent",
    ),
    Mutation(
        "C26",
        "drains that cross both wait for ever",
        "domain/drain/pacing.py",
        "if crossing is not None:",
        "if False:",
        "domain/drain/test_pacing.py::test_the_younger_of_two_drains_that_cross_evicts_nothing",
    ),
    Mutation(
        "C28",
        "a webhook's denial is as final as any",
        "domain/drain/pacing.py",
        "(WEBHOOK_DENIED_TRIES_MAX if denied.by_webhook else DENIED_TRIES_MAX)",
        "DENIED_TRIES_MAX",
        "domain/drain/test_pacing.py::test_a_refusal_that_stays_is_the_end_and_a_webhook_gets_longer",
    ),
    Mutation(
        "C36",
        "a refused cordon is tried to the deadline",
        "domain/cordon.py",
        "case Denied(message=message) if answered.tries >= DENIED_TRIES_MAX:",
        "case Denied(message=message) if False:",
        "kinds/test_node_drain_answers.py::test_a_denied_cordon_is_fatal",
    ),
    Mutation(
        "C38",
        "a cordon from before counts as ours",
        "kinds/node_drain.py",
        " and not decision.memory.was_cordoned_before",
        "",
        "kinds/test_node_drain_ends.py::test_a_cordon_from_before_is_never_undone",
    ),
    Mutation(
        "C40",
        "an uncordon in mid-drain is overlooked",
        "kinds/node_drain.py",
        "if node is not None and not node.unschedulable:",
        "if False:",
        "kinds/test_node_drain_ends.py::test_a_human_uncordon_in_mid_drain_stops_it_and_is_named",
    ),
    Mutation(
        "C42",
        "a failed drain leaves its cordon whatever was chosen",
        "kinds/node_drain.py",
        'decision.phase is Phase.FAILED and job.params.on_failure == "uncordon"',
        "False",
        "kinds/test_node_drain_ends.py::test_a_failed_drain_uncordons_where_that_was_asked_for",
    ),
    Mutation(
        "C47",
        "an owner's last ready pod goes, too",
        "domain/drain/pacing.py",
        "may_evict(pod, view) or keeps_last_ready(pod, view) or _paced(pod, view)",
        "may_evict(pod, view) or _paced(pod, view)",
        "kinds/test_node_drain_waits.py::test_two_drains_never_take_an_owners_last_ready_pod",
    ),
    Mutation(
        "C53",
        "an owner is gone where no pod of it is seen",
        "domain/owners.py",
        "return 0 if view.has_vanished(owner) else before",
        "return before if any(True for _ in view.snapshot.pods_of(owner)) else 0",
        "kinds/test_node_drain_groups.py::"
        "test_an_only_group_is_waited_for_through_the_moment_when_there_is_no_pod_of_it",
    ),
    Mutation(
        "C56",
        "force is taken for granted at the deadline",
        "kinds/node_drain.py",
        'is_forced = job.params.on_deadline == "force" and job.memory.cordoned_at is not None',
        "is_forced = job.memory.cordoned_at is not None",
        "kinds/test_node_drain_force.py::test_at_the_deadline_what_a_budget_holds_is_deleted_only_where_that_was_chosen",
    ),
    Mutation(
        "C57",
        "a silent kubelet's pods are as good as gone",
        "domain/drain/moves.py",
        "        elif pod.is_terminating:\n            terminating.append(pod)",
        "        elif pod.is_terminating and not view.snapshot.nodes[pod.node].is_heard:\n"
        "            evicted.append(each)\n"
        "        elif pod.is_terminating:\n            terminating.append(pod)",
        "kinds/test_node_drain_ends.py::test_a_node_that_does_not_confirm_its_pods_ends_is_unreachable_at_the_deadline",
    ),
    Mutation(
        "C59",
        "a restart gives an operation its whole time again",
        "operator/conductor.py",
        "left_s = doc.deadline_s if doc.remaining_s is None else doc.remaining_s",
        "left_s = doc.deadline_s",
        "kinds/test_node_drain_restart.py::test_a_deadline_counts_on_through_a_restart",
    ),
    Mutation(
        "C61",
        "force gets its minute again with every sync",
        "hub/usecases/sync.py",
        "remaining_s=None if deadline_us is None else (deadline_us - now_us) / SECOND_US",
        "remaining_s=None if deadline_us is None else max(0.0, (deadline_us - now_us) / SECOND_US)",
        "hub/usecases/test_sync.py::test_a_deadline_that_has_passed_says_how_long_ago",
    ),
    Mutation(
        "C63",
        "a grace period of nothing may be asked for",
        "kinds/node_drain.py",
        'metadata=param("grace period of every pod, instead of the pod\'s own", least=1, most=GRACE_PERIOD_MAX_S)',
        'metadata=param("grace period of every pod, instead of the pod\'s own", least=0, most=GRACE_PERIOD_MAX_S)',
        "hub/usecases/test_submit.py::test_a_grace_period_of_nothing_is_refused",
    ),
    Mutation(
        "C64",
        "nobody is told what stays on a cordoned node",
        "domain/drain/reporting.py",
        "if remaining and node is not None and node.unschedulable",
        "if False and node is not None and node.unschedulable",
        "kinds/test_node_drain_cordon.py::"
        "test_a_drain_that_fails_after_its_first_eviction_keeps_its_cordon_and_says_what_stays_there",
    ),
    Mutation(
        "C71",
        "a cancelled drain is a success",
        "kinds/node_drain.py",
        'return _end(job, view, Phase.CANCELLED, "cancelled", reporting',
        'return _end(job, view, Phase.SUCCEEDED, "drained", reporting',
        "kinds/test_node_drain_ends.py::test_a_cancelled_drain_lists_what_it_moved_and_what_it_did_not",
    ),
    Mutation(
        "C73",
        "an old message revives what is over",
        "operator/conductor.py",
        "            if operation in self._ended:\n                continue\n",
        "",
        "operator/test_conductor.py::test_a_late_sync_does_not_revive_what_has_ended",
    ),
    Mutation(
        "C87",
        "a key stands for whatever is asked for next",
        "hub/usecases/submit.py",
        'if known.fingerprint != values["fingerprint"]:',
        "if False:",
        "hub/usecases/test_submit.py::test_a_key_does_not_stand_for_two_requests",
    ),
    Mutation(
        "C89",
        "a watch may be silent for ever",
        "operator/cluster/kubernetes/reflector.py",
        "SILENCE_S = (75.0, 90.0)",
        "SILENCE_S = (7500.0, 9000.0)",
        "operator/cluster/kubernetes/test_reflector.py::test_a_connection_that_died_in_silence_is_replaced",
    ),
)
