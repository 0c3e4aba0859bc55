"""No git call of ahp's starts a program that the repository's own settings name, and each gets the right answer."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ahp.agents import main as agents
from ahp.cli import main
from ahp.facts import tree_digest
from ahp.hosts.git import install as installing
from ahp.hosts.git import staged
from ahp.journal import anchors
from ahp.journal.append import Journal
from ahp.runner.context import retriever
from ahp.runner.parallel.checkouts import Checkouts
from ahp.runner.tools import project_files
from ahp.runner.verification import project as verified
from ahp.runner.verification.project import Project
from ahp.system import blobs, commits, environ, git, view
from ahp.system.errors import AhpError
from ahp.system.view import IndexView
from ahp.system.worktree import WorkTreeView
from tests.conftest import PROJECT, Repo

POLICY = """\
version: 1
rules:
  no-todo:
    at: [pre-commit, pre-push]
    each: l in diff.added
    block: contains(l.text, 'TODO')
    finding: {file: l.path}
    message: todo
  subject: {at: commit-msg, block: "commit.subject == 'bad'", message: no}
  few: {at: pre-tool-use, block: "'b.txt' in files.changed and contains(tool.command, 'rm')", message: few}
"""
HOOKS = """
    applypatch-msg post-checkout post-commit post-index-change post-merge post-rewrite pre-auto-gc prepare-commit-msg
    pre-merge-commit pre-rebase push-to-checkout reference-transaction
"""


class Planted:
    """A program in every setting of a repository by which git would start one; `ran` is what was started."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.repo, self._log = repo, folder / "ran"
        self._program = folder / "program"
        # A name of its own for each setting; as a filter, a driver or a monitor it does what it is asked.
        self._program.write_text(f'#!/bin/sh\necho "$1" >>{self._log}\n[ "${{1#filter}}" = "$1" ] || exec cat\n')
        self._program.chmod(0o755)

    def all(self) -> None:
        named = ("core.fsmonitor core.pager core.editor core.askPass core.sshCommand core.alternateRefsCommand "
                 "core.gitProxy sequence.editor gpg.program credential.helper diff.external diff.own.command "
                 "diff.own.textconv filter.own.clean filter.own.smudge merge.own.driver trailer.own.command "
                 "uploadpack.packObjectsHook interactive.diffFilter hook.own.command")  # fmt: skip
        self._set(
            *((key, f"{self._program} {key}") for key in named.split()),
            *(("filter.own.required", "true"), ("log.showSignature", "true"), ("diff.ignoreSubmodules", "none")),
            *(("hook.own.event", event) for event in ("post-index-change", "reference-transaction")),
        )
        for hook in HOOKS.split():
            self.hook(hook)
        self.repo.write(".git/info/attributes", "*.txt diff=own filter=own merge=own\n")

    def config(self, key: str) -> None:
        self._set((key, f"{self._program} {key}"))

    def _set(self, *settings: tuple[str, str]) -> None:
        """In one writing: git starts a process for each."""
        place = self.repo.root / self.repo.git("rev-parse", "--git-path", "config").strip()
        with place.open("a") as config:
            for key, value in settings:
                section, _, name = key.rpartition(".")
                section, _, between = section.partition(".")
                section += f' "{between}"' if between else ""
                config.write(f'[{section}]\n\t{name} = "{value}"\n')

    def hook(self, name: str) -> None:
        if not (self.repo.root / ".git/hooks" / name).exists():  # else it is ahp's own
            self.repo.write(f".git/hooks/{name}", f"#!/bin/sh\n{self._program} {name}\n", 0o755)

    def ran(self) -> set[str]:
        found = set(self._log.read_text().split()) if self._log.exists() else set()
        self._log.unlink(missing_ok=True)
        return found


