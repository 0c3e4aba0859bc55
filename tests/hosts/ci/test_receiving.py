"""`ahp hook pre-receive` on a real bare repository: every ref judged before any moves."""

from __future__ import annotations

import contextlib
import http.server
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ahp.gate import of_range
from ahp.hosts.ci import receiving
from ahp.policy import compile as compiling
from ahp.policy import tree
from ahp.system import environ, git, process
from ahp.system.errors import AhpError, Timeout
from tests.conftest import Repo

POLICY = """
version: 1
rules:
  no-todo:
    at: pre-commit
    each: l in diff.added
    block: contains(l.text, 'TODO')
    finding: {file: l.path, line: l.line}
    message: a TODO was added
  no-force: {at: pre-push, block: push.is_force and branch.is_default}
  keep-main: {at: pre-push, block: push.is_delete and branch.is_default}
  size: {at: pre-push, prompt: files.changed_count > 2, message: "{files.changed_count} files"}
"""


@pytest.fixture
def server(tmp_path: Path, repo: Repo) -> Repo:
    """A bare repository whose pre-receive hook asks ahp; main has a policy."""
    repo.commit("chore: start", **{".ahp/hooks.yaml": POLICY, "a.txt": "a\n"})
    folder = tmp_path / "server.git"
    repo.git("clone", "-q", "--bare", str(repo.root), str(folder))
    bare = Repo(folder)
    hook(bare, "--limit", "600")  # the machine of a test may be busy
    return bare


def hook(bare: Repo, *options: str) -> None:
    """Puts the hook there; unless told otherwise, with a limit that no busy machine reaches."""
    options = options or ("--limit", "600")
    command = f"exec {Path(sys.executable).parent / 'ahp'} hook pre-receive {' '.join(options)}"
    bare.write("hooks/pre-receive", f"#!/bin/sh\n{command}\n", 0o755)


@pytest.fixture
def work(server: Repo, tmp_path: Path) -> Repo:
    """A clone of the server on branch `topic`; main's policy is compiled there, which takes the hook far longer."""
    repo = git.discover(str(server.root), dict(os.environ))
    compiling.committed(tree.of_commit(repo, "main"), f"{repo.ahp_dir}/received")
    server.git("clone", "-q", f"file://{server.root}", str(tmp_path / "work"))
    made = Repo(tmp_path / "work")
    made.git("checkout", "-q", "-b", "topic")
    return made


def push(work: Repo, *arguments: str) -> tuple[int, str]:
    done = work.run("git", "push", "origin", *arguments)
    return done.returncode, done.stderr.decode()


def test_a_clean_push_moves_its_refs_in_silence(work: Repo, server: Repo) -> None:
    head = work.commit("feat: more", **{"b.txt": "b\n"})
    code, said = push(work, "topic", "topic:main")
    assert code == 0 and "ahp" not in said
    assert server.git("rev-parse", "main") == head


def test_one_bad_commit_refuses_every_ref_of_the_push(work: Repo, server: Repo) -> None:
    work.commit("feat: fine", **{"b.txt": "b\n"})
    work.git("branch", "fine")
    bad = work.commit("feat: bad", **{"c.txt": "TODO\n"})
    work.commit("feat: hidden", **{"c.txt": "done\n"})
    code, said = push(work, "fine", "topic")
    assert code == 1 and "refused by no-todo" in said and f"c.txt:1: commit {bad[:10]}" in said
    assert "refs/heads/topic" in said
    assert server.git("for-each-ref", "--format=%(refname)") == "refs/heads/main"


@pytest.mark.slow
def test_a_change_of_the_policy_does_not_judge_itself(work: Repo) -> None:
    work.commit("feat: weaker", **{".ahp/hooks.yaml": "version: 1\nrules: {}\n"})
    work.commit("feat: bad", **{"c.txt": "TODO\n"})
    assert push(work, "topic:main")[0] == 1
    assert push(work, "HEAD~1:refs/heads/weak")[0] == 0  # it says nothing of no-todo, and nothing forbids it
    assert push(work, "topic:refs/heads/weak")[0] == 1


