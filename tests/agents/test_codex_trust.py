"""Codex is asked, through its app server, to trust what a person at a terminal has seen."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ahp.agents import codex_trust, doctor, install
from ahp.protocol.event import Actor
from ahp.system import environ, terminal
from ahp.system.errors import AhpError
from tests.agents.conftest import found
from tests.conftest import Repo

# As Codex 0.169 answers: it reads a line at a time, says things nobody asked for, and ends with its input.
SERVER = """#!{python}
import json, pathlib, sys
state = pathlib.Path(__file__).with_name("trusted.json")
lost = pathlib.Path(__file__).with_name("lost")
trusted = json.loads(state.read_text()) if state.exists() else {{}}
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({{"method": "configWarning", "params": {{}}}}), flush=True)
    if asked.get("id") == 0:
        print(json.dumps({{"id": 0, "result": {{}}}}), flush=True)
    elif asked.get("method") == "config/batchWrite":
        (edit,) = asked["params"]["edits"]
        assert (edit["keyPath"], edit["mergeStrategy"]) == ("hooks.state", "upsert")
        if not lost.exists():
            trusted |= {{key: one["trusted_hash"] for key, one in edit["value"].items()}}
            state.write_text(json.dumps(trusted))
        print(json.dumps({{"id": 1, "result": {{"status": "ok"}}}}), flush=True)
    elif asked.get("method") == "hooks/list":
        (root,) = asked["params"]["cwds"]
        listed = json.loads(pathlib.Path(root, ".codex/hooks.json").read_text())["hooks"]
        hooks = [
            {{"key": event, "command": entry["hooks"][0]["command"], "currentHash": "sha256:" + event, "enabled": True,
              "trustStatus": "trusted" if trusted.get(event) == "sha256:" + event else "untrusted"}}
            for event, (entry,) in listed.items()
        ]
        hooks.append({{"key": "other", "command": "other", "currentHash": "sha256:o", "trustStatus": "untrusted"}})
        print(json.dumps({{"id": 1, "result": {{"data": [{{"cwd": root, "hooks": hooks}}]}}}}), flush=True)
"""


@pytest.fixture
def codex(project: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a codex that trusts nothing yet, in the PATH of a person at a terminal; hooks installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").write_text(SERVER.format(python=sys.executable))
    (folder / "codex").chmod(0o755)
    monkeypatch.setattr(environ, "current", lambda: {"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path)})
    monkeypatch.setattr(terminal, "attended", lambda: True)
    install.install(found(project), "codex", "")
    return folder


def answering(monkeypatch: pytest.MonkeyPatch, answer: bool) -> list[str]:
    asked: list[str] = []

    def confirm(question: str, command: str) -> bool:
        asked.append(question)
        return answer

    monkeypatch.setattr(terminal, "confirm", confirm)
    return asked


def test_a_person_sees_each_command_and_codex_trusts_them_and_nothing_else(
    project: Repo, codex: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch, True)
    assert codex_trust.offer(str(project.root)) == ""
    (question,) = asked
    events = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop"]
    assert all(f"  {event}: {install.command('codex', event)}" in question for event in events)
    assert sorted(json.loads((codex / "trusted.json").read_text())) == sorted(events)
    assert codex_trust.offer(str(project.root)) == "" and len(asked) == 1  # what is trusted is not asked about again
    (check,) = doctor.examine(found(project), "codex")
    assert (check.status, check.detail) == ("ok", "configured, trusted and reached")


@pytest.mark.parametrize("case", ["no", "agent", "no terminal", "not kept"])
def test_words_are_left_where_nobody_agrees_or_codex_does_not_keep_it(
    project: Repo, codex: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    asked = answering(monkeypatch, case == "not kept")
    if case == "agent":
        monkeypatch.setattr(codex_trust, "identify", lambda env: Actor("agent", "codex"))
    if case == "no terminal":
        monkeypatch.setattr(terminal, "attended", lambda: False)
    (codex / "lost").touch()
    assert "accept each hook in /hooks" in codex_trust.offer(str(project.root))
    assert len(asked) == (case in ("no", "not kept")) and not (codex / "trusted.json").exists()
    (check,) = doctor.examine(found(project), "codex")
    assert check.status == "wrong" and "does not trust PreToolUse" in check.detail


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("exit 1", "does not answer hooks/list: nothing"),
        ("echo noise; echo '{'; exit 0", "does not answer hooks/list"),
        ("""read a; read b; read c; echo '{"id": 1, "error": {"message": "unknown method"}}'""", "unknown method"),
        (
            """read a; read b; read c; echo '{"id": 1, "result": {"data": [{"hooks": []}]}}'""",
            "does it trust this project",
        ),
        (None, "no such program"),
    ],
)
def test_where_codex_cannot_be_asked_words_are_left_and_say_why(
    project: Repo, codex: Path, said: str | None, why: str
) -> None:
    (codex / "codex").unlink() if said is None else (codex / "codex").write_text(f"#!/bin/sh\n{said}\n")
    todo = codex_trust.offer(str(project.root))
    assert "accept each hook in /hooks" in todo and why in todo
    (check,) = doctor.examine(found(project), "codex")
    assert check.status == "note" and why in check.detail


def test_a_server_that_never_answers_is_ended(project: Repo, codex: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (codex / "codex").write_text("#!/bin/sh\nexec sleep 600\n")
    monkeypatch.setattr(codex_trust, "_TIMEOUT", 0.2)
    with pytest.raises(AhpError, match="did not finish"):
        codex_trust.listed(str(project.root), environ.current())
