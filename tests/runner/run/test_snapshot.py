"""ahp.runner.verification.project, and what a resumed run says of files that changed meanwhile"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ahp.runner.config import AgentConfig
from ahp.runner.run.agent import Agent, AgentTurn
from ahp.runner.run.events import EventLog
from ahp.runner.scripted import ScriptedModel
from ahp.runner.tools.tool import FunctionTool, ToolContext
from ahp.runner.verification import project as snapshot
from ahp.runner.verification.project import changed_since, take
from tests.runner.runs import call
from tests.runner.scripted_gate import ScriptedGate


@pytest.fixture
def project(repo: Any) -> Any:
    repo.commit("begin", **{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n"})
    repo.write(".git/info/exclude", "ignored\n")
    return repo


def test_what_holds_something_else_is_named(project: Any) -> None:
    root = str(project.root)
    project.write("a.txt", "a2\n")
    project.write("new.txt", "new\n")
    before = take(root)
    assert before is not None and before.files.keys() == {"a.txt", "new.txt"}
    assert changed_since(root, before) == []
    project.write("a.txt", "a3\n")
    project.write("other.txt", "o\n")
    project.write("ignored", "x")
    (project.root / "b.txt").unlink()
    (project.root / "new.txt").unlink()
    assert changed_since(root, before) == ["a.txt", "b.txt", "new.txt", "other.txt"]


def test_what_was_only_committed_or_taken_back_and_made_again_has_not_changed(project: Any) -> None:
    root = str(project.root)
    project.write("a.txt", "a2\n")
    project.write("new.txt", "new\n")
    before = take(root)
    assert before is not None
    project.commit("theirs", **{"a.txt": "a2\n", "new.txt": "new\n"})
    assert changed_since(root, before) == []
    project.commit("more", **{"c.txt": "c2\n"})
    assert changed_since(root, before) == ["c.txt"]


def test_where_git_cannot_tell_nothing_is_claimed(
    project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(project.root)
    before = take(root)
    assert before is not None
    gone = snapshot.Snapshot("0" * 39 + "1", {})
    assert changed_since(root, gone) is None
    assert take(str(tmp_path / "none")) is None
    monkeypatch.setattr(snapshot, "_MOST", 0)
    project.write("a.txt", "a2\n")
    assert take(root) is None


def run(project: Any, path: Path, *answers: str, resumes: bool = False) -> tuple[AgentTurn, ScriptedModel, EventLog]:
    class Args(BaseModel):
        text: str

    def write(args: Args, context: ToolContext) -> str:
        Path(context.root, "a.txt").write_text(args.text)
        return "written"

    log = EventLog(str(path), resumes=resumes)
    model = ScriptedModel(answers)
    tool = FunctionTool("write", "writes a.txt", Args, write, kind="write")
    config = AgentConfig(enable_planning=False, verification_policy="none")
    agent = Agent(model, [tool], gate=ScriptedGate(), config=config, root=str(project.root), events=log)
    try:
        return (agent.resume() if resumes else agent.run("task")), model, log
    finally:
        log.close()


def test_a_resumed_run_names_the_files_that_somebody_changed_meanwhile(project: Any, tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    run(project, path, call("write", text="mine"))  # the script ends here
    project.write("b.txt", "theirs")
    turn, model, log = run(project, path, "done", resumes=True)
    assert "Meanwhile files have changed, by somebody else: b.txt. Read them again" in model.requests[0].said
    assert turn.notes == ["Changed while the run was broken off: b.txt."]
    assert [event["changed"] for event in log.of("run_resume")] == [["b.txt"]]


def test_what_the_run_changed_itself_is_not_named(project: Any, tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    run(project, path, call("write", text="mine"))
    turn, model, _ = run(project, path, "done", resumes=True)
    assert "Meanwhile" not in model.requests[0].said
    assert turn.notes == []


def test_what_a_call_did_that_was_cut_off_may_be_its_own(project: Any, tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    run(project, path, call("write", text="mine"))
    lines = path.read_bytes().splitlines(keepends=True)
    kept = next(n for n, line in enumerate(lines) if b"pre-tool-use" in line)
    path.write_bytes(b"".join(lines[: kept + 1]))
    _, model, _ = run(project, path, "done", resumes=True)
    assert "Meanwhile files have changed, by that call or by somebody else: a.txt." in model.requests[0].said


def test_many_files_are_counted(project: Any, tmp_path: Path) -> None:
    path = tmp_path / "run" / "events.jsonl"
    run(project, path, call("write", text="mine"))
    for number in range(25):
        project.write(f"n{number:02d}", "x")
    turn, _, _ = run(project, path, "done", resumes=True)
    assert turn.notes[0].endswith("n19 and 5 more.")


def test_what_cannot_be_told_is_said(project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run" / "events.jsonl"
    run(project, path, call("write", text="mine"))
    monkeypatch.setattr(snapshot, "take", lambda root, base="": None)
    turn, _, _ = run(project, path, "done", resumes=True)
    assert turn.notes == ["Whether files changed while the run was broken off cannot be told."]
