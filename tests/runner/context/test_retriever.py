"""ahp.runner.context.retriever, and what a run does with it"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.journal import query
from ahp.journal.place import journal_of
from ahp.runner.context.retriever import Retrieved, Retriever, tokens
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.system.git import GitError, Repository
from tests.runner.runs import DONE, Scene, plan

AUTH = "".join(f"# line {n}\n" for n in range(1, 101)) + "def session_expiry():\n    return 1800\n" + "# more\n" * 50
TICKET = "---\nid: FEAT-001\ntype: feature\nstatus: open\nstage: doing\ntitle: t\nfiles: [docs/spec.md]\n---\n"


@pytest.fixture
def project(repo: Any) -> Any:
    repo.commit("old", **{f"other/f{n}.txt": f"{n}\n" for n in range(40)})
    repo.commit(
        "new",
        **{
            "src/auth.py": AUTH,
            "docs/spec.md": "# The spec\n",
            "secret/key.py": "session_expiry = 'SECRET'\n",
            "Issues/Features/open/FEAT-001-t.md": TICKET,
            "binary.bin": b"session_expiry\0",
        },
    )
    return repo


def retrieve(project: Any, *texts: str, **more: Any) -> Retrieved:
    settings = {"tokens": 2_000, "may_read": lambda path: True, **more}
    return Retriever(str(project.root), **settings).retrieve(texts)


def why(found: Retrieved, path: str) -> tuple[str, ...]:
    return next(one.why for one in found.passages if one.path == path)


def test_a_passage_is_the_lines_round_the_name(project: Any) -> None:
    found = retrieve(project, "raise session_expiry in src/auth.py")
    first = found.passages[0]
    assert (first.path, first.first, first.last) == ("src/auth.py", 98, 113)
    assert "def session_expiry" in first.text
    assert set(first.why) == {"named", "git grep", "changed lately"}
    assert [one.score for one in found.passages] == sorted((one.score for one in found.passages), reverse=True)


def test_a_file_that_is_named_and_holds_no_name_is_given_from_its_head(project: Any) -> None:
    [one] = [one for one in retrieve(project, "describe docs/spec.md").passages if one.path == "docs/spec.md"]
    assert (one.first, one.text) == (1, "# The spec")


def test_ticket_changes_and_failures_are_sources(project: Any) -> None:
    project.write("src/auth.py", AUTH + "changed\n")
    project.write("fresh.py", "x = 1\n")
    detail = {"file": "other/f7.txt", "line": 1, "error": "wrong", "context": ""}
    events = [{"event": "final_verify", "result": {"ok": False, "details": [detail, {**detail, "line": None}]}}]
    made = Retriever(str(project.root), lambda path: True, tokens=2_000, issue="FEAT-001")
    found = made.retrieve(["go on"], events)
    assert why(found, "docs/spec.md") == ("the ticket", "changed lately")
    assert "the ticket" in why(found, "Issues/Features/open/FEAT-001-t.md")
    assert why(found, "fresh.py") == ("changed lately",)
    assert why(found, "other/f7.txt")[0] == "failed last"
    green = [*events, {"event": "final_verify", "result": {"ok": True, "details": []}}]
    assert "failed last" not in str(made.retrieve(["go on"], green))
    assert Retriever(str(project.root), lambda path: True, tokens=2_000, issue="FEAT-9").retrieve(["go on"]).passages


@pytest.mark.parametrize("room", [100, 400, 1_000])
def test_no_more_is_given_than_there_is_room_for(project: Any, room: int) -> None:
    found = retrieve(project, "session_expiry", tokens=room)
    assert found.passages
    assert sum(tokens(one.text) for one in found.passages) <= room


def test_without_room_without_a_repository_or_with_a_broken_one_there_is_nothing(
    project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = Retrieved([], [])
    assert retrieve(project, "session_expiry", tokens=0) == nothing
    (tmp_path / "plain").mkdir()
    assert Retriever(str(tmp_path / "plain"), lambda path: True, tokens=2_000).retrieve(["x_y"]) == nothing

    def run(repo: Repository, *args: str, **more: Any) -> bytes:
        raise GitError("broken")

    monkeypatch.setattr(Repository, "run", run)
    assert retrieve(project, "session_expiry") == nothing


def test_what_leads_out_of_the_project_is_not_read(project: Any, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("session_expiry = 1")
    (project.root / "link.py").symlink_to(tmp_path / "outside.py")
    (project.root / "folder").symlink_to(tmp_path)
    asked: list[str] = []
    text = "see link.py, ../outside.py, folder/outside.py, /etc/passwd.d and session_expiry"
    found = retrieve(project, text, may_read=lambda path: asked.append(path) or True)
    assert "outside" not in str([one.path for one in found.passages])
    assert not any("outside" in path or path == "link.py" or path.startswith("/") for path in asked)


def test_what_the_gate_refuses_is_not_given(project: Any) -> None:
    found = retrieve(project, "session_expiry", may_read=lambda path: not path.startswith("secret/"))
    assert found.refused == ["secret/key.py"]
    assert "SECRET" not in str(found.passages)


POLICY = """\
version: 1
rules:
  no-secret: {at: pre-tool-use, block: "any(p.startswith('secret/') for p in tool.paths)", message: "not read"}
"""


def test_a_run_is_given_what_its_gate_lets_it_read_and_says_why(project: Any) -> None:
    project.commit("policy", **{".ahp/hooks.yaml": POLICY})
    gate = RepositoryGate(str(project.root), session="s1")
    step = '{"title": "g", "steps": [{"id": "a", "description": "raise session_expiry in src/auth.py"}]}'
    scene = Scene([step, DONE, "done"], planning=True, gate=gate, root=str(project.root), retrieval_tokens=3_000)
    assert scene.turn.ok, scene.turn.answer
    first = next(event for event in scene.of("retrieved") if event.get("step") == "a")
    assert (first["path"], first["first"]) == ("src/auth.py", 98)
    assert {event["path"] for event in scene.of("not_retrieved")} == {"secret/key.py"}
    assert "From src/auth.py, lines 98 to 113 (" in scene.said[1]
    assert "# line 98\n# line 99" in scene.said[1]
    assert "SECRET" not in str(scene.events)
    assert not scene.of("blocked")
    assert "From " not in scene.said[2]  # the answer is about what was found
    assert list(query.folded(journal_of(str(project.root)).folder, query.Filter())[0]) == []


def test_a_gate_that_cannot_judge_gives_nothing(project: Any) -> None:
    (project.root / ".ahp").mkdir()
    (project.root / ".ahp" / "hooks.yaml").write_text("rules: [")
    gate = RepositoryGate(str(project.root), session="s1")
    assert not Scene(["done"], gate=gate, root=str(project.root)).of("retrieved")


def test_a_small_context_gets_little(project: Any) -> None:
    scene = Scene([plan("a"), DONE, "done"], planning=True, root=str(project.root), context_tokens=2_000)
    assert scene.turn.ok
    assert sum(event["tokens"] for event in scene.of("retrieved") if event.get("step") == "a") <= 500
