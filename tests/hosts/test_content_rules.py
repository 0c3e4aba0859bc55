"""Rules about what files say give one verdict at the commit, the push, in CI, of the whole tree and of a tool call."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from ahp.cli import main
from tests.conftest import Repo

pytestmark = pytest.mark.wings  # a tool call, too, asks each rule

POLICY = """\
version: 1
rules:
  engines:
    at: [pre-commit, pre-push, pre-tool-use]
    when: "'package.json' in files.changed"
    block: not has(at(content.after['package.json'], 'engines.node'))
    message: package.json needs engines.node
  root:
    at: [pre-commit, pre-push, pre-tool-use]
    each: f in files.changed
    block: "glob(f, 'Dockerfile') and any(i.name == 'USER' and i.value == 'root' for i in content.after[f])"
    finding: {file: f}
    message: a container runs as root
  pinned:
    at: [pre-commit, pre-push, pre-tool-use]
    each: f in files.changed
    block: >-
      glob(f, '.github/workflows/*.yml') and
      any(not matches(u, '@[0-9a-f]{40}$') for u in at(content.after[f], 'jobs.*.steps.*.uses'))
    finding: {file: f}
    message: an action is not pinned
  major:
    at: [pre-commit, pre-push]
    each: d in deps.changes
    block: d.level == 'major' and not d.direct
    finding: {file: d.path, message: "{d.name} from {d.before} to {d.after}"}
    message: a major update
  committer:
    at: commit-msg
    block: commit.committer_email.endswith('.invalid')
    message: "{commit.committer} is nobody"
  links:
    at: [pre-commit, pre-push, pre-tool-use]
    each: c in files.changes
    block: c.mode == '120000'
    on_missing: skip
    finding: {file: c.path}
    message: a link
"""
LOCK = '{"packages": {"": {"dependencies": {"a": "^1"}}, "node_modules/t": {"version": "%s"}}}'
GOOD = {
    "package-lock.json": LOCK % "1.0.0",
    "package.json": '{"engines": {"node": ">=18"}}',
    "Dockerfile": "FROM a\nUSER app\n",
    ".github/workflows/ci.yml": f"jobs: {{a: {{steps: [{{uses: a/b@{'0' * 40}}}, {{run: x}}]}}}}\n",
}
BAD = {
    "engines": ("package.json", '{"engines": {"npm": "9"}}', "package.json needs engines.node"),
    "root": ("Dockerfile", "FROM a\nUSER root\n", "a container runs as root"),
    "pinned": (".github/workflows/ci.yml", "jobs: {a: {steps: [{uses: a/b@v1}]}}\n", "an action is not pinned"),
}


@pytest.fixture
def work(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Repo:
    """A clone on a branch of its own with git's hooks, of a server that judges what is pushed; the test's folder."""
    for name in ("CI", "GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    repo.commit("start", **{".ahp/hooks.yaml": getattr(request, "param", POLICY), **GOOD, "named.yaml": "a: 1\n"})
    server = Repo(tmp_path / "server.git")
    repo.git("clone", "-q", "--bare", str(repo.root), str(server.root))
    hook = f"#!/bin/sh\nexec {Path(sys.executable).parent / 'ahp'} hook pre-receive --limit 600\n"
    server.write("hooks/pre-receive", hook, 0o755)
    server.git("clone", "-q", f"file://{server.root}", str(tmp_path / "work"))
    made = Repo(tmp_path / "work")
    monkeypatch.chdir(made.root)
    for host in ("git", "claude"):
        assert main.run(["install", host]) == 0
    made.git("checkout", "-q", "-b", "topic")
    return made


def refuses_everywhere(
    work: Repo, words: str | Sequence[str], capsys: pytest.CaptureFixture[str], code: int = 1
) -> None:
    """What is staged is refused with all of these words: at commit and push, in CI (with `code`), and by the server."""
    wanted = [words] if isinstance(words, str) else words

    def lacking(said: str) -> list[str]:
        return [one for one in wanted if one not in said]

    done = work.run("git", "commit", "-qm", "bad")
    assert (done.returncode, lacking(done.stderr.decode())) == (1, [])
    work.git("commit", "-q", "--no-verify", "-m", "bad")
    for how in ([], ["--no-verify"]):
        done = work.run("git", "push", "-q", *how, "origin", "topic")
        assert (done.returncode, lacking(done.stderr.decode())) == (1, [])
    capsys.readouterr()
    assert main.run(["ci"]) == code
    assert lacking("".join(capsys.readouterr())) == []


@pytest.mark.parametrize("rule", BAD)
def test_a_rule_about_contents_refuses_the_same_everywhere(
    work: Repo, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text, message = BAD[rule]
    work.write(path, text)
    work.add()
    refuses_everywhere(work, f"refused by {rule}", capsys)
    assert main.run(["check", "--all"]) == 1
    assert f"refused by {rule}" in (said := capsys.readouterr()).out + said.err
    call = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "1", "cwd": str(work.root)}
    call |= {"tool_name": "Write", "tool_input": {"file_path": str(work.root / path), "content": text}}
    (hook,) = json.loads((work.root / ".claude/settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"]
    env = {"CLAUDE_PROJECT_DIR": str(work.root)}
    done = work.run("sh", "-c", hook["command"], stdin=json.dumps(call).encode(), env=env)
    assert b'"deny"' in done.stdout and message.encode() in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("rule", BAD)
def test_what_says_what_it_should_passes_everywhere(work: Repo, rule: str) -> None:
    path, *_ = BAD[rule]
    work.write(path, GOOD[path] + "\n")
    work.write("other.txt", "x\n")
    work.add()
    assert work.run("git", "commit", "-qm", "good").returncode == 0
    assert main.run(["ci"]) == 0
    assert main.run(["check", "--all"]) == 0
    assert work.run("git", "push", "-q", "origin", "topic").returncode == 0


def test_a_file_that_does_not_parse_is_named_with_the_reason(work: Repo) -> None:
    work.write("package.json", "{")
    work.write(".github/workflows/ci.yml", "a: [\n")
    work.add()
    done = work.run("git", "commit", "-qm", "bad")
    assert done.returncode == 1 and b"refused by engines" in done.stderr
    assert b".github/workflows/ci.yml cannot be read as data" in done.stderr


@pytest.mark.slow
def test_a_rule_about_locked_versions_refuses_the_same_everywhere(
    work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    work.write("package-lock.json", LOCK % "1.9.9")
    work.add()
    assert work.run("git", "commit", "-qm", "a minor update").returncode == 0
    work.write("package-lock.json", LOCK % "2.0.0")
    work.add()
    refuses_everywhere(work, "refused by major", capsys)


@pytest.mark.slow
def test_a_rule_about_the_committer_refuses_the_same_everywhere(
    work: Repo, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_COMMITTER_EMAIL", "a@b.invalid")
    work.write("x.txt", "x\n")
    work.add()
    refuses_everywhere(work, "refused by committer", capsys)


@pytest.mark.slow
def test_a_rule_about_modes_refuses_the_same_everywhere(work: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    (work.root / "l").symlink_to("package.json")
    work.add()
    refuses_everywhere(work, "refused by links", capsys)


BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
)
NPM = "package-lock.json"
HURTS = {
    "bomb.yaml": (BOMB.encode(), "more than 300000 values, aliases followed"),
    "cycle.yaml": (b"a: &a [*a]\n", "the alias *a refers to itself"),
    "deep.json": (b"[" * 200 + b"]" * 200, "nested deeper than 64 levels"),
    "deep.toml": (b"a = " + b"[" * 100_000, "nested deeper than 64 levels"),
    "twice.json": (b'{"x": 1, "x": 2}', "the key 'x' is there twice"),
    "nul.json": (b'{"x": "\0"}', "Invalid control character"),
    "nul.yaml": (b"x: \0" * 50, "control characters are not allowed"),
    "latin.json": (b'{"x": "\xff"', "Expecting ',' delimiter"),
    "real.json": (b"{", "Expecting property name"),
}
OF_FILES = (
    "version: 1\nrules:\n"
    + "".join(
        f"  r{n}: {{at: [pre-commit, pre-push], block: \"keys(content.after['{path}']) == ['x']\"}}\n"
        for n, path in enumerate([*HURTS, "link.yaml", "module.yaml"])
    )
    + ("  gone: {at: [pre-commit, pre-push], block: \"keys(content.after['no.yaml']) == ['x']\", on_missing: block}\n")
)
OF_LOCKS = """\
version: 1
rules:
  deps: {at: [pre-commit, pre-push], block: "any(d.level == 'major' for d in deps.changes)"}
