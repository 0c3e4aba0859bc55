"""ahp beside the real pre-commit, prek, lefthook and husky, in every order (design §9). `make test-tools`."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.attended import attended
from tests.conftest import Repo

pytestmark = pytest.mark.tools

AHP = str(Path(sys.executable).with_name("ahp"))
# Each tool's one hook leaves a trace, so that a test can tell whether it ran.
TRACE = "echo ran >> .git/trace"
FILES = {
    "pre-commit": {
        ".pre-commit-config.yaml": "repos:\n  - repo: local\n    hooks:\n"
        f"      - {{id: trace, name: trace, entry: sh -c '{TRACE}', language: system, always_run: true}}\n"
    },
    "lefthook": {"lefthook.yml": f"pre-commit:\n  jobs:\n    - run: {TRACE}\n"},
    "husky": {".husky/pre-commit": f"{TRACE}\n", ".husky/pre-push": "cat > .git/pushed\n"},
}
FILES["prek"] = FILES["pre-commit"]
POLICY = """\
version: 1
rules:
  no-txt: {at: [pre-commit, pre-push], block: "any(glob(path, '**/*.txt') for path in files.changed)"}
  no-no: {at: commit-msg, block: "commit.subject == 'no'", message: say more}
"""
HIDE = ("lefthook", "husky")  # they take the place of hooks that are there, and do not call them


class Tool:
    """A hook manager in a repository."""

    def __init__(self, repo: Repo, name: str) -> None:
        self.repo, self.name = repo, name

    def install(self) -> None:
        argv = {AHP: [AHP, "install", "git"], "husky": ["husky"]}.get(self.name, [self.name, "install"])
        call(self.repo, *argv)

    def uninstall(self) -> None:
        if self.name == "husky":  # it has no command for it; this is what its documentation says
            call(self.repo, "git", "config", "--unset", "core.hooksPath")
            shutil.rmtree(self.repo.root / ".husky/_")
        elif self.name == AHP:
            code, said = attended([AHP, "uninstall", "git"], self.repo.root)
            assert code == 0, said
        else:
            call(self.repo, self.name, "uninstall")


@pytest.fixture(params=["pre-commit", "prek", "lefthook", "husky"])
def tool(request: pytest.FixtureRequest, repo: Repo) -> Tool:
    """A peer that `make test-tools` put on PATH, in a repository with its configuration and a policy."""
    if shutil.which(request.param) is None:
        if request.param == "husky" and shutil.which("npm") is None:
            pytest.skip("npm, which husky needs, is not on this machine")
        pytest.fail(f"{request.param} is not on PATH: run these tests with `make test-tools`")
    for name, text in {".ahp/hooks.yaml": POLICY, ".gitattributes": "", **FILES[request.param]}.items():
        repo.write(name, text)
    repo.add()
    repo.commit("Set up")
    return Tool(repo, request.param)


@pytest.fixture
def ahp(tool: Tool) -> Tool:
    return Tool(tool.repo, AHP)


def call(repo: Repo, *argv: str) -> str:
    done = repo.run(*argv)
    said = os.fsdecode(done.stdout + done.stderr)
    assert done.returncode == 0, said
    return said


def install_both(ahp: Tool, tool: Tool, ahp_first: bool) -> None:
    """Both; where the tool hides what was there, what a person does then: doctor says it, and mends it."""
    for one in [ahp, tool] if ahp_first else [tool, ahp]:
        one.install()
    if ahp_first and tool.name == "lefthook":
        mend(ahp.repo, tool.name)


def mend(repo: Repo, hidden_by: str) -> None:
    """What a person does when `hidden_by` took the place of ahp: doctor says it, and mends it."""
    doctor = repo.run(AHP, "doctor")
    assert doctor.returncode == 1
    assert f"{hidden_by} took ahp's place and does not run it" in os.fsdecode(doctor.stdout)
    assert "wrong" not in call(repo, AHP, "doctor", "--fix")


def tool_runs(repo: Repo) -> int:
    """How often a commit that the policy allows reaches the peer's hook."""
    trace = repo.root / ".git/trace"
    trace.unlink(missing_ok=True)
    repo.write("page.md", f"{repo.head()}\n")
    repo.add("page.md")
    repo.commit("Allowed")
    return len(trace.read_text().splitlines()) if trace.exists() else 0


