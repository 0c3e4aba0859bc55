"""The real Monoco 0.4.2 through the gate. `make test-tools`; AHP_TEST_MONOCO names a `monoco` that is there already."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attended import attended
from tests.conftest import OUTSIDE, PROJECT, Repo

pytestmark = pytest.mark.tools

AHP = str(Path(sys.executable).with_name("ahp"))
POLICY = """\
version: 1
rules:
  open-boxes: {at: pre-issue-submit, block: checklist.incomplete_count > 0, fix: ["finish {checklist.incomplete}"]}
  unreviewed: {at: pre-issue-close, block: checklist.acceptance.incomplete_count > 0}
  told: {at: post-issue-submit, aid: issue.stage == 'review', message: reviewers are told}
"""
ID = "FEAT-0001"


@pytest.fixture(scope="session")
def monoco() -> str:
    """The folder of the real command, in an environment of its own that later runs use again."""
    given = os.environ.get("AHP_TEST_MONOCO")
    if given:
        return str(Path(given).parent)
    place = PROJECT / "build/monoco"
    if not (place / ".ready").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True)
        pip = [str(place / "bin/python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "monoco-toolkit==0.4.2"], check=True, env=OUTSIDE)
        (place / ".ready").touch()
    return str(place / "bin")


@pytest.fixture
def bare(repo: Repo, home: Path, monoco: str, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A Monoco project without an issue."""
    monkeypatch.setenv("PATH", f"{monoco}:{os.environ['PATH']}")
    (home / ".monoco").mkdir()
    (home / ".monoco/config.yaml").write_text("core:\n  author: lab\ntelemetry:\n  enabled: false\n")
    done(repo, "monoco", "init", "--project", "--name", "Lab", "--key", "LAB")
    repo.commit("bootstrap", **{".gitignore": ".references/\n", ".ahp/hooks.yaml": POLICY})
    repo.add()
    repo.commit("tools")
    return repo


@pytest.fixture
def lab(bare: Repo) -> Repo:
    """The same with one issue, all tasks done and an acceptance criterion open.

    Open tasks Monoco refuses by itself, so that a dead gate would look alive.
    """
    begin(bare, AHP, "exec", "--", "monoco")
    return bare


def uninstalled(repo: Repo, *hosts: str) -> str:
    """What a person reads who takes the gate away."""
    code, said = attended([AHP, "uninstall", *hosts], repo.root)
    assert code == 0, said
    return said


@pytest.fixture
def installed(bare: Repo, monoco: str) -> Iterator[Path]:
    """`ahp install monoco` in the project: the folder of the shim, which is not on PATH yet."""
    features = Path(done(bare, f"{monoco}/python", "-c", "import monoco.features as f; print(f.__path__[0])").strip())
    before = (everything(features), everything(bare.root / ".git/ahp"))
    assert "0.4.2 asks at start, submit and close" in done(bare, AHP, "install", "monoco")
    done(bare, AHP, "install", "monoco")
    yield bare.root / ".git/ahp/bin"
    assert "removed" in uninstalled(bare, "monoco")
    left = everything(bare.root / ".git/ahp")
    assert (everything(features), left & SHIMS) == (before[0], before[1] & SHIMS)


def everything(folder: Path) -> frozenset[str]:
    """Every file below a folder, but for what Python compiles."""
    return frozenset(str(p.relative_to(folder)) for p in folder.rglob("*") if "__pycache__" not in p.parts)


SHIMS = frozenset(("bin", "bin/monoco", "monoco.json"))


def begin(repo: Repo, *monoco: str) -> None:
    """Creates the issue, starts it with this command, and does everything but one criterion."""
    done(repo, "monoco", "issue", "create", "feature", "-t", "Add login page", "-c", "critical")
    as_of_one_moment(repo)
    repo.add()
    repo.commit("issue")
    done(repo, *monoco, "issue", "start", ID)
    assert repo.git("symbolic-ref", "--short", "HEAD").startswith(ID)
    edit(repo, "- [ ] Criteria 1", "- [ ] A user can sign in")
    edit(repo, "- [ ] Task 1", "- [x] Write the form")
    edit(repo, "<!-- Required for Review/Done stage. Record review feedback here. -->", "- none yet")
    repo.write("src/app.py")
    repo.add()
    repo.commit("work")


def as_of_one_moment(repo: Repo) -> None:
    """Monoco takes the time of opening before that of creation, and refuses a ticket where a second passed between."""
    at = re.search(r"^created_at: (.*)$", text := ticket(repo).read_text(), re.MULTILINE)
    assert at
    ticket(repo).write_text(re.sub(r"^(opened|updated)_at: .*$", rf"\1_at: {at[1]}", text, flags=re.MULTILINE))


def done(repo: Repo, *argv: str) -> str:
    ended = repo.run(*argv)
    assert ended.returncode == 0, os.fsdecode(ended.stdout + ended.stderr)
    return os.fsdecode(ended.stdout + ended.stderr)


def words(ended: subprocess.CompletedProcess[bytes]) -> str:
    """What was printed, as one line: Monoco wraps its own."""
    return " ".join(os.fsdecode(ended.stdout + ended.stderr).split())


