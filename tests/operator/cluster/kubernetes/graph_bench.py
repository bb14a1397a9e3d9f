"""The adapter on a scripted API server that serves graphs, and what all tests of writing them have in common."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from hangar.domain.decision import Answer, Step
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import Graph, GraphRef
from hangar.operator.cluster.kubernetes.adapter import KubernetesCluster
from hangar.operator.cluster.kubernetes.served import LOOK_AGAIN_S
from tests.operator.cluster.kubernetes.documents import Document, a_bookmark, a_refusal, an_event
from tests.operator.cluster.kubernetes.fake_server import FakeServer, Says, Scripted, Streams, a_config, middle
from tests.virtual_loop import LoopClock, pass_time, run_virtual

OTHERS = 12
CHAT = GraphRef("serving", "chat")
PATHS = {
    version: f"/apis/nvidia.com/{version}/namespaces/serving/dynamographdeployments/chat"
    for version in ("v1beta1", "v1alpha1")
}
PLURALS = ("dynamographdeployments", "dynamographdeploymentscalingadapters")
SERVED = Says(200, {"resources": [{"name": each} for each in PLURALS]})
MISSING = Says(404, a_refusal(404, "not found", kind="dynamographdeployments", name="chat"))
STALE = Says(409, a_refusal(409, "the object has been modified", kind="dynamographdeployments"))


class Bench:
    def __init__(self) -> None:
        self.server = FakeServer()
        self.cluster = KubernetesCluster(a_config(), LoopClock(), transport=self.server, jitter=middle)

    @property
    def snapshot(self) -> Snapshot:
        snapshot = self.cluster.snapshot()
        assert snapshot is not None
        return snapshot

    @property
    def graph(self) -> Graph:
        return self.snapshot.graphs[CHAT]

    async def look_again(self) -> None:
        """Let it be looked again which versions are served."""
        await pass_time(LOOK_AGAIN_S)
        self.server.asked.clear()

    async def perform(self, step: Step, *script: Scripted) -> Answer:
        self.server.script = list(script)
        return await self.cluster.perform(step, lambda: None)


def virtually(
    then: Callable[[Bench], Coroutine[Any, Any, None]],
    *seen: Document,
    adapters: tuple[Document, ...] = (),
    version: str | None = "v1beta1",
    kinds: Scripted = SERVED,
) -> None:
    """Run with these graphs and adapters seen, of the one version that is served; None serves none.

    `kinds` is what the server replies to the question what it serves of that version.
    """

    async def main() -> None:
        bench = Bench()
        if version is not None:
            bench.server.kinds[version] = kinds
        empty = Streams((a_bookmark(10, is_end=True),))
        graphs = Streams((*(an_event("ADDED", each) for each in seen), a_bookmark(10, is_end=True)))
        scalers = Streams((*(an_event("ADDED", each) for each in adapters), a_bookmark(10, is_end=True)))
        bench.server.script = [*[empty] * OTHERS, graphs, scalers]
        task = asyncio.create_task(bench.cluster.run(asyncio.Event()))
        await pass_time(0.01)
        bench.server.asked.clear()
        try:
            await then(bench)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await bench.cluster.close()

    run_virtual(main())