def ahp_blocks(repo: Repo) -> bool:
    """Whether a commit that the policy refuses is refused, by content and by message; either way it is undone."""
    head = repo.head()
    said = []
    for name, message in (("refused.txt", "Refused"), ("refused.md", "no")):
        repo.write(name)
        repo.add(name)
        done = repo.run("git", "commit", "--quiet", "--message", message)
        said.append(os.fsdecode(done.stderr))
        repo.git("reset", "--quiet", head)
        (repo.root / name).unlink()
    blocked = ["refused by no-txt" in said[0], "refused by no-no" in said[1]]
    assert blocked[0] == blocked[1], said
    return blocked[0]


def state(repo: Repo) -> dict[str, object]:
    """What a tool may leave behind: hooks, configuration, the work tree."""
    folder = repo.root / ".git/hooks"
    hooks = {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith(".sample")}
    info = sorted(path.name for path in (repo.root / ".git/info").iterdir())
    return {"hooks": hooks, "info": info, "config": repo.git("config", "--local", "--list"), "tree": status(repo)}


def status(repo: Repo) -> str:
    return repo.git("status", "--porcelain", "--ignored")


orders = pytest.mark.parametrize("ahp_first", [True, False], ids=["ahp-first", "tool-first"])
leavers = pytest.mark.parametrize("ahp_leaves", [True, False], ids=["ahp-leaves", "tool-leaves"])


@orders
def test_both_run_whichever_came_first(ahp: Tool, tool: Tool, ahp_first: bool) -> None:
    install_both(ahp, tool, ahp_first)
    assert tool_runs(ahp.repo) == 1
    assert ahp_blocks(ahp.repo)
    assert "wrong" not in call(ahp.repo, AHP, "doctor")


@leavers
@orders
def test_the_one_that_stays_still_runs(ahp: Tool, tool: Tool, ahp_first: bool, ahp_leaves: bool) -> None:
    install_both(ahp, tool, ahp_first)
    (ahp if ahp_leaves else tool).uninstall()
    assert tool_runs(ahp.repo) == ahp_leaves
    assert ahp_blocks(ahp.repo) != ahp_leaves


@orders
def test_installing_again_and_again_changes_nothing(ahp: Tool, tool: Tool, ahp_first: bool) -> None:
    install_both(ahp, tool, ahp_first)
    for one in (tool, ahp, tool, tool, ahp, ahp):
        one.install()
    if tool.name == "lefthook":  # each time it takes the place again; ahp came last
        assert "took ahp's place" not in call(ahp.repo, AHP, "doctor")
    assert tool_runs(ahp.repo) == 1
    assert ahp_blocks(ahp.repo)


@leavers
@orders
def test_nothing_is_left_and_nothing_lost_after_rounds_of_both(
    ahp: Tool, tool: Tool, ahp_first: bool, ahp_leaves: bool
) -> None:
    own = ahp.repo.write(".git/hooks/pre-push", "#!/bin/sh\n# somebody's own\nexit 0\n", 0o755)
    before = state(ahp.repo)
    for _ in range(3):
        install_both(ahp, tool, ahp_first)
        for one in [ahp, tool] if ahp_leaves else [tool, ahp]:
            one.uninstall()
        assert state(ahp.repo) == before
    assert own.stat().st_mode & 0o111
    assert tool_runs(ahp.repo) == 0
    assert not ahp_blocks(ahp.repo)


def test_a_hook_of_one_s_own_survives_both(ahp: Tool, tool: Tool) -> None:
    ahp.repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho ran >> .git/own\n", 0o755)
    before = state(ahp.repo)
    install_both(ahp, tool, ahp_first=True)
    assert tool_runs(ahp.repo) == 1
    assert (ahp.repo.root / ".git/own").exists() == (tool.name not in HIDE)
    assert ahp_blocks(ahp.repo)
    tool.uninstall()
    ahp.uninstall()
    after = state(ahp.repo)
    if tool.name == "lefthook":  # it puts an older hook back only into an empty place
        after["hooks"] = {name.removesuffix(".old"): text for name, text in after["hooks"].items()}  # type: ignore[attr-defined]
    assert after == before