def test_what_happens_to_the_default_branch_is_judged_by_its_policy(work: Repo, server: Repo) -> None:
    server.git("config", "receive.denyDeleteCurrent", "ignore")
    code, said = push(work, ":main")
    assert code == 1 and "keep-main" in said and "refs/heads/main is deleted, by the policy of main" in said
    work.git("checkout", "-q", "--orphan", "other")
    work.commit("feat: other")
    code, said = push(work, "--force", "other:main")
    assert code == 1 and "no-force" in said
    server.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    code, said = push(work, "--force", "other:alias")
    assert code == 1 and "no-force" in said


@pytest.mark.slow
def test_tags_are_judged_and_other_refs_only_taken_where_named(work: Repo, server: Repo) -> None:
    work.commit("feat: bad", **{"c.txt": "TODO\n"})
    work.git("tag", "-a", "v1", "-m", "v1")
    work.write("secret.txt", "a TODO\n")
    work.git("tag", "object", work.git("hash-object", "-w", "secret.txt"))
    code, said = push(work, "v1", "object")
    assert code == 1 and said.count("refused by no-todo") == 2
    assert "c.txt:1" in said and "refs/tags/object:1" in said
    assert "what refs/tags/object names, which is no commit" in said
    work.git("reset", "-q", "--hard", "origin/main")
    code, said = push(work, "HEAD:refs/review/1")
    assert code == 1 and "git config --add ahp.allowRef refs/review/1" in said
    server.git("config", "--add", "ahp.allowRef", "refs/review/1")
    server.git("config", "--add", "ahp.allowRef", "refs/replace/" + "1" * 40)
    assert push(work, "HEAD:refs/replace/" + "1" * 40)[0] == 1
    blob = work.git("hash-object", "-w", "a.txt")
    work.git("tag", "-a", "-m", "of no commit", "blob", blob)
    work.git("tag", "-a", "-m", "", "tree", work.git("mktree", stdin=f"100644 blob {blob}\ta.txt\n".encode()))
    work.git("tag", "fine")
    assert push(work, "HEAD:refs/review/1", "blob", "tree", "fine")[0] == 0
    assert push(work, ":blob", ":tree")[0] == 0


def test_an_import_is_admitted_by_its_tip(work: Repo, server: Repo) -> None:
    tip = work.commit("feat: old code", **{"c.txt": "TODO\n"})
    server.git("config", "--add", "ahp.admit", tip)
    assert push(work, "topic")[0] == 0
    assert push(work, "topic:main")[0] == 0  # to where it is new, too
    work.commit("feat: more", **{"d.txt": "TODO\n"})
    code, said = push(work, "topic")
    assert code == 1 and "d.txt" in said and "c.txt" not in said


def test_a_head_without_a_branch_needs_an_admins_word(work: Repo, server: Repo) -> None:
    work.commit("feat: more", **{"b.txt": "b\n"})
    server.git("update-ref", "--no-deref", "HEAD", "main")
    code, said = push(work, "topic")
    assert code == 1 and "git config ahp.defaultBranch BRANCH" in said
    server.git("config", "ahp.defaultBranch", "main")
    assert push(work, "topic")[0] == 0


def test_a_head_whose_branch_is_not_there_leaves_no_branch_without_a_policy(work: Repo, server: Repo) -> None:
    work.commit("feat: bad", **{"b.txt": "TODO\n"})
    server.git("symbolic-ref", "HEAD", "refs/heads/gone")
    code, said = push(work, "topic:main")
    assert code == 1 and "git config ahp.defaultBranch BRANCH" in said
    server.git("config", "ahp.defaultBranch", "gone-too")
    assert "git config ahp.defaultBranch BRANCH" in push(work, "topic:main")[1]
    server.git("config", "ahp.defaultBranch", "main")
    code, said = push(work, "topic:main")
    assert code == 1 and "refused by no-todo" in said