def ticket(repo: Repo) -> Path:
    [path] = repo.root.glob(f"**/Issues/Features/*/{ID}-*.md")
    return path


def edit(repo: Repo, old: str, new: str) -> None:
    text = ticket(repo).read_text()
    assert old in text
    ticket(repo).write_text(text.replace(old, new))


def mend(repo: Repo) -> None:
    edit(repo, "- [ ] A user can sign in", "- [x] A user can sign in")
    repo.git("commit", "-qam", "mended")


def stage(repo: Repo) -> str:
    return next(line for line in ticket(repo).read_text().splitlines() if line.startswith("stage: "))


def test_an_issue_passes_the_gate_by_the_wrapper(lab: Repo) -> None:
    head = lab.head()
    for line in (
        ["monoco", "issue", "submit", ID],
        ["monoco", "issue", "submit", ID, "--no-hooks"],
        ["monoco", "--root", ".", "issue", "submit", ID],
        ["monoco", "issue", "update", ID, "--stage", "review"],
        ["sh", "-c", f"A=b monoco issue submit {ID}"],
    ):
        refused = lab.run(AHP, "exec", "--", *line)
        assert (refused.returncode, refused.stdout) == (1, b"")
        assert b"refused by open-boxes" in refused.stderr
        assert (stage(lab), lab.head(), lab.git("status", "--porcelain")) == ("stage: doing", head, "")
    told = json.loads(lab.run(AHP, "exec", "--", "monoco", "issue", "submit", ID, "--json").stdout)
    assert (told["decision"], told["suggestions"]) == ("deny", ["finish 'A user can sign in'"])

    mend(lab)
    assert "reviewers are told" in done(lab, AHP, "exec", "--", "monoco", "issue", "submit", ID)
    assert stage(lab) == "stage: review"
    lab.add()
    lab.commit("delivered")
    lab.git("checkout", "-q", "main")
    done(lab, AHP, "exec", "--", "monoco", "issue", "close", ID, "-s", "implemented")
    assert (stage(lab), ticket(lab).parent.name) == ("stage: done", "closed")


def test_a_submit_that_went_round_the_gate_is_refused_at_the_push(lab: Repo, tmp_path: Path) -> None:
    lab.git("init", "-q", "--bare", str(tmp_path / "remote"))
    lab.git("remote", "add", "origin", str(tmp_path / "remote"))
    lab.git("push", "-q", "origin", "main")
    done(lab, AHP, "install", "git")
    done(lab, "monoco", "issue", "submit", ID, "--no-hooks")
    assert stage(lab) == "stage: review"
    lab.git("add", "-A")
    lab.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "sneaked")
    refused = lab.run("git", "push", "-q", "origin", "HEAD")
    assert refused.returncode == 1
    assert b"refused by open-boxes" in refused.stderr
    mend(lab)
    done(lab, "git", "push", "-q", "origin", "HEAD")


def test_an_issue_passes_the_gate_by_the_adapter(bare: Repo, installed: Path) -> None:
    begin(bare, "monoco")
    for more in ([], ["--force"], ["--no-commit"]):
        refused = bare.run("monoco", "issue", "submit", ID, *more)
        assert refused.returncode == 1
        said = words(refused)
        assert "submit blocked by pre-hook validation:" in said
        assert "[AHP] open-boxes" in said
        assert "finish 'A user can sign in'" in said
        assert stage(bare) == "stage: doing"
    told = json.loads(bare.run("monoco", "issue", "submit", ID, "--json").stdout)
    assert told["decision"] == "deny"
    assert "[AHP] open-boxes" in told["error"]
    assert "finish 'A user can sign in'" in told["suggestions"]

    mend(bare)
    assert "reviewers are told" in done(bare, "monoco", "issue", "submit", ID)
    assert stage(bare) == "stage: review"
    bare.add()
    bare.commit("delivered")
    edit(bare, "- [x] A user can sign in", "- [ ] A user can sign in")
    bare.git("commit", "-qam", "regressed")
    bare.git("checkout", "-q", "main")
    refused = bare.run("monoco", "issue", "close", ID, "-s", "implemented")
    assert (refused.returncode, "close blocked by pre-hook validation: [AHP] unreviewed" in words(refused)) == (1, True)
    bare.git("checkout", "-q", "-")
    mend(bare)
    bare.git("checkout", "-q", "main")
    done(bare, "monoco", "issue", "close", ID, "-s", "implemented")
    assert (stage(bare), ticket(bare).parent.name) == ("stage: done", "closed")


