"""Kubeconfigs and what is wrong with them."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hangar.operator.cluster.kubernetes.connect import load
from hangar.operator.cluster.port import ClusterError


def a_kubeconfig(tmp_path: Path, **user: Any) -> Path:
    path = tmp_path / "config"
    document = {
        "clusters": [{"name": "c", "cluster": {"server": "https://cluster.test"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(yaml.safe_dump(document))
    return path


def test_a_kubeconfigs_current_context_is_taken(tmp_path: Path) -> None:
    config = load(a_kubeconfig(tmp_path, token="secret"))
    assert config.cluster.server == "https://cluster.test"
    assert config.user is not None
    assert config.user.token == "secret"


def test_a_plugin_of_todays_protocol_is_taken_for_one_of_the_older_name(tmp_path: Path) -> None:
    plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "get-token"}
    config = load(a_kubeconfig(tmp_path, exec=plugin))
    assert config.user is not None
    assert config.user.exec is not None
    assert config.user.exec.apiVersion == "client.authentication.k8s.io/v1beta1"


def test_a_context_without_a_user_is_anonymous(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(
        "clusters: [{name: c, cluster: {server: 'https://x'}}]\ncontexts: [{name: x, context: {cluster: c}}]\n"
        "current-context: x\n"
    )
    assert load(path).user is not None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "not found"),
        ("{", "while parsing"),
        ("contexts: []", "clusters"),
        ("clusters: []\ncontexts: []", "current context"),
        ("clusters: []\ncontexts: []\ncurrent-context: x", "x"),
        ("clusters: []\ncontexts: [{name: x, context: {cluster: c}}]\ncurrent-context: x", "c"),
    ],
)
def test_a_kubeconfig_that_leads_nowhere_is_named_with_the_reason(
    tmp_path: Path, text: str | None, complaint: str
) -> None:
    path = tmp_path / "config"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ClusterError, match=f"no cluster from {path}: .*{complaint}"):
        load(path)


def test_outside_of_a_pod_there_is_no_service_account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ClusterError, match="give a kubeconfig, or run in a pod"):
        load(None)