def test_pack_core_keeps_the_default_branch_and_messages_on_a_server_too(
    server: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a branch that is moved back comes no commit, so that no rule of commits is asked, and an older policy would
    count again.
    """
    work = server.root.parent / "work"
    server.git("clone", "-q", str(server.root), str(work))
    start = server.git("rev-parse", "main")
    Repo(work).commit("chore: pack", **{".ahp/hooks.yaml": f"extends: [core]\n{POLICY}"})
    tip = Repo(work).commit("feat: more", **{"b.txt": "b\n"})
    server.git("fetch", "-q", str(work), "main")
    assert received(server, f"{start} {tip} refs/heads/main\n", monkeypatch) == 0
    assert received(server, f"{'0' * 40} {tip} refs/heads/topic\n", monkeypatch) == 0
    for branch in ("main", "topic"):
        server.git("update-ref", f"refs/heads/{branch}", tip)
    assert received(server, f"{tip} {start} refs/heads/topic\n{tip} {'0' * 40} refs/heads/topic\n", monkeypatch) == 0
    assert capsys.readouterr().err == ""
    for new, rule in ((start, "no-force-push"), ("0" * 40, "keep-main")):
        assert received(server, f"{tip} {new} refs/heads/main\n", monkeypatch) == 1
        assert f"refused by {rule}" in capsys.readouterr().err
    told = work / "told"
    told.write_text("feat: sk-ant-" + "a1B2c3D4e5" * 4, encoding="utf-8")
    Repo(work).git("commit", "-q", "--allow-empty", "-F", str(told))
    server.git("fetch", "-q", str(work), "main")
    assert received(server, f"{tip} {Repo(work).head()} refs/heads/main\n", monkeypatch) == 1
    assert "refused by no-secrets-in-messages" in capsys.readouterr().err
    server.git("config", "ahp.admit", start)  # as of an import long ago
    assert received(server, f"{tip} {start} refs/heads/main\n", monkeypatch) == 1


def test_a_limit_that_was_taken_for_another_error_refuses_all_the_same() -> None:
    late = pytest.raises(Timeout, match="longer to judge than")
    with late, receiving._within(0.01), contextlib.suppress(BaseException):
        time.sleep(5)
    went_on = False
    with pytest.raises(Timeout, match="longer to judge than"), receiving._within(0.01):
        with contextlib.suppress(Exception):  # as where a program that fails is asked again, in other words
            time.sleep(5)
        went_on = True
    assert not went_on


def received(server: Repo, lines: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The hook, with what git tells it, in this process."""
    monkeypatch.chdir(server.root)
    monkeypatch.setattr(environ, "current", lambda: {"PATH": os.environ["PATH"]})
    return receiving.judge(lines.encode(), limit=600)


def test_a_policy_is_compiled_once_and_its_compiler_not_loaded_again(
    server: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = server.git("rev-parse", "main")
    assert received(server, f"{'0' * 40} {head} refs/heads/a\n", monkeypatch) == 0
    monkeypatch.setattr(compiling, "committed", None)  # to call it fails
    assert received(server, f"{'0' * 40} {head} refs/heads/b\n", monkeypatch) == 0
    loaded = "import sys, ahp.hosts.ci.receiving; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", loaded], check=False).returncode == 0


