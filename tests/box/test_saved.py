"""Snapshots of the work tree: what is saved, what is brought back, and that an agent's call is saved before it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ahp.box import saved
from ahp.box.saved import Store
from ahp.cli.main import run
from ahp.system import environ, git
from ahp.system.errors import AhpError
from tests.conftest import Repo

from . import trials_saved as trials

POLICY = "version: 1\nrules: {s: {at: pre-tool-use, control: tool.loses_work, action: {type: snapshot}%s}}\n"


def store_of(repo: Repo) -> Store:
    return Store(git.discover(str(repo.root), environ.current()))


@pytest.mark.parametrize("number", range(0, len(trials.FORMS), 6))
def test_what_a_call_destroys_comes_back(number: int, tmp_path: Path) -> None:
    assert trials.trial(number, tmp_path) == ""


@pytest.mark.slow
@pytest.mark.parametrize("first", range(64, 320, 64))
def test_every_form_against_more_trees(first: int, tmp_path: Path) -> None:
    for number in range(first, first + 64):
        (tmp_path / str(number)).mkdir()
        assert trials.trial(number, tmp_path / str(number)) == ""


def test_where_nothing_changed_there_is_no_new_one(repo: Repo) -> None:
    repo.commit("one", **{"a.txt": "a\n"})
    store = store_of(repo)
    first = store.save("s", "ls")
    assert (store.save("s", "ls"), len(store.all())) == (first, 1)
    repo.write("b.txt", "b\n")
    assert store.save("s", "rm b.txt") != first
    assert [(one.call, one.left) for one in store.all()] == [("ls", 0), ("rm b.txt", 0)]


def test_it_outlives_the_objects_of_the_repository_and_no_push_has_it(repo: Repo) -> None:
    repo.commit("one", **{"a.txt": "a\n"})
    name = store_of(repo).save()
    assert "ahp/saved" not in repo.git("for-each-ref")
    for path in (repo.root / ".git/objects").rglob("*"):
        if path.is_file():
            path.unlink()
    (repo.root / "a.txt").unlink()
    store_of(repo).restore(name)
    assert (repo.root / "a.txt").read_text() == "a\n"


@pytest.mark.parametrize("written", ["{", "[]", "\xff"])
def test_what_somebody_wrote_over_its_notes_stops_no_call(repo: Repo, written: str) -> None:
    repo.commit("one", **{"a.txt": "a\n"})
    store = store_of(repo)
    store.save()
    (noted,) = Path(store.folder).glob("*/state")
    noted.write_text(written, "latin-1")
    repo.write("b.txt", "b\n")
    name = store.save()
    (repo.root / "b.txt").unlink()
    store.restore(name)
    assert (repo.root / "b.txt").read_text() == "b\n"


def test_what_cannot_be_taken_away_is_named(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.write("b.txt", "b\n")

    def refuse(path: str, **_: object) -> None:
        raise PermissionError(1, "Operation not permitted", path)

    with monkeypatch.context() as patch, pytest.raises(AhpError, match=r"^b\.txt cannot be taken away: Operation not"):
        patch.setattr(saved.os, "unlink", refuse)
        saved._remove(str(repo.root), "b.txt")


def test_no_filter_and_no_hook_runs(repo: Repo, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    repo.git("config", "filter.x.clean", f"touch {ran}; cat")
    repo.git("config", "core.fsmonitor", f"touch {ran}; true")
    repo.write(".gitattributes", "* filter=x\n")
    repo.write("a.txt", "a\r\n")
    store = store_of(repo)
    name = store.save()
    (repo.root / "a.txt").unlink()
    store.restore(name)
    assert (repo.root / "a.txt").read_bytes() == b"a\r\n"
    assert not ran.exists()


def test_a_restore_follows_no_link_out_of_the_work_tree(repo: Repo, tmp_path: Path) -> None:
    repo.write("d/a.txt", "inside\n")
    store = store_of(repo)
    name = store.save()
    (repo.root / "d/a.txt").unlink()
    (repo.root / "d").rmdir()
    (repo.root / "d").symlink_to(tmp_path)
    (tmp_path / "a.txt").write_text("outside\n")
    store.restore(name, ("d/a.txt",))
    assert (repo.root / "d/a.txt").read_text() == "inside\n"
    assert (tmp_path / "a.txt").read_text() == "outside\n"


def test_what_is_ignored_is_kept_up_to_a_limit(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "_BESIDE", 3)
    repo.commit("one", **{".gitignore": "big/\n.env\n"})
    for number in range(9):
        repo.write(f"big/{number}", "x")
    repo.write(".env", "KEY=1\n")
    store = store_of(repo)
    name = store.save()
    assert store.all()[-1].left > 0
    repo.git("clean", "-qfdx")
    repo.write("big/new", "x")
    store.restore(name)
    assert (repo.root / ".env").read_text() == "KEY=1\n"
    assert (repo.root / "big/new").exists(), "what may have been there is not taken away"


def test_a_large_file_is_left_alone(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "_LARGE", 1000)
    repo.commit("one", **{"a.txt": "a\n"})
    (repo.root / "data.bin").write_bytes(b"x" * 1001)
    store = store_of(repo)
    name = store.save()
    assert store.all()[-1].left == 1
    (repo.root / "data.bin").write_bytes(b"y" * 1001)
    repo.write("a.txt", "b\n")
    assert store.restore(name)[1] == [("M", "files/a.txt")]
    assert (repo.root / "data.bin").read_bytes() == b"y" * 1001


def test_what_takes_long_goes_on_the_next_time(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved, "_AT_ONCE", (2, 1 << 20))
    monkeypatch.setattr(saved, "_PATIENCE", -1.0)
    for number in range(5):
        repo.write(f"{number}.txt", str(number))
    store = store_of(repo)
    with pytest.raises(AhpError, match="takes several calls"):
        store.save()
    monkeypatch.setattr(saved, "_PATIENCE", 60.0)
    name = store.save()
    repo.git("clean", "-qfd")
    store.restore(name)
    assert (repo.root / "4.txt").read_text() == "4"


def test_the_locks_of_a_git_that_was_killed_are_no_obstacle(repo: Repo) -> None:
    repo.commit("one", **{"a.txt": "a\n"})
    store = store_of(repo)
    store.save()
    (folder,) = (repo.root / ".git/ahp/saved").glob("*-*")
    for name in ("index.lock", "refs/heads/base.lock", "refs/ahp/base.lock"):
        (folder / name).touch()
    repo.commit("two", **{"b.txt": "b\n"})
    assert store.save() == store.all()[-1].name


def test_old_stores_go_as_a_whole(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit("one", **{"a.txt": "a\n"})
    now = saved.clock.now()
    store, names = store_of(repo), []
    for weeks in (0, 2, 4):
        monkeypatch.setattr(saved.clock, "now", lambda weeks=weeks: now + weeks * 7 * 86400)
        names.append(store.save())
    assert [one.name for one in store.all()] == names[1:]


def asked(repo: Repo, command: str, otherwise: str = "") -> dict[str, object]:
    """What the installed hook of Claude Code says of a call."""
    repo.write(".ahp/hooks.yaml", POLICY % otherwise)
    if not (repo.root / ".claude").exists():
        assert run(["install", "claude"]) == 0
    repo.add()
    repo.commit("policy")
    settings = json.loads((repo.root / ".claude/settings.json").read_text())
    (hook,) = settings["hooks"]["PreToolUse"][0]["hooks"]
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "1", "cwd": str(repo.root)}
    call |= {"tool_name": "Bash", "tool_input": {"command": command}}
    env = {"CLAUDE_PROJECT_DIR": str(repo.root)}
    done = repo.run("sh", "-c", hook["command"], stdin=json.dumps(call).encode(), env=env)
    return json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}


def test_a_call_is_saved_before_it_runs_and_a_person_brings_it_back(
    repo: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(repo.root)
    assert asked(repo, "git status; cat a.txt") == {}
    assert store_of(repo).all() == []
    repo.write("src/new.txt", "never committed\n")
    assert asked(repo, "rm -rf src; git branch -D topic") == {}
    repo.run("git", "branch", "topic")
    assert asked(repo, "git branch -D topic") == {}
    (name, *_), _ = [one.name for one in store_of(repo).all()][::-1], repo.run("rm", "-rf", "src")
    repo.run("git", "branch", "-D", "topic")
    capsys.readouterr()
    assert run(["saved", "list"]) == 0
    assert "git branch -D topic" in capsys.readouterr().out
    assert run(["saved", "show", name]) == 0
    shown = capsys.readouterr().out
    assert "is gone: src/new.txt" in shown and "is gone: refs/heads/topic" in shown
    assert run(["saved", "restore", name]) == 0
    assert "brought back: src/new.txt" in capsys.readouterr().out
    assert (repo.root / "src/new.txt").read_text() == "never committed\n"
    assert "topic" in repo.git("branch")


@pytest.mark.slow
def test_where_nothing_can_be_saved_otherwise_decides(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo.root)
    assert asked(repo, "ls") == {}
    (repo.root / ".git/ahp/saved").write_text("no folder\n")
    said = asked(repo, "rm a.txt")
    assert said["permissionDecision"] == "deny" and "has to be saved" in str(said["permissionDecisionReason"])
    assert "what it loses is lost" in str(asked(repo, "rm a.txt", ", otherwise: prompt")["additionalContext"])
    assert asked(repo, "rm a.txt", ", otherwise: skip") == {}
