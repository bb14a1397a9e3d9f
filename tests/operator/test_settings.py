"""The operator's settings, from its environment."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from hangar.domain.limits import SETTLE_S
from hangar.operator.settings import OperatorSettings, address_of


def settings(patch: pytest.MonkeyPatch, **variables: str) -> OperatorSettings:
    given = {"SERVER": "https://hub.example", "TOKEN_FILE": "/run/token"} | variables
    for name, value in given.items():
        patch.setenv(f"HANGAR_{name}", value)
    return OperatorSettings.model_validate({})


def test_an_address_and_a_token_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    told = settings(monkeypatch)
    assert (told.server, told.token_file) == ("https://hub.example", Path("/run/token"))
    assert told.allowed_operations == {"cordon", "drain"}
    assert (told.workloads, told.allowed) == ("manage", {"cordon", "drain", "scale", "deploy"})
    assert (told.read_only, told.has_autoscaler, told.settle_s, told.kubeconfig) == (False, False, SETTLE_S, None)


def test_without_them_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HANGAR_SERVER", "HANGAR_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValidationError, match=r"server[\s\S]*token_file"):
        OperatorSettings.model_validate({})


@pytest.mark.parametrize(
    ("text", "allowed"), [("cordon", {"cordon"}), (" drain , cordon,", {"cordon", "drain"}), ("", set[str]())]
)
def test_what_is_allowed_is_a_list_with_commas(monkeypatch: pytest.MonkeyPatch, text: str, allowed: set[str]) -> None:
    assert settings(monkeypatch, ALLOWED_OPERATIONS=text).allowed_operations == allowed


@pytest.mark.parametrize(
    ("variables", "allowed"),
    [
        ({"WORKLOADS": "manage"}, {"cordon", "drain", "scale", "deploy"}),
        ({"WORKLOADS": "scale"}, {"cordon", "drain", "scale"}),
        ({"WORKLOADS": "observe"}, {"cordon", "drain"}),
        ({"WORKLOADS": "scale", "ALLOWED_OPERATIONS": "force"}, {"force", "scale"}),
        ({"WORKLOADS": "manage", "READ_ONLY": "true"}, set[str]()),
    ],
)
def test_workloads_are_allowed_beside_the_nodes_and_read_only_wins(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], allowed: set[str]
) -> None:
    assert settings(monkeypatch, **variables).allowed == allowed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ALLOWED_OPERATIONS", "cordon,reboot"),
        ("ALLOWED_OPERATIONS", "scale"),
        ("WORKLOADS", "all"),
        ("SETTLE_S", "-1"),
        ("LOG_FORMAT", "xml"),
        ("METRICS_LISTEN", "9464"),
        ("METRICS_LISTEN", ":9464"),
        ("METRICS_LISTEN", "0.0.0.0"),
        ("METRICS_LISTEN", "0.0.0.0:99999"),
        ("METRICS_LISTEN", "http://0.0.0.0:9464"),
        ("METRICS_LISTEN", "0.0.0.0:9464/metrics"),
    ],
)
def test_what_cannot_be_meant_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    with pytest.raises(ValidationError, match=name.lower()):
        settings(monkeypatch, **{name: text})


@pytest.mark.parametrize(
    ("text", "address"),
    [("0.0.0.0:9464", ("0.0.0.0", 9464)), ("[::]:0", ("::", 0)), ("localhost:80", ("localhost", 80))],
)
def test_where_metrics_are_shown_is_an_address_and_a_port(
    monkeypatch: pytest.MonkeyPatch, text: str, address: tuple[str, int]
) -> None:
    assert settings(monkeypatch, METRICS_LISTEN=text).metrics_listen == text
    assert address_of(text) == address
