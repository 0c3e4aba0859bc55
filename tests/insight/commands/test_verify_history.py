"""`ahp verify-history` on what a real server signed, and on what somebody who may write every ref makes of it."""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ahp.cli import main
from ahp.hosts.ci import statements
from ahp.system import git, process
from tests.conftest import Repo
from tests.hosts.ci.test_receiving import hook

pytest.importorskip("securesystemslib", reason="the extra `attest` is not installed")
pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="OpenSSH's ssh-keygen is not installed")

REFS, MAIN = statements.REFS, "refs/remotes/origin/main"
URI = "git+https://example.org/team/project"
POLICY = """
version: 1
authority: [release/*]
rules:
  no-todo: {at: pre-commit, each: l in diff.added, block: "contains(l.text, 'TODO')", message: a TODO was added}
  size: {at: pre-push, prompt: files.changed_count > LIMIT, message: many}
"""


class World(NamedTuple):
    """A clone of what a server judged and signed, by the key in the file `keys`.

    `line` are the revisions of main, oldest first, from the one that the server began with; `later` is a commit after
    them that main never got: a fork judged it, and `release/2`. `eve` is a key of somebody's.
    """

    clone: Repo
    server: Repo
    keys: Path
    eve: Path
    line: list[str]
    later: str
    at_first: dict[str, str]
    elsewhere: dict[str, bytes]


def refs(repo: Repo) -> dict[str, str]:
    told = repo.git("for-each-ref", "--format=%(refname) %(objectname)").split("\n")
    return dict(line.split(" ") for line in told if line and not line.startswith("refs/remotes/origin/HEAD "))


def envelope(repo: Repo, commit: str, ref: str = REFS) -> bytes:
    return repo.git("show", f"{ref}{commit}:{statements.FILE}").encode()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, first_home: None) -> World:
    folder = tmp_path_factory.mktemp("world")
    for name in ("judge", "eve"):
        argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(argv, check=True)
    (folder / "keys").write_text(f"# judges\njudge@example.org {(folder / 'judge.pub').read_text('utf-8')}", "utf-8")
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder / "work")], check=True)
    work = Repo(folder / "work")
    start = work.commit("chore: start", **{".ahp/hooks.yaml": POLICY.replace("LIMIT", "50"), "a.txt": "a\n"})
    for name, uri in {"server": URI, "fork": "git+https://example.org/eve/project"}.items():
        bare = Repo(folder / name)
        work.git("clone", "-q", "--bare", str(work.root), str(bare.root))
        for key, value in {"attestKey": str(folder / "judge"), "repository": uri}.items():
            bare.git("config", f"ahp.{key}", value)
        hook(bare)
        work.git("remote", "add", name, f"file://{bare.root}")

    def push(*what: str, to: str = "server") -> None:
        work.git("push", "-q", to, *(what or ("HEAD:main",)))

    def made(*names: str) -> None:
        for name in names:
            work.commit(f"feat: {name}", **{f"{name}.txt": f"{name}\n"})

    made("one")
    push()
    made("two", "three", "four")
    push()
    work.git("checkout", "-qb", "topic")
    made("t1", "t2")
    work.git("checkout", "-q", "main")
    made("five")
    work.git("merge", "-q", "--no-ff", "-m", "merge topic", "topic")
    push()
    work.commit("chore: stricter", **{".ahp/hooks.yaml": POLICY.replace("LIMIT", "30")})
    push()
    made("six")
    push("HEAD:main", "HEAD:refs/heads/release/1")
    made("seven")
    push()
    work.git("checkout", "-qb", "side", "HEAD^")
    made("side")
    work.git("merge", "-q", "--no-ff", "-m", "merge main", "main")  # main is its second parent
    push("side:main")
    made("eight", "nine")
    push("HEAD:main", "HEAD:refs/heads/release/2")
    made("later")
    push("HEAD:refs/heads/release/2")
    push("HEAD:refs/heads/main", to="fork")
    work.git("clone", "-q", f"file://{folder / 'server'}", str(folder / "clone"))
    clone = Repo(folder / "clone")
    clone.git("fetch", "-q", "origin", f"{REFS}*:{REFS}*")
    clone.git("fetch", "-q", f"file://{folder / 'fork'}", f"{REFS}*:refs/fork/*")
    line = clone.git("rev-list", "--first-parent", "--reverse", MAIN).split("\n")
    assert line[0] == start
    elsewhere = {one: envelope(clone, one, "refs/fork/") for one in (*line[1:], work.head()) if one != start}
    return World(
        clone, Repo(folder / "server"), folder / "keys", folder / "eve", line, work.head(), refs(clone), elsewhere
    )