@pytest.fixture
def work(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """A project with a remote, a commit that is not pushed, and changes: staged, not staged, untracked."""
    there = tmp_path / "there"
    repo.commit("policy", **{".ahp/hooks.yaml": POLICY, "a.txt": "1\n", "c.txt": "c\n", "test_a.py": "import a\n"})
    repo.git("init", "--quiet", "--bare", str(there))
    repo.git("remote", "add", "origin", str(there))
    repo.git("push", "--quiet", "--set-upstream", "origin", "main")
    repo.git("remote", "set-head", "origin", "main")
    repo.git("switch", "--quiet", "-c", "topic")
    monkeypatch.chdir(repo.root)
    installing.install(asked(repo), "")
    repo.commit("feat: a", **{"a.txt": "1\n2\n"})
    repo.write("a.txt", "1\n2\n3\n")
    repo.add("a.txt")
    repo.write("a.txt", "1\n2\n3\n4\n")
    os.utime(repo.root / "c.txt", (1, 1))  # git has to read what lies there
    repo.write("b.txt", "TODO\n")
    return repo


@pytest.fixture
def planted(work: Repo, tmp_path: Path) -> Planted:
    (tmp_path / "planted").mkdir()
    return Planted(work, tmp_path / "planted")


def asked(repo: Repo) -> git.Repository:
    return git.discover(str(repo.root), environ.current())


BY_GIT = {
    "core.fsmonitor": "git status",
    "core.sshCommand": "git ls-remote ssh://nowhere/x",
    "core.editor": "git commit --amend --no-verify",
    "diff.external": "git diff",
    "diff.own.command": "git diff",
    "diff.own.textconv": "git diff --no-ext-diff",
    "filter.own.clean": "git add b.txt",
    "filter.own.smudge": "git checkout-index --force a.txt",
    "merge.own.driver": "git merge-tree --write-tree HEAD other",
    "trailer.own.command": "git interpret-trailers",
    "post-index-change": "git add c.txt",
    "reference-transaction": "git update-ref refs/x HEAD",
    "post-checkout": "git worktree add --detach ../linked",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_GIT)
def test_what_is_planted_is_started_by_git_itself(work: Repo, planted: Planted, name: str) -> None:
    """Else the next test would test nothing."""
    tree = work.git("rev-parse", "main^{tree}")
    edited = work.git("rev-parse", "HEAD:.ahp/hooks.yaml")
    listed = work.git("ls-tree", tree).replace(work.git("rev-parse", "main:a.txt"), edited)
    other = work.git("mktree", stdin=listed.encode())
    work.git("branch", "other", work.git("commit-tree", "-p", "main", "-m", "x", other))
    work.write(".git/info/attributes", "*.txt diff=own filter=own merge=own\n")
    (planted.config if "." in name else planted.hook)(name)
    work.run(*shlex.split(BY_GIT[name]))
    assert name in planted.ran()


def _cli(*words: str) -> Callable[[Repo, Any], object]:
    def ask(repo: Repo, capsys: pytest.CaptureFixture[str]) -> object:
        capsys.readouterr()
        code = main.run(list(words))
        said = capsys.readouterr()
        return code, re.sub(r"\d+(\.\d+)? (m?s|MiB)\b|[0-9a-f]{8,40}|\d\d:\d\d:\d\d", "_", said.out + said.err)

    return ask


def _hook(name: str, *arguments: str, stdin: str = "") -> Callable[[Repo, Any], object]:
    """A shim, started as git starts it; git itself would start what is planted."""

    def ask(repo: Repo, capsys: Any) -> object:
        repo.write(".git/message", "feat: more\n")
        refs = stdin.replace("HEAD", repo.head()).replace("MAIN", repo.git("rev-parse", "main"))
        done = repo.run(f".git/hooks/{name}", *arguments, stdin=refs.encode(), env={"GIT_INDEX_FILE": ".git/index"})
        return done.returncode, re.sub(rb"[0-9a-f]{8,40}", b"_", done.stderr), done.stdout

    return ask


def _tool_call(command: str) -> Callable[[Repo, Any], object]:
    """A tool call of a coding agent, judged before it runs, and what it changed, after."""

    def ask(repo: Repo, capsys: Any) -> object:
        told = {"session_id": "s", "cwd": str(repo.root), "tool_name": "Bash", "tool_input": {"command": command}}
        found = []
        for event in ("PreToolUse", "PostToolUse"):
            stdin = repo.write(".git/stdin", json.dumps({**told, "hook_event_name": event, "tool_use_id": "c"}))
            before = os.dup(0)
            with open(stdin, "rb") as file:
                os.dup2(file.fileno(), 0)
            try:
                reply = agents.reply_to(["claude", event], agents.Installed())
            finally:
                os.dup2(before, 0)
                os.close(before)
            found.append((reply.code, re.sub(r"[0-9a-f]{8,40}", "_", f"{reply.shown} {reply.said}")))
        return found

    return ask


def _verification(repo: Repo, capsys: Any) -> object:
    project = Project(str(repo.root))
    return project.changed, project.ignored_digest() if project.repository else ""


def _trees(repo: Repo, capsys: Any) -> object:
    """A step beside others, and its merge."""
    try:
        checkouts = Checkouts(str(repo.root), str(repo.root.parent / "kept"))
    except AhpError as error:
        assert "filters of its own" in str(error)
        return "in turn"
    checkouts.close(keep=False)
    return "in turn"


def _anchor(repo: Repo, capsys: Any) -> object:
    here = asked(repo)
    anchors.push(here, Journal(here.ahp_dir), "origin")
    return repo.git("ls-remote", "origin", "refs/ahp/anchors/*").count("\n")


ASKED: dict[str, Callable[[Repo, Any], object]] = {
    "work tree": lambda repo, _: verified.take(str(repo.root)),
    "work tree, its lines": lambda repo, _: WorkTreeView(asked(repo)).diff(),
    "index": lambda repo, _: (IndexView(asked(repo)).diff(), IndexView(asked(repo)).paths()),
    "commits": lambda repo, _: [
        one.diff() for one in commits.views(asked(repo), commits.listed(asked(repo), [repo.head()]), with_text=True)
    ],
    "contents": lambda repo, _: tree_digest.state(asked(repo)).contents(lambda path: True),
    "listed files": lambda repo, _: project_files.listed(str(repo.root), "."),
    "found words": lambda repo, _: retriever.search(str(repo.root), ["a", "b"]),
    "steps beside each other": _trees,
    "anchor": _anchor,
    "blobs": lambda repo, _: blobs.heads(asked(repo), [repo.git("rev-parse", "HEAD:a.txt")], 4),
    "folder of hooks": lambda repo, _: installing.asked_folder(asked(repo)),
    "ahp check": _cli("check"),
    "ahp check --all": _cli("check", "--all"),
    "ahp ci": _cli("ci"),
    "ahp doctor": _cli("doctor"),
    "ahp try": _cli("try", "--range", "main..HEAD"),
    "ahp verify": _cli("verify"),
    "ahp brief": _cli("brief"),
    "ahp stats": _cli("stats"),
    "ahp policy lint": _cli("policy", "lint"),
    "ahp issue list": _cli("issue", "list"),
    "ahp install git": _cli("install", "git"),
    "pre-commit": _hook("pre-commit"),
    "commit-msg": _hook("commit-msg", ".git/message"),
    "post-commit": _hook("post-commit"),
    "pre-push": _hook("pre-push", "origin", "x", stdin="refs/heads/topic HEAD refs/heads/topic MAIN\n"),
    "a commit in a tool call": _tool_call("git add b.txt && git commit -m x"),
    "a push in a tool call": _tool_call("git push origin topic"),
    "a tool call": _tool_call("rm b.txt"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKED)
def test_nothing_that_is_planted_is_started_and_the_answer_is_the_same(
    work: Repo, planted: Planted, capsys: Any, name: str
) -> None:
    ask = ASKED[name]
    ask(work, capsys)  # the first time may compile, or say something once
    before = ask(work, capsys)
    planted.all()
    planted.ran()
    assert ask(work, capsys) == before
    assert planted.ran() == set()


STARTS = ("os.system", "os.popen", "os.exec", "os.posix_spawn", "posix.posix_spawn", "posix.exec", "subprocess.")
DOOR = "ahp/system/git.py"
# They start bubblewrap, a command inside of it, and git by the door's own command line.
BOXED = tuple(f"ahp/box/{name}.py" for name in ("door", "engine", "init", "quarantine"))
SHARED = ("core.fsmonitor=", "core.hooksPath=", "--no-ext-diff", "--no-textconv", "--no-show-signature")


def modules() -> dict[str, ast.Module]:
    found = {str(path.relative_to(PROJECT)): path for path in sorted((PROJECT / "ahp").rglob("*.py"))}
    return {name: ast.parse(path.read_text()) for name, path in found.items()}


def _past_the_door(name: str, module: ast.Module) -> list[str]:
    """What in a module starts git otherwise than by `Repository.run` and `Repository.command`."""
    imported = {alias.name for node in ast.walk(module) if isinstance(node, ast.ImportFrom) for alias in node.names}
    imported |= {alias.name for node in ast.walk(module) if isinstance(node, ast.Import) for alias in node.names}
    found = []
    for node in ast.walk(module):
        said = f"{name}:{getattr(node, 'lineno', 0)}: "
        starts = isinstance(node, ast.Attribute) and ast.unparse(node).startswith(STARTS)
        if starts and name not in ("ahp/system/process.py", *BOXED):
            found.append(said + ast.unparse(node))
        if isinstance(node, (ast.List, ast.Tuple)) and node.elts and isinstance(node.ctx, ast.Load):
            first = node.elts[0]
            is_git = isinstance(first, ast.Constant) and re.fullmatch(r"(.*/)?git", str(first.value))
            if (is_git and imported & {"process", "subprocess"}) or (
                isinstance(first, ast.Attribute) and first.attr == "git"
            ):
                found.append(said + ast.unparse(node))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and name != DOOR:
            found += [said + node.value for one in SHARED if node.value.startswith(one)]
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("run", "line", "command")
        ):
            # Behind a folder of its own the door would take that for the verb.
            found += [said + "-C" for one in node.args if isinstance(one, ast.Constant) and one.value == "-C"]
    return found


def test_git_is_started_by_one_door() -> None:
    apart = (
        DOOR,
        "ahp/box/remote.py",  # it runs in a box alone, where git's settings are the agent's
        "ahp/hosts/git/staged.py",  # it runs before the door is loaded: see below
    )
    found = [one for name, module in modules().items() if name not in apart for one in _past_the_door(name, module)]
    assert found == []


@pytest.mark.parametrize(
    "code",
    [
        "from ahp.system import process\nprocess.capture(['git', 'status'], timeout=1)",
        "process.capture([repo.git, '-C', x, 'log'], timeout=1)",
        "import os\nos.system('git status')",
        "repo.run('-C', place, 'status')",
        "repo.run('diff', '--no-ext-diff')",
    ],
)
def test_another_way_to_start_git_is_found(code: str) -> None:
    assert _past_the_door("x.py", ast.parse(code))


def test_the_shims_start_git_without_what_is_planted() -> None:
    """`config`, `rev-parse` of a folder and `ls-tree` of a commit read neither the index nor the work tree."""
    options = r'(?:-\S+ (?:(?:"\S+"|(?:core|hook)\S+) )?)*'
    call = re.compile(rf'(?:"\$git"|(?<!hook )\bgit) ({options})([a-z]+(?:-[a-z]+)*)(?= )')
    found: dict[str, set[str]] = {}
    for path in sorted((PROJECT / "hooks").rglob("*")):
        if path.is_file() and path.parent.name != "ci":  # a job's own clone, which its platform has made
            for line in re.sub(r"\\\n *", "", path.read_text()).splitlines():
                code = line if path.suffix == ".js" else line.split("#")[0]
                for given, verb in call.findall(re.sub(r"`[^`]*`|\becho .*", "", code)):
                    found.setdefault(path.name, set()).add(("-c core.fsmonitor=false " in given) * "quiet " + verb)
    assert found == {
        "command.sh": {"rev-parse"},
        "husky.sh": {"rev-parse"},
        "post-commit": {"rev-parse"},
        "pre-commit": {"config"},
        "second.sh": {"rev-parse"},
    }


def test_what_a_hook_asks_before_the_door_is_loaded_starts_nothing() -> None:
    """`ls-tree` of a commit reads neither the index nor the work tree; `diff-tree` reads no index, but attributes."""
    assert {*git.COMPARES, *view.RAW} == {*staged._COMPARED, *staged._EXACTLY}
    assert "core.fsmonitor=false" in staged._COMPARE
    assert {"core.fsmonitor=false", "core.hooksPath=/dev/null"} <= set(staged._WRITE)


def test_what_is_merged_is_merged_as_text(work: Repo, planted: Planted, tmp_path: Path) -> None:
    work.write("m.txt", "1\n2\n3\n4\n5\n")
    checkouts = Checkouts(str(work.root), str(tmp_path / "kept"))
    base = checkouts.now()
    sides = []
    for text in ("one\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n", "uno\n2\n3\n4\n5\n"):
        work.write("m.txt", text)
        sides.append(checkouts.now())
    work.write(".git/info/attributes", "*.txt merge=own\n")
    planted.config("merge.own.driver")
    merged, conflicts = checkouts.store.merge(base, *sides[:2])
    assert checkouts.store.update(checkouts.now(), merged)
    assert ((work.root / "m.txt").read_text(), conflicts) == ("one\n2\n3\n4\nfive\n", [])
    assert checkouts.store.merge(base, sides[0], sides[2])[1] == ["m.txt"]
    assert planted.ran() == set()
    checkouts.close(keep=False)


def test_a_trailer_is_added_and_none_by_a_program(work: Repo, planted: Planted) -> None:
    planted.config("trailer.own.command")
    said = asked(work).run("interpret-trailers", "--trailer", "Ahp-Override: x", stdin=b"feat: a\n")
    assert said == b"feat: a\n\nAhp-Override: x\n" and planted.ran() == set()


def test_a_filter_of_the_person_s_own_settings_decides_what_a_file_holds(work: Repo, planted: Planted) -> None:
    """As git-lfs sets it up; what the repository's own settings say of the same filter does not."""
    work.write(".git/info/attributes", "*.txt filter=own\n")
    work.git("config", "--global", "filter.own.clean", "tr 1 A")
    planted.config("filter.own.clean")
    assert b"+A\n" in WorkTreeView(asked(work), asked(work).empty_tree()).diff()
    assert planted.ran() == set()
    work.git("config", "--global", "--unset", "filter.own.clean")
    assert b"+1\n" in WorkTreeView(asked(work), asked(work).empty_tree()).diff()
    assert planted.ran() == set()


def test_a_name_with_an_equals_sign_is_a_filter_s_too(work: Repo, planted: Planted, monkeypatch: Any) -> None:
    work.write(".git/info/attributes", "*.txt filter=a=b\n")
    work.run("git", "config", "filter.a=b.clean", f"{planted._program} filter.own.clean")
    work.git("diff", "--name-only", "HEAD")
    assert planted.ran() == {"filter.own.clean"}, "else this would test nothing"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Ann")
    hook = git.locate(str(work.root), environ.current())  # whose environment stays
    assert hook.run("diff", "--name-only", "HEAD") and planted.ran() == set()
    assert b"Ann" in hook.run("var", "GIT_AUTHOR_IDENT")


def test_no_git_in_a_submodule_starts_what_that_names(work: Repo, planted: Planted) -> None:
    work.git("submodule", "--quiet", "add", str(work.root.parent / "there"), "sub")
    inside = Planted(Repo(work.root / "sub"), planted._program.parent)
    inside.config("core.fsmonitor")
    inside.config("filter.own.clean")
    inside.repo.write(".gitattributes", "* filter=own\n")
    for path in (".ahp/hooks.yaml", "a.txt"):
        os.utime(inside.repo.root / path, (1, 1))
    work.git("status")
    assert planted.ran() == {"core.fsmonitor", "filter.own.clean"}, "else this would test nothing"
    for path in (".ahp/hooks.yaml", "a.txt"):
        os.utime(inside.repo.root / path, (2, 2))
    for ask in ("work tree", "contents", "work tree, its lines", "found words"):
        ASKED[ask](work, None)
    assert planted.ran() == set()


def test_what_ahp_does_for_a_person_keeps_their_hooks(work: Repo, planted: Planted) -> None:
    planted.hook("post-checkout")
    asked(work).run("switch", "-q", "-c", "new", for_person=True)
    assert planted.ran() == {"post-checkout"}