@pytest.mark.parametrize("tool", ["lefthook"], indirect=True)
def test_lefthook_taking_the_place_again_is_noticed_and_mended(ahp: Tool, tool: Tool) -> None:
    install_both(ahp, tool, ahp_first=False)
    repo = ahp.repo
    repo.write("lefthook.yml", FILES["lefthook"]["lefthook.yml"] + "commit-msg:\n  jobs:\n    - run: 'true'\n")
    os.utime(repo.root / "lefthook.yml", (2e9, 2e9))
    repo.add()
    assert tool_runs(repo) == 1  # lefthook sees its changed configuration and writes its hooks anew
    mend(repo, "lefthook")
    assert tool_runs(repo) == 1
    assert ahp_blocks(repo)


husky = pytest.mark.parametrize("tool", ["husky"], indirect=True)


@husky
def test_husky_set_up_for_the_first_time_after_ahp_is_noticed_and_joined(ahp: Tool, tool: Tool) -> None:
    shutil.rmtree(ahp.repo.root / ".husky")
    ahp.install()
    tool.install()
    assert not ahp_blocks(ahp.repo)
    mend(ahp.repo, "husky")
    assert ahp_blocks(ahp.repo)
    tool.uninstall()
    assert ahp_blocks(ahp.repo)
    ahp.uninstall()
    assert not any((ahp.repo.root / ".husky").iterdir())


@husky
def test_husky_s_committed_hooks_name_no_place_of_this_machine(ahp: Tool, tool: Tool) -> None:
    install_both(ahp, tool, ahp_first=False)
    for hook in ("pre-commit", "commit-msg", "pre-merge-commit", "pre-push", "post-commit"):
        text = (ahp.repo.root / ".husky" / hook).read_text()
        assert text.count("ahp install git`") == 1
        assert str(ahp.repo.root) not in text and sys.prefix not in text
    tool.install()  # as `npm install` does: its own folder is made anew
    assert ahp_blocks(ahp.repo)


@husky
def test_a_push_is_judged_and_the_project_s_own_line_still_reads_it(ahp: Tool, tool: Tool, tmp_path: Path) -> None:
    repo = ahp.repo
    repo.git("init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    repo.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    repo.git("push", "--quiet", "origin", "main")
    install_both(ahp, tool, ahp_first=False)
    repo.git("push", "--quiet", "origin", "HEAD:refs/heads/good")
    assert (repo.root / ".git/pushed").read_text().split()[:2] == ["HEAD", repo.head()]
    repo.write("notes.txt")
    repo.add("notes.txt")
    repo.commit("Round the gate", "--no-verify")
    done = repo.run("git", "push", "--quiet", "origin", "HEAD:refs/heads/bad")
    assert done.returncode != 0
    assert b"refused by no-txt" in done.stderr


@husky
def test_a_colleague_without_ahp_commits_and_is_told(ahp: Tool, tool: Tool, tmp_path: Path) -> None:
    install_both(ahp, tool, ahp_first=False)
    ahp.repo.add()
    ahp.repo.commit("Gate")
    ahp.repo.git("clone", "--quiet", str(ahp.repo.root), str(tmp_path / "clone"))
    theirs = Tool(Repo(tmp_path / "clone"), "husky")
    theirs.install()
    theirs.repo.write("notes.txt")
    theirs.repo.add()
    done = theirs.repo.run("git", "commit", "--message", "x")
    assert done.returncode == 0
    assert b"ahp: no gate in this clone, so nothing was judged" in done.stderr
    Tool(theirs.repo, AHP).install()
    assert status(theirs.repo) == "!! .husky/_/"  # the committed lines are there already
    assert ahp_blocks(theirs.repo)