def test_an_issue_passes_the_gate_by_the_shim(bare: Repo, installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{installed}:{os.environ['PATH']}")
    assert "PATH" not in done(bare, AHP, "install", "monoco")
    begin(bare, "monoco")
    for line in (
        ["monoco", "issue", "submit", ID],
        ["monoco", "issue", "submit", ID, "--no-hooks"],
        ["monoco", "issue", "update", ID, "--stage", "review"],
        ["sh", "-c", f"exec monoco issue submit {ID}"],
    ):
        refused = bare.run(*line)
        assert (refused.returncode, refused.stdout) == (1, b"")
        assert b"refused by open-boxes" in refused.stderr
        assert stage(bare) == "stage: doing"
    mend(bare)
    done(bare, "monoco", "issue", "submit", ID)
    bare.add()
    bare.commit("delivered")
    bare.git("checkout", "-q", "main")
    done(bare, "monoco", "issue", "close", ID, "-s", "implemented")
    assert (stage(bare), ticket(bare).parent.name) == ("stage: done", "closed")
    hosts = {json.loads(line).get("host") for line in (bare.root / ".git/ahp/signals.jsonl").read_text().splitlines()}
    assert {"shim", "monoco"} <= hosts


def test_an_adapter_that_cannot_ask_refuses_and_says_the_way_out(bare: Repo, installed: Path, monoco: str) -> None:
    begin(bare, "monoco")
    bare.write(".ahp/hooks.yaml", "version: 1\nrules: {x: {at: nowhere}}\n")
    refused = bare.run("monoco", "issue", "submit", ID)  # by HEAD's policy
    assert (refused.returncode, "[AHP]" in words(refused)) == (1, True)
    assert ".ahp/hooks.yaml:2" in words(refused)
    bare.git("checkout", "-q", ".ahp/hooks.yaml")
    mend(bare)

    [adapter] = Path(monoco).parent.glob("lib/*/site-packages/monoco/features/ahp/adapter.py")
    text = adapter.read_text()
    adapter.write_text(re.sub(r"COMMAND = \['[^']*'", "COMMAND = ['/nowhere/python'", text))
    done(bare, "monoco", "issue", "list")
    path = {"PATH": f"{monoco}:/usr/bin:/bin"}
    refused = bare.run("monoco", "issue", "submit", ID, "--force", env=path)
    assert refused.returncode == 1
    assert "/nowhere/python is gone, and no ahp is on PATH" in words(refused)
    assert "`ahp install monoco` renews the adapter" in words(refused)
    assert stage(bare) == "stage: doing"
    done(bare, "monoco", "issue", "submit", ID)  # with the ahp on PATH


def test_two_repositories_share_the_adapter_and_the_last_one_takes_it_away(
    bare: Repo, installed: Path, monoco: str, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    other = Repo(tmp_path / "other")
    other.git("init", "-q")
    done(other, AHP, "install", "monoco")
    uninstalled(other, "monoco")
    assert list(Path(monoco).parent.glob("lib/*/site-packages/monoco/features/ahp/adapter.py"))
    assert "nothing of ours" in uninstalled(other, "monoco")
    assert "monoco" not in uninstalled(other)


def test_the_floor_of_coverage_follows_the_criticality_of_the_issue(lab: Repo) -> None:
    rule = "{at: pre-issue-submit, block: coverage.current < coverage.threshold}"
    lab.write(".ahp/hooks.yaml", f"version: 1\nrules: {{floor: {rule}}}\n")
    edit(lab, "- [ ] A user can sign in", "- [x] A user can sign in")
    lab.write(".gitignore", ".references/\ncoverage.json\n")
    lab.git("commit", "-qam", "policy")
    for percent, floor in ((89, "critical"), (84, "high"), (69, "medium")):
        measured = {"covered_lines": percent, "num_statements": 100, "covered_branches": 0, "num_branches": 0}
        lab.write("coverage.json", json.dumps({"totals": measured}))
        refused = lab.run(AHP, "exec", "--", "monoco", "issue", "submit", ID)
        assert (refused.returncode, stage(lab)) == (1, "stage: doing"), floor
        lower = {"critical": "high", "high": "medium", "medium": "low"}[floor]
        edit(lab, f"criticality: {floor}", f"criticality: {lower}")
        lab.git("commit", "-qam", lower)
        lab.write("coverage.json", json.dumps({"totals": measured}))
        assert lab.run(AHP, "check", "pre-issue-submit", "--issue", ID).returncode == 0
    done(lab, AHP, "exec", "--", "monoco", "issue", "submit", ID)


def test_a_project_in_a_folder_is_gated_by_its_own_issues(bare: Repo) -> None:
    folder = bare.root / "apps/shop"
    folder.mkdir(parents=True)
    (bare.root / ".git/hooks/pre-commit").unlink()  # Monoco's own, which looks at the top only
    for name in ("Issues", ".monoco"):
        (bare.root / name).rename(folder / name)
    bare.add()
    bare.commit("moved")
    inside = Repo(folder)
    begin(inside, AHP, "exec", "--", "monoco")
    for line in (
        [AHP, "exec", "--", "monoco", "--root", "apps/shop", "issue", "submit", ID],
        [AHP, "exec", "--", "sh", "-c", f"cd apps/shop && monoco issue submit {ID}"],
    ):
        refused = bare.run(*line)
        assert (refused.returncode, b"refused by open-boxes" in refused.stderr) == (1, True)
    mend(inside)
    done(inside, AHP, "exec", "--", "monoco", "issue", "submit", ID)
    assert stage(inside) == "stage: review"
