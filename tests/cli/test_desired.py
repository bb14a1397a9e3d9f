"""The file of an `apply`: YAML or JSON, one object, and told by line what is wrong with it."""

import io
from pathlib import Path

import pytest

from hangar.cli.desired import name_in, read_desired
from hangar.cli.failures import UsageError


@pytest.mark.parametrize(
    "text",
    [
        "name: llama\nreplicas: 4\n",
        "# how it is to be\n---\nname: llama\nreplicas: 4\n---\n",
        '{"name": "llama", "replicas": 4}',
        '{\n\t"name": "llama",\n\t"replicas": 4\n}',  # tabs, which YAML has no place for
        "{name: llama, replicas: 4}",
        "\ufeffname: llama\nreplicas: 4\n",
    ],
)
def test_yaml_and_json_are_read(tmp_path: Path, text: str) -> None:
    file = tmp_path / "f"
    file.write_text(text, encoding="utf-8")
    assert read_desired(str(file), "workload") == {"name": "llama", "replicas": 4}


def test_a_dash_reads_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("name: llama"))
    assert read_desired("-", "workload") == {"name": "llama"}
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(UsageError, match="stdin is empty"):
        read_desired("-", "workload")
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="stdin is empty"):
        read_desired("-", "workload")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "f is empty; one workload is wanted"),
        (b"# nothing\n", "f is empty"),
        (b"- name: a\n- name: b\n", "f holds a list; one workload is wanted"),
        (b"42", "f holds only 42"),
        (b"name: a\n---\nname: b\n", "f holds 2 documents; one workload a file is wanted"),
        (b"name: a\nreplicas: [1\n", "f is no YAML and no JSON in line 3: "),
        (b"name: a\n  b: c\n", "f is no YAML and no JSON in line 2: mapping values are not allowed here"),
        (b"a: \x00", "f is no YAML and no JSON: "),
        (b"name: !!python/object:os.system x\n", "f is no YAML and no JSON in line 1: could not determine"),
        (b"created: 2026-10-27\n", "f holds what cannot be sent as JSON"),
        (b"replicas: .nan\n", "f holds what cannot be sent as JSON"),
        (b"\xff\xfe\x00", "it is no UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "f"
    file.write_bytes(content)
    with pytest.raises(UsageError) as raised:
        read_desired(str(file), "workload")
    assert said in raised.value.message


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot read .*/none\.yaml: No such file or directory"):
        read_desired(str(tmp_path / "none.yaml"), "workload")


@pytest.mark.parametrize(("document", "said"), [({}, "has no `name`"), ({"name": 3}, "has the name 3, which is no")])
def test_a_file_has_to_name_what_it_is_about(document: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=f"^stdin {said}"):
        name_in(document, "-")
    assert name_in({"name": "llama"}, "f") == "llama"
