"""Pushes through the installed shim: one evaluation a ref (design §6, §9)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ahp.hosts.git import ranges
from ahp.protocol.text import without_credentials
from ahp.system import process
from ahp.system.errors import AhpError
from tests.attended import attended
from tests.conftest import Repo
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

RULES = """\
version: 1
rules:
  no-force: {at: pre-push, block: push.is_force, message: "force to {push.ref}"}
  no-delete: {at: pre-push, block: push.is_delete, message: "delete {push.ref}"}
  names: {at: pre-push, block: "'forbidden' in branch.name", message: "{branch.name}"}
  paths: {at: pre-push, each: p in files.changed, block: "p.startswith('bad')", finding: {file: p}, message: a bad name}
"""
ZERO = "0" * 40


@pytest.fixture
def remote(gated: Gated) -> Repo:
    """A bare repository that `gated` knows as origin, with its main and nothing to push."""
    made = Repo(gated.root.parent / "remote.git")
    gated.git("init", "-q", "--bare", str(made.root))
    gated.git("remote", "add", "origin", str(made.root))
    gated.git("push", "-q", "-u", "--no-verify", "origin", "main")
    gated.policy(RULES)
    return made


def test_a_quiet_push_says_nothing_and_is_recorded_for_each_ref(gated: Gated, remote: Repo) -> None:
    gated.commit("second", **{"a.txt": "1\n"})
    gated.git("branch", "side")
    assert gated.say("push", "-q", "origin", "main", "side") == (0, "")
    verdicts = gated.log("verdict")
    assert [(r["hook"], r["decision"]) for r in verdicts] == [("pre-push", "allow")] * 2
    assert len({r["attempt"] for r in verdicts}) == 1


def test_one_bad_ref_refuses_the_push(gated: Gated, remote: Repo) -> None:
    gated.git("branch", "good")
    gated.git("checkout", "-q", "-b", "other")
    gated.commit("bad", **{"bad.txt": "1\n"})
    said = gated.say("push", "origin", "good", "other")
    assert said.code == 1
    assert "ahp: push refused by paths" in said.text
    assert "  bad.txt\n" in said.text
    assert remote.git("branch", "--list") == "* main"


def test_a_new_branch_is_judged_by_what_the_remote_lacks(gated: Gated, remote: Repo) -> None:
    gated.commit("bad", "--no-verify", **{"bad.txt": "1\n"})
    gated.git("push", "-q", "--no-verify", "origin", "main")
    gated.git("checkout", "-q", "-b", "other")
    gated.commit("good", **{"good.txt": "1\n"})
    assert gated.say("push", "-q", "origin", "other") == (0, "")


def test_a_new_branch_without_commits_of_its_own_brings_nothing(gated: Gated, remote: Repo) -> None:
    assert gated.say("push", "-q", "origin", "main:refs/heads/copy") == (0, "")


def test_deleting_and_forcing_are_told(gated: Gated, remote: Repo) -> None:
    gated.git("push", "-q", "origin", "main:refs/heads/gone")
    said = gated.say("push", "origin", ":gone")
    assert said.code == 1
    assert "delete 'refs/heads/gone'" in said.text
    gated.commit("one", **{"a.txt": "1\n"})
    gated.git("push", "-q", "origin", "main")
    gated.git("commit", "-q", "--amend", "-m", "rewritten")
    said = gated.say("push", "--force", "origin", "main")
    assert said.code == 1
    assert "force to 'refs/heads/main'" in said.text


def test_a_force_over_commits_that_were_never_fetched(gated: Gated, remote: Repo, tmp_path: Path) -> None:
    gated.git("clone", "-q", str(remote.root), str(tmp_path / "else"))
    other = Repo(tmp_path / "else")
    other.commit("theirs", **{"theirs.txt": "1\n"})
    other.git("push", "-q")
    gated.commit("mine", **{"bad.txt": "1\n"})
    said = gated.say("push", "--force", "origin", "main")
    assert said.code == 1
    assert "refused by paths" in said.text


def test_a_remote_that_was_never_fetched_gets_everything_judged(gated: Gated, tmp_path: Path) -> None:
    gated.commit("bad", "--no-verify", **{"bad.txt": "1\n"})
    gated.policy(RULES)
    gated.git("init", "-q", "--bare", str(tmp_path / "fresh.git"))
    assert gated.say("push", str(tmp_path / "fresh.git"), "main").code == 1
    gated.git("remote", "add", "fresh", str(tmp_path / "fresh.git"))
    assert gated.say("push", "fresh", "main").code == 1


def test_tags_and_refs_of_trees_can_be_pushed(gated: Gated, remote: Repo) -> None:
    gated.git("tag", "-m", "words", "v1")
    gated.git("tag", "tree", "HEAD^{tree}")
    assert gated.say("push", "-q", "origin", "v1", "tree") == (0, "")


def test_branch_names_never_reach_the_terminal_raw(gated: Gated, remote: Repo) -> None:
    name = "forbidden-\u202etxt"
    gated.git("checkout", "-q", "-b", name)
    said = gated.say("push", "origin", name)
    assert said.code == 1
    mine = "".join([line for line in said.text.splitlines() if line.startswith(("ahp:", "  "))])
    assert "forbidden-\ufffdtxt" in mine
    assert "\u202e" not in mine


def test_an_earlier_pre_push_hook_gets_the_refs_too(gated: Gated, remote: Repo) -> None:
    hook = gated.write(".git/hooks/pre-push.before-ahp", f"#!/bin/sh\ncat >'{gated.root.parent}/got'\n", 0o755)
    gated.commit("bad", **{"bad.txt": "1\n"})
    assert gated.say("push", "origin", "main").code == 1
    assert (gated.root.parent / "got").read_text().startswith("refs/heads/main ")
    hook.write_text("#!/bin/sh\nexit 3\n")
    said = gated.say("push", "origin", "main")
    assert said.code == 1
    assert "ahp:" not in said.text


def test_no_program_of_path_stands_between_git_and_the_gate(
    gated: Gated, remote: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Repo(tmp_path / "fake")
    for name in ("cat", "head", "tail", "sed", "grep", "printf", "echo", "test"):
        fake.write(name, "#!/bin/sh\nexit 0\n", 0o755)
    monkeypatch.setenv("PATH", f"{fake.root}:{os.environ['PATH']}")
    gated.commit("bad", **{"bad.txt": "1\n"})
    assert gated.say("push", "origin", "main").code == 1
    gated.write(".git/hooks/pre-push.before-ahp", f"#!/bin/sh\n/bin/cat >'{gated.root.parent}/got'\n", 0o755)
    gated.git("branch", "second")
    assert gated.say("push", "origin", "main", "second").code == 1
    refs = (gated.root.parent / "got").read_text().split("\n")
    assert [line.split(" ")[0] for line in refs] == ["refs/heads/main", "refs/heads/second", ""]


def test_a_branch_whose_name_has_a_line_separator_is_pushed(gated: Gated, remote: Repo) -> None:
    gated.commit("second", **{"a.txt": "1\n"})
    gated.git("branch", "x\u2028y")
    assert gated.say("push", "-q", "origin", "x\u2028y", "HEAD^{/sec}:refs/heads/z") == (0, "")
    gated.commit("bad", **{"bad.txt": "1\n"})
    assert gated.say("push", "-q", "origin", "HEAD^{/b a d|bad}:refs/heads/w").code == 1


def test_what_a_tag_of_a_blob_holds_is_judged(gated: Gated, remote: Repo) -> None:
    rule = "{at: pre-push, each: l in diff.added, block: \"'SECRET' in l.text\", message: found}"
    gated.policy(f"version: 1\nrules:\n  secret: {rule}\n")
    gated.git("tag", "leak", gated.git("hash-object", "-w", "--stdin", stdin=b"SECRET\n"))
    assert gated.say("push", "-q", "origin", "leak").code == 1


def test_a_push_out_of_a_shallow_clone_is_refused_by_rules_that_cannot_tell(
    gated: Gated, remote: Repo, tmp_path: Path
) -> None:
    gated.git("init", "-q", "--bare", str(tmp_path / "fresh.git"))
    gated.commit("second", **{"a.txt": "1\n"})
    (gated.root / ".git/shallow").write_text(gated.head() + "\n")
    said = gated.say("push", str(tmp_path / "fresh.git"), "main")
    assert said.code == 1 and "refused by paths" in said.text
    assert "files.changed is missing" in said.text and "git fetch --unshallow" in said.text


def test_nothing_to_push_is_allowed(gated: Gated, ask: Ask) -> None:
    gated.policy(RULES)
    assert ask("pre-push", "origin", "url") == (0, "")


def test_the_hook_in_this_process(gated: Gated, remote: Repo, ask: Ask) -> None:
    old = gated.head()
    new = gated.commit("bad", **{"bad.txt": "1\n"})
    lines = f"refs/heads/main {new} refs/heads/main {old}\n(delete) {ZERO} refs/heads/gone {old}\n"
    code, said = ask("pre-push", "origin", str(remote.root), stdin=lines.encode())
    assert code == 1
    assert "refused by paths" in said
    assert "refused by no-delete" in said
    gated.policy(RULES.replace("bad'", "worse'"))
    code, said = ask("pre-push", "origin", str(remote.root), stdin=lines.splitlines(keepends=True)[0].encode())
    assert code == 0
    # `bad` was committed while no rule judged commits, and still nothing could have been gone round.
    assert gated.log("bypass") == []


def test_what_many_refs_have_in_common_is_asked_of_git_once(
    gated: Gated, remote: Repo, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    capture = process.capture

    def counted(argv: list[str], **options: Any) -> process.Result:
        asked.append(" ".join(argv))
        return capture(argv, **options)

    monkeypatch.setattr(process, "capture", counted)
    counts = []
    for number in (2, 6):
        heads = [gated.commit(f"{number}.{at}", **{f"{number}.{at}.txt": "1\n"}) for at in range(number)]
        lines = "".join(f"refs/heads/{head[:9]} {head} refs/heads/{head[:9]} {ZERO}\n" for head in heads)
        asked.clear()
        assert ask("pre-push", "origin", str(remote.root), stdin=lines.encode()) == (0, "")
        counts.append(len(asked))
        assert sum("for-each-ref" in one for one in asked) <= 2
        assert len({one for one in asked if "ls-tree" in one}) == sum("ls-tree" in one for one in asked)
    assert counts[1] <= counts[0] + 1, counts


@pytest.mark.slow
def test_updates_tags_and_refs_of_one_commit_cost_no_process_each(
    gated: Gated, remote: Repo, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    gated.policy("version: 1\nextends: [core]\n")
    asked: list[str] = []
    capture = process.capture

    def counted(argv: list[str], **options: Any) -> process.Result:
        asked.append(" ".join(argv))
        return capture(argv, **options)

    old = gated.head()
    gated.git("push", "-q", "--no-verify", "origin", "main:before")
    heads = [gated.commit(f"{number}", **{f"{number}.txt": "1\n"}) for number in range(6)]
    for number, head in enumerate(heads):
        gated.git("tag", "-a", "-m", f"words {number}", f"v{number}", head)
    tags = [gated.git("rev-parse", f"v{number}") for number in range(6)]
    cases = {
        "updates": [f"refs/heads/x {head} refs/heads/x{head[:9]} {old}\n" for head in heads],
        "tags": [f"refs/tags/{tag} {tag} refs/tags/{tag} {ZERO}\n" for tag in tags],
        "one commit": [f"refs/heads/x {heads[0]} refs/heads/x{number} {old}\n" for number in range(6)],
        "deleted": [f"(delete) {ZERO} refs/heads/x{number} {old}\n" for number in range(6)],
    }
    monkeypatch.setattr(process, "capture", counted)
    for name, lines in cases.items():
        counts = []
        for some in (lines[:2], lines[:2], lines):
            asked.clear()
            assert ask("pre-push", "origin", str(remote.root), stdin="".join(some).encode())[0] == 0, name
            counts.append(len(asked))
        assert counts[1] == counts[2], (name, counts)


def test_lines_that_git_never_writes_are_refused(gated: Gated, ask: Ask) -> None:
    gated.policy(RULES)
    code, said = ask("pre-push", "origin", "url", stdin=b"refs/heads/main 123\n")
    assert code == 2
    assert "git's list of pushed refs is not understood" in said


def test_refs_are_read_with_any_bytes() -> None:
    (ref,) = ranges.read_refs(f"refs/heads/\udcff {'1' * 40} refs/heads/x {ZERO}\n".encode("utf-8", "surrogateescape"))
    assert (ref.local_ref, ref.local_oid, ref.remote_ref, ref.remote_oid) == (
        "refs/heads/\udcff",
        "1" * 40,
        "refs/heads/x",
        ZERO,
    )
    with pytest.raises(AhpError, match="not understood"):
        ranges.read_refs(b"only three words\n")


def test_after_a_forced_push_the_range_begins_at_the_last_common_commit(gated: Gated, remote: Repo) -> None:
    first = gated.head()
    old = gated.commit("old", **{"a.txt": "1\n"})
    gated.git("reset", "-q", "--hard", first)
    new = gated.commit("new", **{"b.txt": "1\n"})
    (ref,) = ranges.read_refs(f"refs/heads/main {new} refs/heads/main {old}\n".encode())
    view = ranges.range_of(gated.repository(), ref, "origin")
    assert (view.base(), [e.path for e in view.change().entries]) == (first, ["b.txt"])


def test_unrelated_histories_bring_everything(gated: Gated, remote: Repo) -> None:
    old = gated.head()
    gated.git("checkout", "-q", "--orphan", "island")
    new = gated.commit("island", **{"b.txt": "1\n"})
    (ref,) = ranges.read_refs(f"refs/heads/island {new} refs/heads/main {old}\n".encode())
    view = ranges.range_of(gated.repository(), ref, "origin")
    assert [e.path for e in view.change().entries] == ["README", "b.txt"]


def range_of(gated: Gated, local: str, there: str = ZERO, remote: str = "origin") -> list[str]:
    """The paths that pushing the commit `local` over `there` brings."""
    (ref,) = ranges.read_refs(f"refs/heads/x {local} refs/heads/x {there}\n".encode())
    return [entry.path for entry in ranges.range_of(gated.repository(), ref, remote).change().entries]


def test_what_a_ref_brings(gated: Gated, remote: Repo) -> None:
    first = gated.head()
    second = gated.commit("second", **{"a.txt": "1\n"})
    assert range_of(gated, second, first) == ["a.txt"]
    assert range_of(gated, ZERO, first) == []
    assert range_of(gated, gated.git("rev-parse", "HEAD^{tree}")) == ["README", "a.txt"]
    assert range_of(gated, second) == ["a.txt"]
    assert range_of(gated, first) == []
    assert range_of(gated, second, "1" * 40) == ["a.txt"]  # never fetched
    assert range_of(gated, second, remote="https://host/x.git") == ["a.txt"]
    assert range_of(gated, second, remote="elsewhere") == ["README", "a.txt"]


def test_the_worst_ref_decides_in_this_process(gated: Gated, remote: Repo, ask: Ask) -> None:
    new = gated.commit("good", **{"good.txt": "1\n"})
    line = f"refs/heads/main {new} refs/heads/main {gated.git('rev-parse', 'HEAD^')}\n"
    assert ask("pre-push", "origin", "url", stdin=line.encode()) == (0, "")
    delete = f"(delete) {ZERO} refs/heads/gone {new}\n"
    assert ask("pre-push", "origin", "url", stdin=(delete + line).encode())[0] == 1
    assert [record["decision"] for record in gated.log("verdict")] == [
        "allow",
        "deny",
        "allow",
    ]


@pytest.mark.slow
def test_a_push_that_the_server_rejects_does_not_spend_the_override(gated: Gated, remote: Repo) -> None:
    gated.commit("second", **{"bad.txt": "1\n"})
    assert gated.say("push", "-q", "origin", "main").code == 1
    (signal,) = gated.log("signal")
    answer = ["ahp", "respond", signal["id"][:8], "proceed_with_risk", "--reason", "agreed"]
    assert attended(answer, gated.root)[0] == 0
    refusing = remote.write("hooks/pre-receive", "#!/bin/sh\nexit 1\n", 0o755)
    assert "pre-receive hook declined" in gated.say("push", "-q", "origin", "main").text
    refusing.unlink()
    assert gated.say("push", "-q", "origin", "main").code == 0
    assert remote.git("rev-parse", "main") == gated.head()
    gated.commit("third", **{"bad2.txt": "1\n"})
    assert gated.say("push", "-q", "origin", "main").code == 1


@pytest.mark.parametrize(
    ("remote", "shown"),
    [
        ("origin", "origin"),
        ("https://ann:pa@ss@example.org/x@y.git", "https://example.org/x@y.git"),
        ("ssh://git@example.org:22/x", "ssh://example.org:22/x"),
        ("helper::https://ann@example.org", "helper::https://example.org"),
        ("git@example.org:x.git", "git@example.org:x.git"),
        ("/srv/a@b/x.git", "/srv/a@b/x.git"),
    ],
)
def test_an_address_is_shown_without_user_and_password(remote: str, shown: str) -> None:
    assert without_credentials(remote) == shown


def test_no_password_of_an_address_is_logged_or_shown(gated: Gated, ask: Ask) -> None:
    gated.policy('version: 1\nrules: {all: {at: pre-push, block: push.remote != "", message: "to {push.remote}"}}\n')
    refs = f"refs/heads/main {gated.head()} refs/heads/main {ZERO}\n".encode()
    address = "https://ann:secret@example.org/x.git"
    code, said = ask("pre-push", address, address, stdin=refs)
    assert code == 1 and "to 'https://example.org/x.git'" in said and "secret" not in said
    assert "secret" not in (gated.folder / "signals.jsonl").read_text()
    gated.git("config", "branch.main.remote", address)
    done = gated.run("ahp", "check", "pre-push")
    assert b"to 'https://example.org/x.git'" in done.stdout + done.stderr
