"""Mischief: what people, machines and chance do to a fleet while it works, one act at a time."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from hangar.domain.ids import NodeName, OperationId
from hangar.domain.workloads.members import GRAPH_LABEL
from hangar.hub.usecases.cancel import cancel
from hangar.hub.usecases.requests import OperationRequest
from hangar.hub.usecases.submit import submit
from hangar.operator.cluster.simulated.spec import NodeSpec, WebhookSpec
from hangar.operator.cluster.simulated.world import World
from tests.simulation.checkers.ends import OneEnd
from tests.simulation.net import SimulatedHub
from tests.simulation.site import DOOMED, Process, Site

TROUBLES = ("conflict", "throttled", "lost_before", "lost_after", "lands_late")

Dice = Any


class Told(Protocol):
    """Writes down what happens."""

    def __call__(self, text: str) -> None:
        """Write one line of the story."""


@dataclass
class Mischief:
    """All that can happen to a site; each act draws what it needs."""

    dice: Dice
    hub: SimulatedHub
    one_end: OneEnd
    tell: Told
    asked: int = 0

    def acts(self) -> tuple[Callable[[Site], None], ...]:
        """Return what may happen in a run: the everyday trouble, and a few sorts of the rarer that this run has."""
        everyday = (
            self.cancel_one,
            self.cancel_one,
            self.cordon_by_hand,
            self.cordon_by_hand,
            self.crash,
            self.cancel_and_kill,
            self.storm,
            self.storm,
            self.scale,
            self.start_second,
            self.cut_off,
        )
        rare = (
            self.set_webhook,
            self.delete_namespace,
            self.silence,
            self.take_node_away,
            self.flip_budget,
            self.break_pod,
            self.ask_for_two,
        )
        return everyday + tuple(self.dice.sample(rare, 4)) * 2

    # --- people -------------------------------------------------------------------------------------------------------

    def ask(self, site: Site) -> None:
        """Ask for an operation on some node."""
        self._ask(site, self.dice.choice(sorted(site.live.touch().snapshot().nodes)))

    def ask_for_two(self, site: Site) -> None:
        """Ask for drains of two nodes at the same instant: they share workloads and budgets."""
        nodes = sorted(site.live.touch().snapshot().nodes)
        for node in self.dice.sample(nodes, min(2, len(nodes))):
            self._ask(site, node, "node.drain")

    def _ask(self, site: Site, node: str, kind: str | None = None) -> None:
        kind = kind or self.dice.choice(("node.drain",) * 5 + ("node.cordon", "node.uncordon"))
        params: dict[str, Any] = {"deadline_s": self.dice.choice((15, 60, 240))}
        if kind == "node.drain":
            params |= self._drain_params()
        request = OperationRequest(type=kind, target=node, cluster=site.name, params=params, reason=None)
        self.asked += 1
        key = f"key-{self.asked}"
        done = self.hub.do(lambda tx: submit(tx, self.hub.admin, request, key, self.hub.rules, self.hub.now_us()))
        self.one_end.acknowledged.add(OperationId(done.operation.id))
        self.tell(f"{site.name}: {kind} {node} {params} is {done.operation.id}")

    def _drain_params(self) -> dict[str, Any]:
        chances: tuple[tuple[float, dict[str, Any]], ...] = (
            (0.5, {"on_failure": "uncordon"}),
            (0.3, {"on_deadline": "force"}),
            (0.15, {"force": True}),
            (0.15, {"node_is_down": True}),
            (0.1, {"grace_period_s": 5}),
            (0.2, {"skip_fit_check": True}),
        )
        params: dict[str, Any] = {}
        for chance, chosen in chances:
            if self.dice.random() < chance:
                params |= chosen
        return params

    def cancel_one(self, site: Site) -> None:
        """Cancel an open operation."""
        ids = sorted(self.one_end.all_over())
        if ids:
            operation = self.dice.choice(ids)
            self.tell(f"cancel {operation}")
            self.hub.do(lambda tx: cancel(tx, self.hub.admin, operation, self.hub.rules, self.hub.now_us()))

    def cordon_by_hand(self, site: Site) -> None:
        """Cordon or uncordon a node past us."""
        node = self.dice.choice(sorted(site.live.touch().snapshot().nodes))
        is_on = self.dice.random() < 0.5
        self.tell(f"{site.name}: {'cordon' if is_on else 'uncordon'} of {node} by hand")
        was_on = site.live.world.snapshot().nodes[node].unschedulable
        site.live.world.cordon_by_hand(node, on=is_on)
        if is_on and not was_on:
            site.foreign.by_hand.add(node)
        elif not is_on:
            site.foreign.by_hand.discard(node)

    def scale(self, site: Site) -> None:
        """Change how many replicas a workload wants."""
        every = site.live.touch().workloads.values()
        workloads = [each for each in every if GRAPH_LABEL not in each.spec.template.labels]
        if workloads:
            workload = self.dice.choice(workloads)
            replicas = self.dice.randint(0, 5 if workload.spec.group_size == 1 else 3)
            self.tell(f"{site.name}: {workload.spec.name} is scaled from {workload.replicas} to {replicas}")
            site.live.world.scale(workload.top.uid, replicas)

    def flip_budget(self, site: Site) -> None:
        """Change what a budget allows."""
        if site.budgets:
            uid = self.dice.choice(sorted(site.budgets))
            bound = self.dice.choice((0, 1, 1, 2))
            self.tell(f"{site.name}: {site.budgets[uid].name} may miss {bound}")
            site.live.touch().change_budget(uid, replace(site.budgets[uid], max_unavailable=bound))

    def delete_namespace(self, site: Site) -> None:
        """Delete the namespace that is there for that."""
        if any(each.spec.namespace == DOOMED for each in site.live.touch().workloads.values()):
            self.tell(f"{site.name}: the namespace {DOOMED} is deleted")
            site.live.world.remove_namespace(DOOMED)
            site.budgets = {uid: spec for uid, spec in site.budgets.items() if spec.namespace != DOOMED}

    # --- machines -----------------------------------------------------------------------------------------------------

    def set_webhook(self, site: Site) -> None:
        """Let a webhook deny evictions, or be too slow for them, for a while."""
        selector = self.dice.choice(({}, {"app": "app0"}))
        spec = self.dice.choice(
            (
                WebhookSpec("w", selector),
                WebhookSpec("w", selector, moves_after_s=3.0),
                WebhookSpec("w", selector, is_slow=True),
                WebhookSpec("w", selector, is_slow=True, timeout_s=10.0),
            )
        )
        self.tell(f"{site.name}: {spec}")
        site.live.touch().webhooks.add(spec)
        _later(self.dice.uniform(2.0, 20.0), lambda: site.live.touch().webhooks.drop("w"))

    def silence(self, site: Site) -> None:
        """Let a kubelet fall silent, perhaps for good."""
        world = site.live.touch()
        nodes = sorted(world.snapshot().nodes.keys() - site.quiet)
        if len(nodes) < 2:
            return
        node, noticed_s, patience_s = self.dice.choice(nodes), self.dice.uniform(1, 10), self.dice.uniform(5, 60)
        back_s = self.dice.choice((None, 5.0, 20.0, 60.0))
        self.tell(f"{site.name}: the kubelet of {node} falls silent, noticed in {noticed_s:.1f} s, back in {back_s}")
        uid = world.snapshot().nodes[node].uid
        world.silence(node, noticed_s, patience_s)
        site.quiet.add(node)
        if back_s is not None:
            _later(back_s, lambda: self._back(site, node, uid))

    def _back(self, site: Site, node: NodeName, uid: str) -> None:
        known = site.live.touch().snapshot().nodes.get(node)
        if known is not None and known.uid == uid:
            self.tell(f"{site.name}: the kubelet of {node} is back")
            site.quiet.discard(node)
            site.live.world.hear(node)

    def take_node_away(self, site: Site) -> None:
        """Delete a node, and perhaps put another one in its place, which may even inherit its pods."""
        world = site.live.touch()
        nodes = sorted(world.snapshot().nodes)
        if len(nodes) < 3:
            return
        node, quarantine_s = self.dice.choice(nodes), self.dice.choice((0.0, 8.0, 8.0))
        back_s = self.dice.choice((None, 0.0, 0.5, 5.0))
        self.tell(f"{site.name}: {node} is deleted, its pods are kept for {quarantine_s} s, replaced in {back_s}")
        world.remove_node(node, quarantine_s=quarantine_s)
        site.foreign.by_hand.discard(node)
        site.quiet.discard(node)
        if back_s is not None:
            _later(back_s, lambda: _add_node(site.live.touch(), node))

    def break_pod(self, site: Site) -> None:
        """Let a pod crash, and start again after a while."""
        pods = sorted(uid for uid, pod in site.live.touch().snapshot().pods.items() if pod.serves)
        if pods:
            uid = self.dice.choice(pods)
            self.tell(f"{site.name}: {site.live.world.snapshot().pods[uid].ref} crashes")
            site.live.world.crash(uid, "main: CrashLoopBackOff: back-off 10s")
            _later(self.dice.uniform(3.0, 30.0), lambda: _mend(site, uid))

    # --- processes and wires ------------------------------------------------------------------------------------------

    def crash(self, site: Site) -> None:
        """Kill the hub or an operator for a while."""
        down_s = self.dice.choice((0.5, 5.0, 25.0))
        if self.dice.random() < 0.4:
            self.tell(f"the hub is down for {down_s} s")
            self.hub.crash()
            _later(down_s, self.hub.start)
        elif site.processes:
            self.tell(f"{site.name}: an operator is killed for {down_s} s")
            self.kill_for(site, down_s)

    def cancel_and_kill(self, site: Site) -> None:
        """Cancel an operation, and kill its operator before it can have heard of it."""
        self.cancel_one(site)
        if site.processes:
            self.tell(f"{site.name}: an operator is killed just then")
            self.kill_for(site, 0.5)

    def kill_for(self, site: Site, seconds: float) -> None:
        """Kill an operator's process, and start another one later."""
        site.kill(self.dice.choice(site.processes))
        _later(seconds, site.start)

    def start_second(self, site: Site) -> None:
        """Start a second operator for the same cluster, as in a roll-out."""
        if len(site.processes) < 2:
            self.tell(f"{site.name}: another operator starts")
            site.start()

    def cut_off(self, site: Site) -> None:
        """Let an operator live on, cut off from the hub."""
        if site.processes:
            process, down_s = self.dice.choice(site.processes), self.dice.choice((5.0, 15.0, 40.0))
            self.tell(f"{site.name}: an operator is cut off for {down_s} s")
            process.channel.is_cut = True
            _later(down_s, lambda: _mend_wire(process))
            if self.dice.random() < 0.5:
                self.start_second(site)

    def storm(self, site: Site) -> None:
        """Change how bad the network and the API server are."""
        dice = self.dice
        site.weather.lost, site.weather.doubled = dice.choice((0.0, 0.1, 0.4)), dice.choice((0.0, 0.2))
        for name in TROUBLES:
            setattr(site.trouble, name, dice.choice((0.0, 0.0, 0.15, 0.4)))
        self.tell(f"{site.name}: {site.weather} {site.trouble}")


def calm(site: Site) -> None:
    """End what can end by itself: storms, webhooks, budgets that were changed; nodes that are gone stay so."""
    site.weather.lost = site.weather.doubled = 0.0
    for name in TROUBLES:
        setattr(site.trouble, name, 0.0)
    world = site.live.touch()
    world.webhooks.drop("w")
    for uid, spec in site.budgets.items():
        world.change_budget(uid, spec)


def _later(seconds: float, act: Callable[[], Any]) -> None:
    asyncio.get_running_loop().call_later(seconds, act)


def _add_node(world: World, name: str) -> None:
    if name not in world.snapshot().nodes:
        world.add_node(NodeSpec(name))


def _mend(site: Site, uid: Any) -> None:
    pod = site.live.touch().snapshot().pods.get(uid)
    if pod is not None and pod.node not in site.quiet:
        site.live.world.mend(uid)


def _mend_wire(process: Process) -> None:
    process.channel.is_cut = process.cluster.is_dead