def test_a_line_that_git_would_not_write_refuses(server: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    head, none = server.git("rev-parse", "main"), "0" * 40
    for line in (
        "hello",
        f"{none} HEAD refs/heads/x",
        f"{none} --all refs/heads/x",
        f"{none} {head} a\0b",
        f"{none} {head}",
    ):
        with pytest.raises(AhpError, match="list of pushed refs is not understood"):
            received(server, f"{line}\n", monkeypatch)
    with pytest.raises(AhpError, match="object 1111111111 that refs/heads/x would name is not here"):
        received(server, f"{none} {'1' * 40} refs/heads/x\n", monkeypatch)


def test_nothing_to_read_is_not_nothing_to_judge() -> None:
    """As where a `while read` before it in the same hook took git's lines."""
    with pytest.raises(AhpError, match="did another command of the hook read it"):
        receiving.judge(b"")


def test_a_push_to_a_namespace_of_a_shared_repository_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its default branch is not the repository's, and another's policy, or none, would judge."""
    monkeypatch.setenv("GIT_NAMESPACE", "theirs")
    with pytest.raises(AhpError, match="goes to a namespace"):
        receiving.judge(b"")


def test_many_refs_of_what_is_there_already_cost_git_nothing_each(
    repo: Repo, server: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = "  told: {at: pre-push, each: m in push.messages, block: m.text == 'TODO'}\n"
    tip = repo.commit("chore: more rules", **{".ahp/hooks.yaml": f"{POLICY}{messages}authority: [stable]\n"})
    server.git("fetch", "-q", str(repo.root), "main")
    server.git("update-ref", "refs/heads/main", tip)
    assert received(server, f"{'0' * 40} {tip} refs/tags/first\n", monkeypatch) == 0  # compiles the policy
    asked: list[list[str]] = []
    capture = process.capture
    monkeypatch.setattr(process, "capture", lambda argv, **more: asked.append(argv) or capture(argv, **more))
    assert received(server, f"{'0' * 40} {tip} refs/tags/one\n", monkeypatch) == 0
    of_one = len(asked)
    asked.clear()
    lines = "".join(f"{'0' * 40} {tip} refs/tags/{number}\n" for number in range(100))
    assert received(server, lines, monkeypatch) == 0
    assert len(asked) == of_one, asked


def test_many_refs_of_one_line_cost_what_its_commits_cost(
    repo: Repo, server: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commits = [repo.commit(f"feat: {number}", **{f"{number}.txt": "1\n"}) for number in range(6)]
    server.git("fetch", "-q", str(repo.root), "main")
    assert received(server, f"{'0' * 40} {commits[0]} refs/tags/first\n", monkeypatch) == 0  # compiles the policy
    ran, asked = [], []
    capture, ask = process.capture, of_range.asked
    monkeypatch.setattr(process, "capture", lambda argv, **more: ran.append(argv) or capture(argv, **more))
    monkeypatch.setattr(of_range, "asked", lambda one, *by: asked.append(one.commit.id) or ask(one, *by))
    lines = [f"{'0' * 40} {commit} refs/tags/{commit}\n" for commit in commits]
    assert received(server, "".join(lines[-2:]), monkeypatch) == 0
    of_two = len(ran)
    assert received(server, "".join(lines), monkeypatch) == 0
    assert len(ran) == 2 * of_two and sorted(asked) == sorted(commits * 2)
    assert capsys.readouterr().err.count("warned by size") == 2 + 4


def test_a_commit_of_several_branches_is_asked_for_each_where_a_rule_tells_them_apart(
    repo: Repo, server: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "  b: {at: pre-commit, block: \"branch.name == 'bad' and 'b.txt' in files.changed\"}\n"
    start = repo.commit("chore: more rules", **{".ahp/hooks.yaml": POLICY + rule})
    tip = repo.commit("feat: more", **{"b.txt": "b\n"})
    server.git("fetch", "-q", str(repo.root), "main")
    server.git("update-ref", "refs/heads/main", start)
    lines = [f"{'0' * 40} {tip} refs/heads/{name}\n" for name in ("good", "bad")]
    for order in (lines, lines[::-1]):
        assert received(server, "".join(order), monkeypatch) == 1
        said = capsys.readouterr().err
        assert "refs/heads/bad" in said and "refused by b" in said and "refs/heads/good" not in said


def test_a_policy_that_this_ahp_cannot_read_on_a_branch_that_has_none_of_its_own_stops_no_push_there(
    repo: Repo, server: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = repo.commit("chore: newer", **{".ahp/hooks.yaml": f'requires: ">=99"\n{POLICY}'})
    new = repo.commit("chore: as it was", **{".ahp/hooks.yaml": POLICY})
    server.git("fetch", "-q", str(repo.root), "main")
    server.git("update-ref", "refs/heads/topic", old)
    assert received(server, f"{old} {new} refs/heads/topic\n", monkeypatch) == 0
    server.git("update-ref", "refs/heads/main", old)
    with pytest.raises(AhpError, match="the policy of main cannot judge"):
        received(server, f"{old} {new} refs/heads/main\n", monkeypatch)


def test_what_takes_too_long_is_refused_with_the_reason(work: Repo, server: Repo) -> None:
    work.commit("feat: more", **{"b.txt": "b\n"})
    hook(server, "--limit", "0.01")
    code, said = push(work, "topic")
    assert code == 1 and "longer to judge than the 0.01 s" in said
    hook(server, "--limit=nonsense")
    code, said = push(work, "topic")
    assert code == 1 and "--limit SECONDS" in said


def test_what_a_shallow_clone_hides_is_not_taken(work: Repo, server: Repo, tmp_path: Path) -> None:
    server.git("config", "receive.shallowUpdate", "true")
    work.commit("feat: bad", **{"b.txt": "TODO\n"})
    work.commit("feat: hidden", **{"b.txt": "done\n"})
    shallow = Repo(tmp_path / "shallow")
    work.git("clone", "-q", "--depth=1", "--branch=topic", f"file://{work.root}", str(shallow.root))
    shallow.git("remote", "set-url", "origin", f"file://{server.root}")
    code, said = push(shallow, "topic")
    assert code == 1 and "git cannot follow the history" in said


@pytest.mark.slow
def test_the_first_push_to_an_empty_server(tmp_path: Path, repo: Repo) -> None:
    repo.git("init", "-q", "--bare", "--initial-branch=main", str(tmp_path / "new.git"))
    bare = Repo(tmp_path / "new.git")
    hook(bare, "--limit", "600")
    repo.commit("feat: bad", **{".ahp/hooks.yaml": POLICY, "c.txt": "TODO\n"})
    repo.git("remote", "add", "origin", str(bare.root))
    code, said = push(repo, "HEAD:main")
    assert code == 1 and "no-todo" in said and "an older one: git rebase -i --rebase-merges --root" in said
    repo.git("rm", "-q", "c.txt")
    repo.git("commit", "-q", "--amend", "-m", "feat: fine")
    assert push(repo, "HEAD:main")[0] == 0


def test_a_broken_hook_refuses(work: Repo, server: Repo) -> None:
    work.commit("feat: more", **{"b.txt": "b\n"})
    server.git("config", "core.bare", "nonsense")
    assert push(work, "topic")[0] != 0


class _Backend(http.server.BaseHTTPRequestHandler):
    """git-http-backend(1) behind a web server, as CGI (RFC 3875)."""

    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self) -> None:
        path, _, query = self.path.partition("?")
        body = self._body()
        env = {
            **{name: os.environ[name] for name in ("PATH", "HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")},
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "REMOTE_USER": "ann",
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test says what it looks at."""


def test_a_push_over_http_is_judged(work: Repo, server: Repo) -> None:
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Backend", (_Backend,), {"root": server.root.parent})
    ) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        try:
            work.git("remote", "set-url", "origin", f"http://127.0.0.1:{web.server_port}/{server.root.name}")
            work.commit("feat: fine", **{"b.txt": "b\n"})
            assert push(work, "topic")[0] == 0
            bad = work.commit("feat: bad", **{"c.txt": "TODO\n", "large.txt": "x" * 2_000_000})
            code, said = push(work, "topic")
            assert code == 1 and "remote: ahp: refused by no-todo" in said and f"commit {bad[:10]}" in said
            assert "remote: ahp: a clone without the gate gets it by: ahp install" in said
            assert server.git("rev-parse", "topic") != bad
        finally:
            web.shutdown()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["anchors", "statements"])