@pytest.fixture
def clone(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repo]:
    """The clone, whose refs are put back afterwards."""
    monkeypatch.chdir(world.clone.root)
    yield world.clone
    put_back(world)


def put_back(world: World) -> None:
    now = refs(world.clone)
    lines = [f"update {ref} {oid}\n" for ref, oid in world.at_first.items() if now.get(ref) != oid]
    lines += [f"delete {ref}\n" for ref in now.keys() - world.at_first.keys()]
    world.clone.git("update-ref", "--no-deref", "--stdin", stdin="".join(lines).encode())


def verified(world: World, *more: str) -> int:
    since = [] if any(".." in one for one in more) else [f"{world.line[0]}.."]
    return main.run(["verify-history", "--keys", str(world.keys), "--repository", URI, *since, *more])


def only(repo: Repo, commit: str, data: bytes, name: str = statements.FILE) -> None:
    """Makes the data the one statement that the ref of a commit has."""
    blob = repo.git("hash-object", "-w", "--stdin", stdin=data)
    tree = repo.git("mktree", stdin=f"100644 blob {blob}\t{name}\n".encode())
    repo.git("update-ref", REFS + commit, repo.git("commit-tree", tree, stdin=b"statement\n"))


@pytest.mark.slow
def test_what_a_server_judged_verifies(world: World, clone: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    assert verified(world) == 0
    said = capsys.readouterr().out
    assert f"main: {len(world.line) - 1} revisions, 0 problems" in said
    assert "by pre-receive with the key judge@example.org" in said
    assert verified(world, f"{world.line[2]}..{world.line[4]}") == 0
    assert "main: 2 revisions, 0 problems" in capsys.readouterr().out
    assert verified(world, "--branch", "release/2", f"{world.line[-1]}..") == 0


def test_a_revision_of_before_the_statements_is_named(
    world: World, clone: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["verify-history", "--keys", str(world.keys), "--repository", URI]) == 1
    assert f"{world.line[0]} has no statement" in capsys.readouterr().out


@pytest.mark.parametrize("more", [["nowhere.."], ["HEAD"], ["--branch", "none"]])
def test_what_is_no_part_of_the_line_is_an_error(world: World, clone: Repo, more: list[str]) -> None:
    argv = ["verify-history", "--keys", str(world.keys), "--repository", URI, *more]
    assert main.run(argv) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# none\n", "no key"),
        ("judge ssh-ed25519 AAAA\n", "line 1"),
        ("judge valid-after=2020 ssh-ed25519 AAAA\n", "line 1"),
        ("\x1b[2J\n", "line 1"),
    ],
)
def test_keys_that_are_none_are_an_error(
    text: str, why: str, world: World, clone: Repo, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "keys").write_text(text, "utf-8")
    assert main.run(["verify-history", "--keys", str(tmp_path / "keys"), "--repository", URI]) == 2
    said = capsys.readouterr().err
    assert why in said and "\x1b" not in said