"""


@pytest.mark.slow
@pytest.mark.parametrize("work", [OF_FILES], indirect=True)
def test_files_that_are_made_to_hurt_their_reader_refuse_with_the_reason_everywhere(
    work: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    whys = {path: f"{path} cannot be read as data: {why}" for path, (_, why) in HURTS.items()}
    whys |= {"no.yaml": "there is no no.yaml after the change"}
    whys |= {"link.yaml": "link.yaml is a symbolic link", "module.yaml": "module.yaml is a submodule"}
    for path, (data, _) in HURTS.items():
        (work.root / path).write_bytes(data)
    (work.root / "link.yaml").symlink_to("named.yaml")
    work.git("clone", "-q", str(work.root), "module.yaml")
    work.add()
    wanted = [f"content.after['{path}'] is missing ({why}" for path, why in whys.items()]
    refuses_everywhere(work, wanted, capsys, code=2)


LOCKS = [
    (b'{"packages":' * 200 + b"1" + b"}" * 200, "cannot be read: nested deeper than 64 levels"),
    (b'{"packages": {}, "packages": {}}', "cannot be read: the key 'packages' is there twice"),
    (b"\xff", "cannot be read: 'utf-8' codec can't decode byte 0xff"),
    pytest.param(b" " * 100_000_000, "is larger than the 8 MiB that are read", marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("work", [OF_LOCKS], indirect=True)
@pytest.mark.parametrize(("data", "why"), LOCKS, ids=["deep", "twice", "latin", "100 MB"])
def test_a_lock_file_that_is_made_to_hurt_its_reader_refuses_with_the_reason_everywhere(
    work: Repo, data: bytes, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (work.root / NPM).write_bytes(data)
    work.add()
    refuses_everywhere(work, f"deps.changes is missing ({NPM} {why}", capsys, code=2)