def test_anchors_and_statements_go_forward_only(work: Repo, server: Repo, kind: str) -> None:
    server.git("config", "receive.denyDeletes", "false")
    ref = f"refs/ahp/{kind}/0123"
    tree = work.git("mktree")
    first = work.git("commit-tree", "-m", "one", tree)
    second = work.git("commit-tree", "-p", first, "-m", "two", tree)
    other = work.git("commit-tree", "-m", "other", tree)
    assert push(work, f"{first}:{ref}")[0] == push(work, f"{second}:{ref}")[0] == 0
    for spec in (f"+{first}:{ref}", f"+{other}:{ref}", f":{ref}", f"+{work.git('hash-object', '-w', 'a.txt')}:{ref}"):
        code, said = push(work, spec)
        assert code == 1 and "go forward only and are never deleted" in said, (spec, said)
    assert server.git("rev-parse", ref) == second
    code, said = push(work, f"{first}:refs/ahp/else")
    assert code == 1 and "only branches and tags are taken" in said


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["anchors", "statements"])
def test_an_anchor_or_a_statement_brings_nothing_that_nobody_judges(work: Repo, server: Repo, kind: str) -> None:
    ref = f"refs/ahp/{kind}/0123"
    tree = work.git("mktree")
    blob = work.git("hash-object", "-w", "--stdin", stdin=b"{}\n")
    stated = work.git("mktree", stdin=f"100644 blob {blob}\tstatement.json\n".encode())
    right = work.git("commit-tree", "-m", "one", tree if kind == "anchors" else stated)
    beside = work.git("commit-tree", "-m", "two", "-p", right, f"{work.head()}^{{tree}}")
    behind = work.git("commit-tree", "-m", "two", "-p", right, "-p", work.head(), tree)
    gone = work.git("commit-tree", "-m", "three", "-p", beside, tree)
    for commit in (work.head(), beside, behind, gone):
        code, said = push(work, f"{commit}:{ref}")
        assert code == 1 and "an anchor holds no file, and a statement its own alone" in said, said
    code, said = push(work, f"{right}:{ref}")
    assert code == 0 and "ahp: " not in said


