"""`ahp install monoco` against a small Monoco; test_monoco.py drives the real one."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.hosts.monoco.install import find, install, uninstall
from ahp.system import environ, installed
from ahp.system.errors import AhpError
from ahp.system.git import discover
from tests.conftest import Repo
from tests.hosts import fake_monoco
from tests.tickets.memory import draft, place

POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0, fix: ["finish {checklist.incomplete}"]}
  small: {at: pre-issue-start, prompt: issue.type == 'feature', message: "start [small]"}
  told: {at: post-issue-submit, aid: issue.id != '', message: reviewers are told}
"""
PATH = place("FEAT-0001")


@pytest.fixture
def monoco(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "monoco").mkdir()
    folder = fake_monoco.build(tmp_path / "monoco")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


@pytest.fixture
def lab(repo: Repo, monoco: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    text = draft("FEAT-0001").replace("stage: draft", "stage: doing")
    repo.commit("first", **{".ahp/hooks.yaml": POLICY, PATH: text})
    repo.git("checkout", "-q", "-b", "FEAT-0001-a-thing")
    monkeypatch.chdir(repo.root)
    monkeypatch.setattr(environ, "current", lambda: dict(os.environ))
    return repo


def adapter(monoco: Path) -> Path:
    return monoco.parent / "site/monoco/features/ahp"


def everything(*folders: Path) -> set[str]:
    return {str(path) for folder in folders for path in folder.rglob("*") if "__pycache__" not in path.parts}


def mend(lab: Repo) -> None:
    lab.write(PATH, (lab.root / PATH).read_text().replace("[ ]", "[x]"))


def said(lab: Repo, *argv: str, **env: str) -> tuple[int, str]:
    ended = lab.run(*argv, env=env)
    return ended.returncode, os.fsdecode(ended.stdout + ended.stderr)


@pytest.mark.slow
def test_what_is_installed_asks_and_what_is_uninstalled_is_gone(
    lab: Repo, monoco: Path, capsys: pytest.CaptureFixture[str], person: list[str]
) -> None:
    (lab.root / ".git/ahp").mkdir(exist_ok=True)
    before = everything(monoco.parent, lab.root / ".git/ahp")
    for _ in range(2):
        assert run(["install", "monoco"]) == 0
        out = capsys.readouterr().out
        assert out.startswith(f"monoco: 0.4.2 asks at start, submit and close: {adapter(monoco)}\n")
        assert f'export PATH={lab.root}/.git/ahp/bin:"$PATH"' in out
    code, told = said(lab, "monoco", "issue", "submit", "FEAT-0001")
    assert (code, told.startswith("pre deny [AHP] open-boxes (")) == (1, True)
    assert "finish 'It works'" in told
    code, told = said(lab, "monoco", "issue", "start", "FEAT-0001")
    assert (code, "pre warn [AHP] small (" in told, r"start \[small]" in told) == (0, True, True)
    assert "start [small]" in said(lab, "monoco", "issue", "start", "FEAT-0001", AGENT_FLAG="true")[1]
    mend(lab)
    code, told = said(lab, "monoco", "issue", "submit", "FEAT-0001")
    assert (code, "pre allow [AHP]" in told, "reviewers are told" in told) == (0, True, True)

    assert run(["uninstall"]) == 0
    assert "monoco: shim and adapter removed" in capsys.readouterr().out
    log = {str(lab.root / ".git/ahp" / name) for name in ("signals.jsonl", "install.json")}
    left = everything(monoco.parent, lab.root / ".git/ahp") - before
    assert not {path for path in left if "monoco" in path.removeprefix(str(lab.root)) or "/bin" in path} - log
    assert not adapter(monoco).exists()
    assert said(lab, "monoco", "issue", "submit", "FEAT-0001") == (0, "")
    assert run(["uninstall", "monoco"]) == 0
    assert "nothing of ours" in capsys.readouterr().out


@pytest.mark.slow
def test_the_shim_stands_before_every_spelling(lab: Repo, monoco: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shims = f"{lab.root}/.git/ahp/bin"
    os.environ["PATH"] = f"{shims}:{os.environ['PATH']}"
    assert run(["install", "monoco"]) == 0
    assert "PATH" not in capsys.readouterr().out
    code, told = said(lab, "monoco", "issue", "update", "FEAT-0001", "--stage", "review")
    assert (code, "refused by open-boxes" in told) == (1, True)
    assert said(lab, "monoco", "issue", "list") == (0, "monoco issue list\n")

    shim = Path(shims) / "monoco"
    shim.write_text(shim.read_text().replace(sys.executable, "/nowhere/python"))
    code, told = said(lab, "monoco", "issue", "update", "FEAT-0001", "--stage", "review")
    assert code == 1 and f"{installed.program()} judges" in told and "refused by open-boxes" in told
    shim.write_text(shim.read_text().replace(installed.program(), "/nowhere/ahp"))
    lab.write("bin/ahp", '#!/bin/sh\necho "ahp $*"\n', 0o755)
    code, told = said(lab, "monoco", "issue", "list", PATH=f"{lab.root}/bin:{os.environ['PATH']}")
    assert (code, f"ahp hook monoco exec {monoco}/monoco issue list" in told) == (0, True)
    assert said(lab, "monoco", "issue", "list") == (0, "monoco issue list\n")
    code, told = said(lab, "monoco", "issue", "submit", "FEAT-0001")
    assert (code, "nobody can judge this" in told, f"{monoco}/monoco" in told) == (2, True, True)


def test_two_repositories_share_an_adapter(lab: Repo, monoco: Path, tmp_path: Path) -> None:
    env = environ.current()
    (tmp_path / "other").mkdir()
    other = Repo(tmp_path / "other")
    other.git("init", "-q")
    mine, theirs = discover(str(lab.root), env), discover(str(other.root), env)
    install(mine, env)
    install(theirs, env)
    assert json.loads((adapter(monoco) / "repositories.json").read_text()) == sorted(
        [mine.common_dir, theirs.common_dir]
    )
    assert uninstall(mine) and adapter(monoco).exists()
    assert uninstall(theirs) and not adapter(monoco).exists()
    assert not uninstall(theirs)


def test_a_monoco_made_anew_elsewhere_takes_the_adapter_with_it(
    lab: Repo, monoco: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(discover(str(lab.root), environ.current()), environ.current())
    (tmp_path / "again").mkdir()
    again = fake_monoco.build(tmp_path / "again")
    monkeypatch.setenv("PATH", f"{again}:/usr/bin:/bin")
    install(discover(str(lab.root), environ.current()), environ.current())
    assert (adapter(monoco).exists(), adapter(again).exists()) == (False, True)
    (lab.root / ".git/ahp/monoco.json").write_text("{")
    assert uninstall(discover(str(lab.root), environ.current()))


def test_what_is_not_ours_stays(lab: Repo, monoco: Path) -> None:
    adapter(monoco).mkdir()
    (adapter(monoco) / "adapter.py").write_text("# mine\n")
    with pytest.raises(AhpError, match="is there and not ours"):
        install(discover(str(lab.root), environ.current()), environ.current())
    assert not (lab.root / ".git/ahp/bin").exists()


def test_a_monoco_that_nobody_may_write_to_is_told(lab: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: str, exist_ok: bool = False) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "makedirs", refuse)
    with pytest.raises(AhpError, match=r"cannot write into Monoco at .*: Permission denied"):
        install(discover(str(lab.root), environ.current()), environ.current())


def test_an_adapter_that_cannot_be_removed_is_told(lab: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = discover(str(lab.root), environ.current())
    install(repo, environ.current())

    def refuse(path: str) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", refuse)
        with pytest.raises(AhpError, match=r"cannot remove .*: Permission denied"):
            uninstall(repo)


class TestFinding:
    """Where Monoco is, and which Python runs it."""

    def test_the_project_s_own_environment_comes_after_path(self, monoco: Path, tmp_path: Path) -> None:
        found = find(str(tmp_path / "monoco/project"), {"PATH": f"/nowhere:{monoco}"})
        assert (found.program, found.version) == (f"{monoco}/monoco", "0.4.2")
        (tmp_path / "monoco/.venv").mkdir()
        monoco.rename(tmp_path / "monoco/.venv/bin")
        own = tmp_path / "monoco/.venv/bin/monoco"
        own.write_text("#!/bin/sh\n'''exec' /a/very/long/way/python\n" + fake_monoco.COMMAND)
        assert find(str(tmp_path / "monoco"), {"PATH": ""}).program == str(own)

    def test_without_monoco_there_is_nothing_to_install_into(self, tmp_path: Path) -> None:
        with pytest.raises(AhpError, match="neither on PATH nor in"):
            find(str(tmp_path), {"PATH": "/nowhere"})

    def test_a_command_that_names_no_python_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "monoco").write_text("#!/bin/sh\n")
        (tmp_path / "monoco").chmod(0o755)
        with pytest.raises(AhpError, match="cannot tell which Python runs"):
            find(str(tmp_path), {"PATH": str(tmp_path)})

    @pytest.mark.parametrize("gone", ["core/loader.py", "features/issue/hooks/dispatcher.py", "features/__init__.py"])
    def test_a_monoco_without_hooks_is_told(self, gone: str, monoco: Path) -> None:
        (monoco.parent / "site/monoco" / gone).unlink()
        if gone.startswith("features/__"):
            (monoco / "python").write_text("#!/bin/sh\necho nonsense\n")
        with pytest.raises(AhpError, match="has no Monoco with issue hooks"):
            find("/", {"PATH": f"{monoco}:/usr/bin:/bin"})