def test_an_older_policy_is_not_in_force(world: World, clone: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    """Signed by the judge's own key: a server that read an old policy, or one that was told to (CVE-2026-44544)."""
    stricter = next(one for one in world.line if "stricter" in clone.git("log", "-1", "--format=%s", one))
    told = json.loads(base64.b64decode(json.loads(envelope(clone, world.line[-1]))["payload"]))
    told["predicate"][statements.JUDGED]["policies"][0]["commit"] = clone.git("rev-parse", f"{stricter}^")
    payload = json.dumps(told).encode()
    only(clone, world.line[-1], statements.sign({"": payload}, str(world.keys.parent / "judge"))[""])
    assert verified(world) == 1
    assert f"{world.line[-1]} was judged by the policy of" in capsys.readouterr().out


def test_a_refused_revision_is_no_good_one(world: World, clone: Repo, capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(base64.b64decode(json.loads(envelope(clone, world.line[3]))["payload"]))
    told["predicate"]["verificationResult"] = "FAILED"
    rule = {"commit": world.line[3], "rule": "no-\x1b[2Jtodo", "level": "block", "total": 1, "exemption": None}
    told["predicate"][statements.JUDGED]["found"] = [rule]
    signed = statements.sign({world.line[3]: json.dumps(told).encode()}, str(world.keys.parent / "judge"))
    statements.keep(git.discover(str(clone.root), {}), signed)  # beside the one that says that it passed
    assert verified(world) == 1
    said = capsys.readouterr().out
    assert f"{world.line[3]} was refused by no-" in said and "\x1b" not in said


def test_a_server_that_let_a_branch_go_back_and_elsewhere_is_found_out(
    world: World, clone: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    """gittuf's shape: each state was judged, and one that people built on is gone."""
    key, old = str(world.keys.parent / "judge"), world.line[-3]
    told = json.loads(base64.b64decode(json.loads(envelope(clone, world.line[-1]))["payload"]))
    judged = told["predicate"][statements.JUDGED]
    other = clone.git("commit-tree", "-p", old, f"{old}^{{tree}}", stdin=b"feat: other\n")
    merge = clone.git("commit-tree", "-p", other, "-p", world.line[-1], f"{old}^{{tree}}", stdin=b"merge\n")
    for head, tip in ((other, old), (merge, other)):
        judged |= {"head": head, "tip": tip, "policies": [{**judged["policies"][0], "commit": tip}]}
        told["subject"][0]["digest"]["gitCommit"] = head
        statements.keep(git.discover(str(clone.root), {}), statements.sign({head: json.dumps(told).encode()}, key))
    clone.git("update-ref", MAIN, merge)
    assert verified(world) == 1
    assert f"{world.line[-1]} was put there in place of {old}, and that was taken back" in capsys.readouterr().out


def test_what_others_put_beside_the_statements_changes_nothing(
    world: World, clone: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = git.discover(str(clone.root), {})
    junk = [b"", b"{", b"[" * 100_000, b'{"payload": [], "signatures": {}}', b"1" * 5000, world.elsewhere[world.later]]
    for data in junk:
        statements.keep(repo, {world.line[2]: data, "refs-of-nobody": data})
    blob = clone.git("hash-object", "-w", "--stdin", stdin=b"x")
    clone.git("update-ref", f"{REFS}a-blob", blob)
    only(clone, "no-file", b"x", "other.json")
    assert verified(world) == 0
    assert "not believed" in capsys.readouterr().out


def test_a_long_line_takes_no_more_processes(
    world: World, clone: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[str] = []
    capture = process.capture

    def counted(argv: list[str], **more: Any) -> process.Result:
        started.append(argv[0])
        return capture(argv, **more)

    monkeypatch.setattr(process, "capture", counted)
    numbers = []
    for since in (world.line[-2], world.line[0]):
        started.clear()
        assert verified(world, f"{since}..") == 0
        numbers.append(len(started))
    assert numbers[0] == numbers[1]


KINDS = (
    *("delete", "delete all", "move", "swap", "other repository", "eve", "words", "bytes", "type", "result", "cut"),
    *("junk", "back", "rewritten", "on top", "release", "fork", "between"),
)


def attack(world: World, dice: random.Random) -> str:
    """One thing that who may write every ref can do without the judge's key; its name."""
    clone, line = world.clone, world.line[1:]
    repo = git.discover(str(clone.root), {})
    one, two = dice.sample(line, 2)
    made = json.loads(envelope(clone, one))

    def signed(payload: bytes) -> bytes:
        return statements.sign({"": payload}, str(world.eve))[""]

    def unjudged(parent: str) -> str:
        message = f"evil {dice.random()}\n".encode()
        return clone.git("commit-tree", "-p", parent, f"{parent}^{{tree}}", stdin=message)

    kind = dice.choice(KINDS)
    if kind == "delete":
        clone.git("update-ref", "-d", REFS + one)
    elif kind == "delete all":
        clone.git("update-ref", "--stdin", stdin="".join(f"delete {REFS}{each}\n" for each in line).encode())
    elif kind == "move":
        clone.git("update-ref", REFS + two, clone.git("rev-parse", REFS + one))
        clone.git("update-ref", "-d", REFS + one)
    elif kind == "swap":
        here, there = clone.git("rev-parse", REFS + one, REFS + two).split("\n")
        clone.git("update-ref", REFS + one, there)
        clone.git("update-ref", REFS + two, here)
    elif kind == "other repository":
        only(clone, line[-1], world.elsewhere[line[-1]])
    elif kind == "eve":
        only(clone, one, signed(base64.b64decode(made["payload"])))
    elif kind == "words":
        old, new = dice.choice([(one, two), ("PASSED", "FAILED"), ("main", "next"), ("example.org", "evil.org")])
        payload = base64.b64decode(made["payload"]).replace(old.encode(), new.encode())
        only(clone, one, json.dumps({**made, "payload": base64.b64encode(payload).decode()}).encode())
    elif kind == "bytes":
        data = bytearray(base64.b64decode(made["payload"]))
        data[dice.randrange(len(data))] ^= dice.randrange(1, 256)
        only(clone, one, json.dumps({**made, "payload": base64.b64encode(bytes(data)).decode()}).encode())
    elif kind == "cut":
        only(clone, one, (data := envelope(clone, one))[: dice.randrange(len(data))])
    elif kind == "junk":
        only(clone, one, dice.choice([b"", b"null", b"[" * 100_000, b'{"payload": 1}', dice.randbytes(300)]))
    elif kind == "type":
        changed = dice.choice([{"payloadType": "application/json"}, {"signatures": []}, {"signatures": {"keyid": []}}])
        only(clone, one, json.dumps({**made, **changed}).encode())
    elif kind == "result":  # the signatures of another statement
        other = json.loads(envelope(clone, two))
        only(clone, one, json.dumps({**made, "signatures": other["signatures"]}).encode())
    elif kind == "back":  # to a state that was judged
        clone.git("update-ref", MAIN, dice.choice(line[:-1]))
    elif kind == "rewritten":  # the newest one once more, with other words
        clone.git("update-ref", MAIN, unjudged(line[-2]))
    elif kind == "on top":
        new = unjudged(line[-1])
        payload = base64.b64decode(made["payload"]).replace(one.encode(), new.encode())
        forged = dice.choice([json.dumps(made).encode(), signed(payload), world.elsewhere[line[-1]]])
        statements.keep(repo, {new: forged})
        clone.git("update-ref", MAIN, new)
    elif kind == "release":  # judged, for another ref
        clone.git("update-ref", MAIN, world.later)
    elif kind == "fork":  # judged, in another repository
        only(clone, world.later, world.elsewhere[world.later])
        clone.git("update-ref", MAIN, world.later)
    else:  # back to one that was judged, and on with one that was not
        clone.git("update-ref", MAIN, unjudged(dice.choice(line[:-1])))
    return kind


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_none_of_500_attacks_is_accepted(
    seed: int, world: World, clone: Repo, capsys: pytest.CaptureFixture[str]
) -> None:
    dice = random.Random(seed)
    for number in range(50):
        kind = attack(world, dice)
        assert verified(world) == 1, (number, kind, capsys.readouterr())
        put_back(world)
    assert verified(world) == 0
