"""Graphs of ours on a real API server: created from templates, refused, and removed."""

from pathlib import Path
from typing import Any, TypeAlias

from hangar.domain.decision import Accepted, Busy, Create, Denied, Remove, Trouble
from hangar.domain.ids import WorkloadName
from hangar.domain.snapshot import Snapshot
from hangar.domain.workloads.graph import Desired, GraphRef, is_converged
from testbed import dynamo_crds
from testbed.bed import Bed
from testbed.dynamo_graphs import Graphs, Part, graph_document
from testbed.dynamo_operator import DynamoOperator
from testbed.kube import KubeError
from testbed.kube import until as kube_until
from testbed.webhook import CREATIONS_OF_GRAPHS, Webhook, at_first, deny
from tests.contracts.cluster_stage import a_node, now_shown, take, until
from tests.kubernetes.kubernetes_stage import KubernetesStage, play

Document: TypeAlias = dict[str, Any]

CHAT = GraphRef("default", "chat")
PARTS = {"Frontend": Part("frontend", 1), "Decode": Part("decode", None, gpus=1, has_adapter=True)}


def created(template: Document, ref: GraphRef = CHAT) -> Create:
    return Create(ref, 7, {"Decode": 2}, WorkloadName("chat-eu"), template)


def a_template(graphs: Graphs) -> Document:
    return graph_document(graphs.version, "template", PARTS)


async def known(stage: KubernetesStage) -> None:
    """Wait until it is known which graphs there are."""
    await until(stage, "graphs are read", lambda snapshot: snapshot.graphs_unreadable is None)


def test_a_graph_is_created_runs_and_is_removed(empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await a_node(stage)
        await known(stage)
        with DynamoOperator(empty_bed.kube, graphs.version):
            assert await take(stage, created(a_template(graphs))) == Accepted()
            desired = Desired(CHAT, 7, {"Decode": 2})
            await until(stage, "it runs", lambda snapshot: is_converged(snapshot.graphs[CHAT], desired))
            seen = now_shown(stage).graphs[CHAT]
            adapter = next(each.adapter for each in seen.components if each.has_adapter)
            assert adapter is not None
            assert (adapter.replicas, seen.is_ours) == (2, True)
            assert await take(stage, Remove(CHAT, seen.uid)) == Accepted()
            await until(stage, "it is gone", lambda snapshot: not snapshot.graphs)

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def test_what_somebody_exports_is_a_template_as_it_is(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    """With its UID, version, owners and status, which are of the graph that it was exported from."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nowhere", "uid": "1"}
    exported = graphs.create("exported", PARTS, labels={"team": "chat"}, ownerReferences=[owner])
    exported["status"] = {"state": "successful"}

    async def scene(stage: KubernetesStage) -> None:
        await known(stage)
        assert await take(stage, created(exported)) == Accepted()
        found = graphs.get(CHAT.name)
        assert found is not None
        metadata = found["metadata"]
        assert metadata["labels"] == {"team": "chat"}
        assert metadata["annotations"] == {"wingsmith.dev/applied-rev": "7", "wingsmith.dev/workload": "chat-eu"}
        assert "ownerReferences" not in metadata
        assert found.get("status", {}).get("state") != "successful"
        parts = graphs.parts(exported)
        parts["Decode"]["replicas"] = 2
        assert graphs.parts(found) == parts

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def test_a_namespace_that_is_not_there_and_a_version_that_is_not_served_are_refused_by_name(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    other = "v1alpha1" if graphs.version == "v1beta1" else "v1beta1"

    async def scene(stage: KubernetesStage) -> None:
        await known(stage)
        nowhere = await take(stage, created(a_template(graphs), GraphRef("nowhere", "chat")))
        assert nowhere == Denied('404: namespaces "nowhere" not found')
        template = a_template(graphs) | {"apiVersion": f"nvidia.com/{other}"}
        refused = await take(stage, created(template))
        assert isinstance(refused, Denied)
        assert refused.message.endswith(f"serves DynamoGraphDeployment as nvidia.com/{graphs.version}")
        assert now_shown(stage).graphs == {}

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def test_what_the_schema_and_a_webhook_refuse_is_told_and_one_that_says_not_now_is_asked_again(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    refuses = at_first(1, deny("not now", 503))
    webhook = Webhook(empty_bed, "creations.dynamo.test", refuses, rule=CREATIONS_OF_GRAPHS)

    async def scene(stage: KubernetesStage) -> None:
        await known(stage)
        invalid = await take(stage, Create(CHAT, 7, {"Decode": -1}, WorkloadName("chat-eu"), a_template(graphs)))
        assert isinstance(invalid, Denied)
        assert "should be greater than or equal to 0" in invalid.message
        with webhook:
            kube_until("the webhook is asked", lambda: _is_asked(webhook, graphs))
            answer = await take(stage, created(a_template(graphs)))
            assert isinstance(answer, Busy)
            assert answer.trouble is Trouble.WEBHOOK
            assert await take(stage, created(a_template(graphs))) == Accepted()

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def _is_asked(webhook: Webhook, graphs: Graphs) -> bool:
    before = len(webhook.asked)
    graphs.create("probe", PARTS, is_dry=True)
    return len(webhook.asked) > before


def test_a_webhook_that_is_away_is_waited_for(empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path) -> None:
    webhook = Webhook(empty_bed, "away.dynamo.test", deny("no"), rule=CREATIONS_OF_GRAPHS)

    async def scene(stage: KubernetesStage) -> None:
        await known(stage)
        webhook.hang_up()
        try:
            kube_until("it is missed", lambda: _is_refused(graphs))
            answer = await take(stage, created(a_template(graphs)))
        finally:
            empty_bed.kube.delete("ValidatingWebhookConfiguration", "away.dynamo.test")
        assert isinstance(answer, Busy)
        assert answer.trouble is Trouble.WEBHOOK
        kube_until("it is forgotten", lambda: not _is_refused(graphs))
        assert await take(stage, created(a_template(graphs))) == Accepted()

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def _is_refused(graphs: Graphs) -> bool:
    try:
        graphs.create("probe", PARTS, is_dry=True)
    except KubeError as error:
        return "failed calling webhook" in str(error)
    return False


def test_where_dynamo_is_not_installed_nothing_is_created(empty_bed: Bed, operator_kubeconfig: Path) -> None:
    dynamo_crds.remove(empty_bed.kube)

    async def scene(stage: KubernetesStage) -> None:
        await known(stage)
        answer = await take(stage, created(graph_document("v1beta1", "template", PARTS)))
        assert isinstance(answer, Denied)
        assert answer.message.endswith("Dynamo is not installed in it")

    play(scene, empty_bed, operator_kubeconfig)


def test_a_graph_of_ours_that_somebody_made_his_own_is_left_alone_though_that_was_not_seen(
    empty_bed: Bed, graphs: Graphs, operator_kubeconfig: Path
) -> None:
    async def scene(stage: KubernetesStage) -> None:
        await known(stage)
        assert await take(stage, created(a_template(graphs))) == Accepted()
        seen = now_shown(stage).graphs[CHAT]
        await stage.stop_reading()
        graphs.annotate(CHAT.name, {"wingsmith.dev/workload": None})
        answer = await take(stage, Remove(CHAT, seen.uid))
        assert isinstance(answer, Denied)
        assert _is_shown_as_ours(now_shown(stage))
        assert graphs.get(CHAT.name) is not None
        stage.read()

    play(scene, empty_bed, operator_kubeconfig, graphs.version)


def _is_shown_as_ours(snapshot: Snapshot) -> bool:
    return snapshot.graphs[CHAT].is_ours
