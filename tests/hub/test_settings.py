"""Settings: read from the environment, refused where they contradict each other."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from sqlalchemy import URL

from hangar.hub.settings import HubSettings, SettingsError, database, listen_address


def test_each_setting_is_a_variable_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANGAR_DB", "/data/hub.db")
    monkeypatch.setenv("HANGAR_LISTEN", "0.0.0.0:8443")
    monkeypatch.setenv("HANGAR_PENDING_TIMEOUT_S", "60")
    monkeypatch.setenv("HANGAR_INSECURE_PLAIN_HTTP", "true")
    settings = HubSettings()
    assert (settings.db, settings.listen, settings.pending_timeout_s) == ("/data/hub.db", "0.0.0.0:8443", 60.0)
    assert settings.insecure_plain_http


def test_every_setting_says_what_it_is_for() -> None:
    assert all(field.description for field in HubSettings.model_fields.values())


@pytest.mark.parametrize(
    "times",
    [
        {"hand_over_after_s": 15.0},
        {"lease_s": 10.0},
        {"stop_after_s": 3.0},
        {"sync_wait_s": 0.0},
        {"pending_timeout_s": -1.0},
    ],
)
def test_times_that_contradict_each_other_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        HubSettings(**times)  # type: ignore[arg-type]


@pytest.mark.parametrize(("hand_over_after_s", "is_safe"), [(20.0, True), (18.0, True), (17.9, False)])
def test_a_margin_that_is_too_small_for_a_last_call_is_known(hand_over_after_s: float, is_safe: bool) -> None:
    assert HubSettings(hand_over_after_s=hand_over_after_s).is_hand_over_safe is is_safe


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("hub.db", "hub.db"),
        ("/data/hub.db", "/data/hub.db"),
        ("sqlite:///hub.db", "hub.db"),
        ("sqlite:////data/hub.db", "/data/hub.db"),
    ],
)
def test_a_database_is_a_path_or_a_url(given: str, path: str) -> None:
    assert database(given) == Path(path)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_a_database_on_a_server_keeps_its_password_to_itself(scheme: str) -> None:
    found = database(f"{scheme}://hub:s3cret@db.example:6543/wingsmith?sslmode=verify-full")
    assert isinstance(found, URL)
    assert (found.host, found.port, found.password, found.database) == ("db.example", 6543, "s3cret", "wingsmith")
    assert dict(found.query) == {"sslmode": "verify-full"}
    assert str(found) == "postgresql://hub:***@db.example:6543/wingsmith?sslmode=verify-full"


@pytest.mark.parametrize("given", ["mysql://hub/hub", "sqlite://hub.db", "sqlite://", "postgresql://hub:secret@h:x/y"])
def test_another_database_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match="postgresql://USER:PASSWORD@HOST:PORT/NAME") as caught:
        database(given)
    assert "secret" not in str(caught.value)


def test_an_address_may_be_of_either_family() -> None:
    assert listen_address("127.0.0.1:0") == ("127.0.0.1", 0)
    assert listen_address("[::1]:8443") == ("::1", 8443)


@pytest.mark.parametrize("given", ["", "8443", ":8443", "host:", "host:port", "host:65536", "host:-1"])
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(SettingsError, match="give ADDRESS:PORT"):
        listen_address(given)