STRICT = """
  secret: {at: pre-commit, severity: high, each: l in diff.added, block: "contains(l.text, 'SECRET')", message: secret}
  locked: {at: pre-commit, locked: true, each: l in diff.added, block: "contains(l.text, 'LOCKED')", message: locked}
  plain: {at: pre-commit, each: l in diff.added, block: "contains(l.text, 'PLAIN')", message: plain}
"""


def named(repo: Repo, server: Repo, authority: str) -> str:
    """The commit that main has from before its rules and the branches that have a policy of their own."""
    old = repo.head()
    repo.commit("chore: rules", **{".ahp/hooks.yaml": f"{POLICY}{STRICT}authority: [{authority}]\n"})
    server.git("fetch", "-q", str(repo.root), "main")
    server.git("update-ref", "refs/heads/main", repo.head())
    return old


@pytest.mark.slow
def test_a_branch_that_begins_at_an_old_commit_is_asked_what_guards_the_default_one(
    repo: Repo, work: Repo, server: Repo
) -> None:
    old = named(repo, server, "release/*")
    assert push(work, f"{old}:refs/heads/release/9")[0] == 0
    for text, code in (("SECRET", 1), ("LOCKED", 1), ("PLAIN", 0)):
        work.git("reset", "-q", "--hard", old)
        work.commit("feat: x", **{"x.txt": f"{text}\n"})
        assert push(work, "topic:release/9")[0] == code, text


@pytest.mark.slow
def test_a_branch_whose_policy_is_there_alone_is_judged_by_that(repo: Repo, work: Repo, server: Repo) -> None:
    old = named(repo, server, "{ref: release/*, alone: true}")
    assert push(work, f"{old}:refs/heads/release/9")[0] == 0
    work.commit("feat: x", **{"x.txt": "SECRET\n"})
    assert push(work, "topic:release/9")[0] == 0
    code, said = push(work, "topic:release-9")
    assert code == 1 and "refused by secret" in said, said


@pytest.mark.slow
def test_what_another_branch_has_is_not_known(repo: Repo, work: Repo, server: Repo) -> None:
    old = named(repo, server, "release/*")
    assert push(work, f"{old}:refs/heads/release/9")[0] == 0
    work.commit("feat: x", **{"x.txt": "PLAIN\n"})
    assert push(work, "topic:release/9")[0] == 0
    for ref in ("topic", "refs/tags/v9", "release/10"):
        code, said = push(work, f"topic:{ref}")
        assert code == 1 and "refused by plain" in said, (ref, said)
    work.git("reset", "-q", "--hard", old)
    work.commit("feat: y", **{"y.txt": "fine\n"})
    assert push(work, "topic", "topic:refs/tags/v10", "topic:release/11")[0] == 0
    assert push(work, "topic:again")[0] == 0
