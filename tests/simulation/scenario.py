"""One run: a fleet, people who ask for things, and everything that can go wrong, all drawn from one seed."""

import asyncio
import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from hangar.domain.decision import Answer, Step
from hangar.hub.store.tx import Committed
from hangar.operator.channel import HubError
from tests.simulation.checkers.ends import OneEnd
from tests.simulation.checkers.truth import ALL_OPERATIONS, ViolationError
from tests.simulation.checkers.workloads import Served
from tests.simulation.mischief import Mischief, calm
from tests.simulation.mischief_workloads import Serving
from tests.simulation.net import SimulatedHub
from tests.simulation.site import Site, a_site
from tests.virtual_loop import START_S, pass_time

TROUBLE_S = 70.0
"""Things go wrong for this long; after it everything must come to an end."""

CALM_S = 600.0
"""The longest that anything may take once nothing goes wrong any more: deadlines are shorter."""

SERVING = 0.25
"""The share of runs that have workloads too: they take longer, having more clusters and more that happens."""

LOOK_S = 2.0
"""How often the tasks are looked at; what the product does is judged as it does it."""


@dataclass
class Run:
    """A whole run from a seed."""

    seed: int
    dice: random.Random = field(init=False)
    hub: SimulatedHub = field(init=False)
    one_end: OneEnd = field(init=False)
    mischief: Mischief = field(init=False)
    serving: Serving = field(init=False)
    served: Served = field(init=False)
    sites: list[Site] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)
    is_troubled: bool = True

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)

    async def play(self) -> None:
        """Play the run to its end; raises ViolationError where an invariant breaks."""
        self.hub = SimulatedHub(self.dice.getrandbits)
        self.one_end = OneEnd()
        self.mischief = Mischief(self.dice, self.hub, self.one_end, self._tell)
        more_dice = random.Random(f"workloads of {self.seed}")
        is_serving = more_dice.random() < SERVING
        names = ("w0", "w1")[: more_dice.choice((1, 2))] if is_serving else ()
        self.serving = Serving(more_dice, self.hub, self.one_end, self._tell, names)
        self.hub.store.on_commit(self._on_commit)
        asyncio.get_running_loop().set_exception_handler(lambda _, context: self.broken.append(_error_of(context)))
        tasks = [asyncio.create_task(self.hub.sweeps())]
        for number in range(more_dice.choice((2, 2, 3)) if is_serving else self.dice.choice((1, 1, 2))):
            site = a_site(f"c{number}", self.hub, self.dice, self._note, self.broken)
            self.serving.add_graphs(site)
            self.sites.append(site)
        self.served = Served(self.hub.store, {site.name: site.history for site in self.sites})
        for site in self.sites:
            self._open(site)
            tasks.append(asyncio.create_task(site.live.live()))
            site.start()
        trouble = asyncio.create_task(self._trouble())
        try:
            await self._until(TROUBLE_S, [trouble, *tasks])
            self._calm()
            await self._until(CALM_S, tasks, stop_when_over=True)
            if open_still := self.one_end.all_over():
                raise ViolationError(f"not over in the end: {open_still}")
            if unsettled := self.served.unsettled():
                raise ViolationError(f"not settled in the end: {unsettled}")
            self.served.judge({id_: phase for id_, (phase, _) in self.one_end.seen.items()})
        finally:
            for site in self.sites:
                site.end()

    def _open(self, site: Site) -> None:
        """Make a site known to the hub, and draw what it has to suffer from the start."""
        self.hub.add_cluster(site.name)
        if self.dice.random() < 0.5:
            self.mischief.storm(site)
        fragility = self.dice.choice((0.0, 0.0, 0.1))

        def landed(step: Step, answer: Answer) -> None:
            self.serving.landed(site, step, answer)
            if self.is_troubled and site.processes and self.dice.random() < fragility:
                self._tell(f"{site.name}: an operator is killed just after {step}")
                self.mischief.kill_for(site, 1.0)

        site.on_landing = partial(self.served.before, site.name)
        site.on_landed = landed

    async def _trouble(self) -> None:
        acts = self.mischief.acts()
        await self.serving.begin(self.sites)
        for _ in range(self.dice.randint(12, 24)):
            await pass_time(self.dice.uniform(0.0, 4.0))
            if self.serving.names and self.serving.dice.random() < 0.6:
                with suppress(HubError):
                    self.serving.dice.choice(self.serving.acts())(self.serving.dice.choice(self.sites))
            act = self.mischief.ask if self.dice.random() < 0.5 else self.dice.choice(acts)
            with suppress(HubError):
                act(self.dice.choice(self.sites))

    def _calm(self) -> None:
        self.is_troubled = False
        self._tell("calm")
        self.serving.calm(self.sites)
        for site in self.sites:
            calm(site)

    # --- looking ------------------------------------------------------------------------------------------------------

    async def _until(self, seconds: float, tasks: list[asyncio.Task[Any]], *, stop_when_over: bool = False) -> None:
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            await pass_time(LOOK_S)
            running = [*tasks, *(process.task for site in self.sites for process in site.processes)]
            for task in running:
                if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                    raise error
            if self.broken:
                raise self.broken[0]
            if stop_when_over and not self.one_end.all_over() and not self.served.unsettled():
                return

    def _on_commit(self, committed: Committed) -> None:
        if any(key.startswith("operation:") for key in committed.woken):
            self._look()

    def _look(self) -> None:
        rows = self.hub.store.read(lambda connection: connection.execute(ALL_OPERATIONS).all())
        self._note(lambda: self.one_end.look(rows))
        if self.serving.names:
            self._note(lambda: self.served.look(rows))
        for site in self.sites:
            site.look(rows)

    def _note(self, look: Callable[[], None]) -> None:
        """Run a look of a checker and note what it raises."""
        try:
            look()
        except ViolationError as violation:
            self.broken.append(violation)

    def _tell(self, text: str) -> None:
        self.story.append(f"{asyncio.get_running_loop().time() - START_S:8.3f} {text}")


def _error_of(context: dict[str, Any]) -> BaseException:
    error = context.get("exception")
    return error if isinstance(error, BaseException) else ViolationError(context["message"])
