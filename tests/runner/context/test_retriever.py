"""ahp.runner.context.retriever, and what a run does with it"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ahp.journal import query
from ahp.journal.place import journal_of
from ahp.runner.context.retriever import Place, retrieve
from ahp.runner.gating.gate_adapter import RepositoryGate
from ahp.runner.run import live
from ahp.system.git import GitError, Repository
from tests.runner.runs import DONE, Scene, plan

AUTH = "".join(f"# line {n}\n" for n in range(1, 101)) + "def session_expiry():\n    return 1800\n" + "# more\n" * 50
TICKET = "---\nid: FEAT-001\ntype: feature\nstatus: open\nstage: doing\ntitle: t\nfiles: [docs/spec.md]\n---\n"


@pytest.fixture
def project(repo: Any) -> Any:
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


def found(project: Any, *texts: str, **more: Any) -> list[Place]:
    return retrieve(str(project.root), texts, more.get("failed", {}), more.get("may_read", lambda path: True))


def test_the_named_file_that_holds_the_name_comes_first_with_its_lines(project: Any) -> None:
    first, second = found(project, "raise session_expiry in src/auth.py")
    assert first == Place("src/auth.py", [101])
    assert second.path == "secret/key.py"


def test_the_ticket_of_an_issue_is_found_by_its_id(project: Any) -> None:
    assert [one.path for one in found(project, "go on", "FEAT-001")] == ["Issues/Features/open/FEAT-001-t.md"]


def test_what_was_red_last_is_a_place(project: Any) -> None:
    assert found(project, "go on", failed={"docs/spec.md": [1]}) == [Place("docs/spec.md", [1])]


def test_without_a_repository_or_with_a_broken_one_nothing_is_found(
    project: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").mkdir()
    assert retrieve(str(tmp_path / "plain"), ["x_y"], {}, lambda path: True) == []

    def run(repo: Repository, *args: str, **more: Any) -> bytes:
        raise GitError("broken")

    monkeypatch.setattr(Repository, "run", run)
    assert found(project, "session_expiry") == []


def test_what_leads_out_of_the_project_is_not_named(project: Any, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("session_expiry = 1")
    (project.root / "link.py").symlink_to(tmp_path / "outside.py")
    (project.root / "folder").symlink_to(tmp_path)
    asked: list[str] = []
    text = "see link.py, ../outside.py, folder/outside.py, /etc/passwd.d, src/../../outside.py and session_expiry"
    places = found(project, text, may_read=lambda path: asked.append(path) or True)
    assert {one.path for one in places} == {"src/auth.py", "secret/key.py"} == set(asked)


def test_what_the_gate_refuses_is_not_named(project: Any) -> None:
    places = found(project, "session_expiry", may_read=lambda path: not path.startswith("secret/"))
    assert [one.path for one in places] == ["src/auth.py"]


POLICY = """\
version: 1
rules:
  no-secret: {at: pre-tool-use, block: "any(p.startswith('secret/') for p in tool.paths)", message: "not read"}
"""


def test_a_run_is_told_where_its_gate_lets_it_look(project: Any) -> None:
    project.commit("policy", **{".ahp/hooks.yaml": POLICY})
    gate = RepositoryGate(str(project.root), session="s1")
    step = '{"title": "g", "steps": [{"id": "a", "description": "raise session_expiry in src/auth.py"}]}'
    scene = Scene([step, DONE, "done"], planning=True, gate=gate, root=str(project.root))
    assert scene.turn.ok, scene.turn.answer
    [event] = [event for event in scene.of("retrieved") if event.get("step") == "a"]
    assert event["places"] == [{"path": "src/auth.py", "lines": [101]}]
    assert live.line(event) == "  context  look first: src/auth.py"
    assert "Look here first (path: lines):\n<<<" in scene.said[1]
    assert "\nsrc/auth.py: 101\n>>>" in scene.said[1]
    assert "secret/key" not in str(scene.events)
    assert not scene.of("blocked")
    assert "Look here first" not in scene.said[2]  # the answer is about what was found
    assert list(query.folded(journal_of(str(project.root)).folder, query.Filter())[0]) == []


def test_a_gate_that_cannot_judge_names_nothing(project: Any) -> None:
    (project.root / ".ahp").mkdir()
    (project.root / ".ahp" / "hooks.yaml").write_text("rules: [")
    gate = RepositoryGate(str(project.root), session="s1")
    assert not Scene(["done"], task="session_expiry", gate=gate, root=str(project.root)).of("retrieved")


def test_a_small_context_gets_little(project: Any) -> None:
    step = '{"title": "g", "steps": [{"id": "a", "description": "raise session_expiry in src/auth.py"}]}'
    small: dict[str, Any] = {"planning": True, "root": str(project.root)}
    [event] = [e for e in Scene([step, DONE, "done"], **small, context_tokens=120).of("retrieved") if e.get("step")]
    assert [one["path"] for one in event["places"]] == ["src/auth.py"]
    assert not Scene([plan("a"), DONE, "done"], **small, retrieval_tokens=0).of("retrieved")
