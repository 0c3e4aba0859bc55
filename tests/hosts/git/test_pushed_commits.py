"""Every commit of a push is judged, from git's objects, by the policy of where it goes (authority §4, §5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ahp.cli.main import run
from tests.attended import attended
from tests.conftest import Repo
from tests.hosts.git.gated import Gated
from tests.system.test_hashed import forge

POLICY = """\
version: 1
rules:
  secret:
    at: pre-commit
    each: l in diff.added
    block: contains([l.text], 'SECRET')
    finding: {file: l.path, line: l.line}
    message: a secret
  subject: {at: commit-msg, block: commit.subject.startswith('bad'), message: "{commit.subject} is no subject"}
  wide: {at: pre-commit, prompt: files.changed_count > 2, message: "{files.changed_count} files"}
"""
SILENT = ("-c", "core.hooksPath=/dev/null")


@pytest.fixture
def work(gated: Gated) -> Gated:
    """On branch `work`; `origin` has `main` with POLICY, both fetched."""
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    gated.commit_policy(POLICY)
    gated.git("push", "-q", "--no-verify", "origin", "main")
    gated.git("remote", "set-head", "origin", "main")
    gated.git("checkout", "-q", "-b", "work")
    return gated


def made(of: Gated, message: str = "ok", *options: str, **files: str) -> str:
    """A commit made past all hooks; its id."""
    for name, text in files.items():
        of.write(name, text)
    of.add()
    of.git(*SILENT, "commit", "-q", "--allow-empty", *options, "-m", message)
    return of.head()


def push(of: Gated, *refs: str) -> tuple[int, str]:
    """The exit code, and what ahp said."""
    said = of.say("push", "-q", "origin", *(refs or ("work",)))
    mine = [line for line in said.text.splitlines() if line.startswith(("ahp", "  "))]
    return said.code, "\n".join(mine)


def test_a_clean_commit_is_silent_whatever_hook_it_skipped(work: Gated) -> None:
    made(work, a="1\n")
    assert push(work) == (0, "")
    assert work.log("bypass") == []
    assert work.log("verdict")[-1]["commits"] == 1


def test_a_secret_that_a_later_commit_removed_does_not_leave(work: Gated) -> None:
    bad = made(work, a="1\n", b="x\nSECRET\n")
    made(work, b="x\n")
    code, said = push(work)
    assert code == 1
    assert said.startswith("ahp: push refused by secret (")
    assert f"  {bad[:10]} b:2\n" in said
    mend = f"  - in the commit itself: git commit --amend, an older one: git rebase -i --rebase-merges {bad[:10]}^\n"
    assert mend in said + "\n"
    (signal,) = work.log("signal")
    assert (signal["hook"], signal["rule"], signal["commits"]) == ("pre-push", "secret", [bad])
    assert (signal["counted"], signal["findings"][0]["line"]) == (False, 2)


def merged(of: Gated, **files: str) -> str:
    """A merge of a branch that is no ancestor, with `files` that neither side has; its id."""
    made(of, ours="1\n")
    of.git("checkout", "-q", "-b", "side", "HEAD~1")
    made(of, theirs="1\n")
    of.git("checkout", "-q", "work")
    of.git(*SILENT, "merge", "-q", "--no-ff", "--no-commit", "side")
    return made(of, "a merge", **files)


def rebased(of: Gated, todo: str, *arguments: str) -> None:
    """Runs the rebase that a refusal advises up to where it stops; `todo` is the sed script of who edits its list."""
    of.git("-c", f"sequence.editor=sed -i '{todo}'", *SILENT, "rebase", *arguments)


def test_the_rebase_that_is_advised_keeps_the_merges_above(work: Gated) -> None:
    bad = made(work, b="SECRET\n")
    merged(work)
    code, said = push(work)
    mend = f"-i --rebase-merges {bad[:10]}^"
    again = "what a merge above it changed by hand has to be made again: --rebase-merges merges anew"
    assert code == 1 and f"an older one: git rebase {mend}\n" in said and f"  - {again}\n" in said
    rebased(work, f"s/^pick {bad[:7]}/edit {bad[:7]}/", *mend.split())
    work.write("b", "1\n")
    work.git(*SILENT, "commit", "-q", "-a", "--amend", "--no-edit")
    work.git(*SILENT, "rebase", "--continue")
    assert len(work.git("rev-list", "--parents", "-1", "HEAD").split()) == 3
    assert push(work) == (0, "")


def test_a_merge_is_mended_behind_its_line(work: Gated) -> None:
    bad = merged(work, evil="SECRET\n", good="kept\n")
    made(work, c="1\n")
    code, said = push(work)
    mend = f"-i --rebase-merges {bad[:10]}^"
    advice = f"git commit --amend, an older one: git rebase {mend}, with a line `break` after the merge's line"
    assert code == 1 and f"  - in the merge itself: {advice}\n" in f"{said}\n"
    assert "made again" not in said
    rebased(work, "/^merge/a break", *mend.split())
    work.write("evil", "1\n")
    work.git(*SILENT, "commit", "-q", "-a", "--amend", "--no-edit")
    work.git(*SILENT, "rebase", "--continue")
    assert work.git("show", "HEAD~1:good") == "kept" and len(work.git("rev-parse", "HEAD~1^@").split()) == 2
    assert push(work) == (0, "")


def test_a_rule_of_the_range_guards_where_it_goes_and_can_tell_what_is_pushed(work: Gated) -> None:
    """docs/git.md: `branch.name` at a push."""
    said = "{branch.name} to {branch.target}"
    work.commit_policy(f"""\
version: 1
rules:
  each: {{at: pre-commit, prompt: files.changed_count > 0, message: "each: {said}"}}
  range: {{at: pre-push, prompt: push.commit_count > 0, message: "range: {said}, {{push.local_ref}} to {{push.ref}}"}}
""")
    work.git("push", "-q", "--no-verify", "origin", "HEAD:main")
    made(work, a="1\n")
    code, told = push(work, "work:other")
    assert code == 0
    assert "  each: 'work' to 'other'\n" in told
    assert "  range: 'other' to 'other', 'refs/heads/work' to 'refs/heads/other'\n" in told


def test_what_only_watches_is_logged_in_silence(work: Gated) -> None:
    work.git("checkout", "-q", "main")
    work.commit_policy("mode: observe\n" + POLICY)
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    made(work, "bad", a="SECRET\n")
    assert push(work) == (0, "")
    assert {(signal["rule"], signal["shadow"]) for signal in work.log("signal")} == {
        ("secret", True),
        ("subject", True),
    }


def test_no_verify_does_not_take_the_message_rules_along(work: Gated) -> None:
    work.write("a", "1\n")
    work.add()
    assert work.say("commit", "-q", "-m", "bad").code == 1
    assert work.say("commit", "-q", "-n", "-m", "bad").text.startswith("ahp: this commit breaks subject, and no hook")
    code, said = push(work)
    assert code == 1
    assert "push refused by subject" in said and "'bad' is no subject" in said
    assert [record["rules"] for record in work.log("bypass")] == [["subject"]]
    work.git("commit", "-q", "--amend", "-m", "ok")
    assert push(work) == (0, "")


def test_one_signal_a_rule_with_the_commits_as_findings(work: Gated) -> None:
    first, second = made(work, "bad"), made(work, "bad again", a="1\n")
    code, said = push(work)
    assert (code, said.count("push refused by")) == (1, 1)
    assert "(and 1 more commit)" in said
    assert f"{first[:10]}: bad" in said and f"{second[:10]}: bad again" in said


def test_one_signal_a_rule_for_all_refs_of_a_push(work: Gated) -> None:
    shared = made(work, "bad", a="1\n")
    work.git("branch", "below")
    work.git("checkout", "-q", "-b", "beside", "main")
    alone = made(work, "bad too", b="1\n", c="1\n", d="1\n")
    work.git("checkout", "-q", "work")
    made(work, e="1\n")
    code, said = push(work, "below", "work", "beside")
    assert (code, said.count("push refused by"), said.count("warned by wide")) == (1, 1, 1)
    assert (said.count(f"{shared[:10]}: bad\n"), said.count(f"{alone[:10]}: bad too")) == (1, 2)
    assert [signal["rule"] for signal in work.log("signal")] == ["subject", "wide"]
    assert [record["decision"] for record in work.log("verdict")] == ["deny", "deny", "deny"]
    assert work.log("verdict")[1]["dropped"] == [{"rule": "subject", "why": "told of another ref of the same push"}]
    work.git("checkout", "-q", "below")
    let_pass(work, rule="subject")
    assert "refused" not in push(work, "below", "work", "beside")[1]
    assert work.log("verdict")[-1]["decision"] != "deny"


def test_a_rule_that_is_asked_of_the_range_too_speaks_for_each_ref(work: Gated) -> None:
    work.git("checkout", "-q", "main")
    work.commit_policy(POLICY.replace("at: pre-commit\n    each", "at: [pre-commit, pre-push]\n    each"))
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    made(work, a="SECRET\n")
    code, said = push(work, "work", "work:again")
    assert (code, said.count("push refused by secret")) == (1, 2)


def test_a_warning_is_told_once(work: Gated) -> None:
    work.write("a"), work.write("b"), work.write("c")
    work.add()
    assert "warned by wide" in work.say("commit", "-q", "-m", "ok").text
    assert push(work) == (0, "")
    made(work, d="1\n", e="1\n", f="1\n")
    code, said = push(work)
    assert (code, "push warned by wide" in said) == (0, True)
    assert push(work, "work:again") == (0, "")


@pytest.mark.slow
def test_a_warning_is_told_once_though_its_commit_was_amended_since(work: Gated) -> None:
    todo = "  todo: {at: pre-commit, each: l in diff.added, prompt: \"'TODO' in l.text\", message: todo}\n"
    work.git("checkout", "-q", "main")
    work.commit_policy(POLICY.replace("> 2", "> 9") + todo)
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    for name, amend in (("a", ()), ("b", ("--amend",))):
        work.write(name, f"TODO {name}\n")
        work.add()
        assert "warned by todo" in work.say("commit", "-q", "-m", "ok", *amend).text
    work.write("c", "1\n")
    work.add()
    assert work.say("commit", "-q", "--amend", "-m", "ok") == (0, "")
    assert push(work) == (0, "")
    made(work, "ok", "--amend", d="TODO d\n")
    assert "warned by todo" in push(work, "+work")[1]
    made(work, "ok", "--amend", e="1\n")
    assert push(work, "+work") == (0, "")


def test_a_push_is_no_rung_of_a_ladder(work: Gated) -> None:
    work.git("checkout", "-q", "main")
    work.commit_policy(POLICY + "escalation: {ladder: [prompt, block], after: 1}\n")
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    for number in range(3):
        made(work, **{f"{name}{number}": "1\n" for name in "abc"})
        code, said = push(work)
        assert (code, "warned by wide" in said, "time" in said) == (0, True, False)


def test_honest_amends_rebases_and_squashes_are_silent(work: Gated) -> None:
    for name in "abcd":
        work.write(name, "1\n")
        work.add()
        assert work.say("commit", "-q", "-m", f"ok {name}") == (0, "")
    work.write("e", "1\n")
    work.add()
    assert work.say("commit", "-q", "--amend", "--no-edit") == (0, "")
    work.git("checkout", "-q", "main")
    made(work, "ok main", z="1\n")
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "work")
    assert work.say("rebase", "-q", "main") == (0, "")
    assert push(work) == (0, "")
    assert work.log("bypass") == []


def test_nothing_is_said_during_a_rebase(work: Gated) -> None:
    made(work, "bad", a="1\n")
    work.git("checkout", "-q", "main")
    made(work, "ok", z="1\n")
    work.git("checkout", "-q", "work")
    assert work.say("rebase", "-q", "main") == (0, "")
    assert push(work)[0] == 1


def test_the_policy_of_where_it_goes_judges(work: Gated) -> None:
    """Neither a weak policy in the work tree nor one that is committed on the branch has a say."""
    work.commit_policy("version: 1\nrules: {none: {at: pre-push, block: push.ref == 'x'}}\n")
    work.git("commit", "-q", "--amend", "--no-verify", "-m", "ok policy")
    made(work, a="SECRET\n")
    assert push(work)[0] == 1
    assert push(work, "work:main")[0] == 1
    assert push(work, "work:refs/tags/v1")[0] == 1


def test_what_a_commit_adds_is_asked_of_it_and_of_what_follows(work: Gated) -> None:
    made(work, a="1\n")
    more = "  new: {at: [pre-commit, pre-push], each: p in files.changed, block: p == 'a', message: new}\n"
    work.commit_policy(POLICY + more)
    code, said = push(work)
    assert (code, "push refused by new of the pushed policy" in said) == (1, True)  # the net range has it
    work.git("rm", "-q", "a")
    bad = made(work)
    assert f"{bad[:10]}" in push(work)[1]  # the net range is clean; this commit is asked what the one before it added


def test_branches_with_a_policy_of_their_own(work: Gated) -> None:
    work.git("checkout", "-q", "main")
    work.commit_policy(POLICY + "authority: [release/*]\n")
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-b", "release/1")
    work.commit_policy("version: 1\nrules: {many: {at: pre-commit, block: files.changed_count > 1, message: many}}\n")
    work.git("push", "-q", "--no-verify", "origin", "release/1")
    made(work, "bad", a="SECRET\n")
    assert push(work, "release/1:refs/heads/other")[0] == 1
    assert push(work, "release/1") == (0, "")
    made(work, "ok", a="1\n", b="1\n")
    assert "refused by many" in push(work, "release/1")[1]


def let_pass(work: Gated, rule: str = "") -> str:
    """A person at a terminal lets the last signal's rule pass, or the last of `rule`; what they are told."""
    id = [signal["id"] for signal in work.log("signal") if rule in ("", signal["rule"])][-1]
    answer = ["ahp", "respond", id, "proceed_with_risk", "--reason", "a test key"]
    code, told = attended(answer, work.root)
    assert code == 0
    return told


def test_an_override_holds_at_the_push(work: Gated) -> None:
    work.write("a", "SECRET\n")
    work.add()
    assert work.say("commit", "-q", "-m", "ok").code == 1
    let_pass(work)
    assert work.say("commit", "-q", "-m", "ok").code == 0
    assert "Ahp-Override: secret" in work.git("log", "-1", "--format=%B")
    assert push(work) == (0, "")
    made(work, "ok", "--amend", b="SECRET\n")
    assert push(work)[0] == 1


def test_an_override_holds_where_more_was_staged_after_an_attempt_that_another_rule_stopped(work: Gated) -> None:
    work.write("a", "SECRET\n")
    work.add()
    assert work.say("commit", "-q", "-m", "ok").code == 1
    let_pass(work)
    assert "refused by subject" in work.say("commit", "-q", "-m", "bad").text
    work.write("b", "1\n")
    work.add()
    assert work.say("commit", "-q", "-m", "ok").code == 0
    assert "Ahp-Override: secret" in work.git("log", "-1", "--format=%B")
    assert push(work) == (0, "")


def test_a_person_lets_a_rule_pass_for_a_tip(work: Gated) -> None:
    made(work, a="SECRET\n")
    assert push(work)[0] == 1
    assert "; the rule passes once for what was to be pushed" in let_pass(work)
    assert push(work) == (0, "")
    made(work, b="SECRET\n")
    assert push(work)[0] == 1


def test_a_merge_is_judged_on_what_it_brings_itself(work: Gated) -> None:
    work.git("checkout", "-q", "main")
    made(work, "bad of a colleague", z="SECRET\n")
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "work")
    made(work, a="1\n")
    work.git(*SILENT, "merge", "-q", "-m", "ok merge", "main")
    assert push(work) == (0, "")
    work.git(*SILENT, "merge", "-q", "--no-commit", "--no-ff", "-m", "x", "main")
    work.git("checkout", "-q", "-b", "side", "HEAD~1")
    made(work, s="1\n")
    work.git("checkout", "-q", "work")
    work.git("merge", "-q", "--no-ff", "--no-commit", "side")
    work.write("s", "SECRET\n")
    work.add()
    work.git(*SILENT, "commit", "-q", "-m", "ok evil")
    code, said = push(work)
    assert (code, f"{work.head()[:10]} s:1" in said) == (1, True)


def test_what_others_made_is_not_judged_again(work: Gated, tmp_path: Path) -> None:
    """A fork is brought up to date, a second remote filled, somebody's branch rebased."""
    work.git("clone", "-q", str(tmp_path / "remote.git"), str(tmp_path / "theirs"))
    theirs = Repo(tmp_path / "theirs")
    theirs.git("checkout", "-q", "-b", "theirs")
    for number in range(20):
        theirs.commit(f"bad {number}", **{f"t{number}": "SECRET\n"})
    theirs.git("push", "-q", "origin", "theirs", "theirs:main")
    work.git("fetch", "-q")
    work.git("init", "-q", "--bare", "../second.git")
    work.git("remote", "add", "second", "../second.git")
    assert work.say("push", "-q", "second", "origin/theirs:refs/heads/theirs", "origin/main:refs/heads/main") == (0, "")
    work.git("checkout", "-q", "main")
    made(work, "ok mine", m="1\n")
    work.git("push", "-q", "--no-verify", "origin", "main:moved")
    work.git("checkout", "-q", "-b", "theirs", "origin/theirs")
    assert work.say("rebase", "-q", "main") == (0, "")
    code, said = push(work, "+theirs")
    assert (code, said.count("refused by")) == (1, 2)  # they are made anew here, and judged: subject and secret
    assert work.log("bypass") == []


def test_what_was_there_before_the_gate_is_not_judged(gated: Gated) -> None:
    gated.policy(POLICY)
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    assert gated.say("push", "-q", "origin", "main") == (0, "")  # its first commit has the subject `first`


def test_reports_and_the_like_are_not_decidable_of_commits(work: Gated) -> None:
    more = (
        "  tested: {at: pre-commit, block: tests.failed_count > 0}\n"
        "  green: {at: pre-push, block: tests.failed_count > 0}\n"
        "  optional: {at: pre-push, prompt: tests.failed_count > 0, on_missing: skip}\n"
    )
    work.git("checkout", "-q", "main")
    work.commit_policy(POLICY + more)
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    made(work, a="1\n")
    work.git("checkout", "-q", "--detach", "main")
    assert push(work) == (
        0,
        "ahp: green is not decidable here: commits are judged, and the reports are of the work tree",
    )
    assert [one["rule"] for one in work.log("verdict")[-1]["skipped"]] == ["green", "optional", "tested"]
    work.git("checkout", "-q", "work")
    code, said = push(work, "work:again")
    assert (code, "green" in said, "no JUnit XML report" in said) == (0, True, True)


def test_control_says_what_to_amend(work: Gated) -> None:
    more = (
        "  signed:\n    at: commit-msg\n    control: commit.subject != ''\n"
        "    action: {type: replace, target: commit.message, pattern: wip, with: done}\n    message: no wip\n"
    )
    work.git("checkout", "-q", "main")
    work.commit_policy(POLICY + more)
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    made(work, "ok clean", a="1\n")
    assert push(work) == (0, "")
    made(work, "ok wip", b="1\n")
    code, said = push(work)
    assert (code, "push warned by signed" in said) == (0, True)
    assert "amend it: commit.message: 'ok wip" in said


def test_deletes_tags_and_notes(work: Gated) -> None:
    made(work, "bad", a="1\n")
    work.git("tag", "-a", "-m", "words", "v1")
    code, said = push(work, "v1")
    assert (
        code == 1
        and "in the commit itself: git commit --amend" in said
        and "; then move the tag: git tag -f v1" in said
    )
    work.git(*SILENT, "commit", "-q", "--amend", "-m", "ok")
    work.git("tag", "-f", "-a", "-m", "words", "v1")
    assert push(work, "v1") == (0, "")
    work.git("notes", "add", "-m", "a note")
    assert push(work, "refs/notes/commits") == (0, "")
    assert push(work, "work") == (0, "")
    assert push(work, ":work") == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("before", [True, False])
def test_what_is_said_to_mend_notes_mends_them(work: Gated, before: bool) -> None:
    if before:
        work.git("notes", "add", "-m", "a note", "HEAD~1")
        assert push(work, "refs/notes/commits") == (0, "")
    work.git("notes", "add", "-m", "SECRET")
    code, said = push(work, "refs/notes/commits")
    assert code == 1 and "--amend" not in said
    edit, without = [line.partition(": ")[2] for line in said.splitlines() if line.startswith("  - ")]
    assert edit == f"git notes --ref commits edit {work.head()[:10]}"
    editor = {"GIT_EDITOR": "sed -i s/SECRET/word/"}
    assert work.run("sh", "-c", edit, env=editor).returncode == 0
    assert "refused by secret" in push(work, "refs/notes/commits")[1]
    assert work.run("sh", "-c", without).returncode == 0
    assert push(work, "refs/notes/commits") == (0, "")
    assert work.git("notes", "show", "HEAD") == "word"
    assert not before or work.git("notes", "show", "HEAD~1") == "a note"


def test_a_branch_that_moved_on_the_remote_does_not_hold_the_others_back(work: Gated, tmp_path: Path) -> None:
    """git refuses to move `main` itself ("fetch first"), and asks the hook all the same."""
    work.git("clone", "-q", str(tmp_path / "remote.git"), str(tmp_path / "theirs"))
    theirs = Repo(tmp_path / "theirs")
    theirs.commit("ok", t="1\n")
    theirs.git("push", "-q")
    work.git("checkout", "-q", "main")
    more = "  many: {at: pre-push, block: files.changed_count > 9, message: many}\n"
    work.commit_policy(POLICY + more)
    work.git("branch", "-f", "work")
    said = work.say("push", "-q", "origin", "main", "work")
    assert (said.code, "ahp:" in said.text, "fetch first" in said.text) == (1, False, True)
    assert theirs.git("ls-remote", "origin", "refs/heads/work") != ""
    made(work, b="SECRET\n")
    code, text = push(work, "main")
    assert (code, "refused by secret" in text, "never fetched" in text) == (1, True, True)
    assert ": git fetch origin\nahp: push refused by secret" in text


def test_a_tag_of_a_tree_or_a_blob_is_asked_the_rules_of_content(work: Gated) -> None:
    blob = work.git("hash-object", "-w", "--stdin", stdin=b"x\nSECRET\n")
    tree = work.git("mktree", stdin=f"100644 blob {blob}\tdeep\n".encode())
    for name, place in ((blob, "refs/tags/leak:2"), (tree, "deep:2")):
        work.git("tag", "-f", "leak", name)
        code, said = push(work, "leak")
        assert (code, "refused by secret" in said, f"  {place}" in said, "subject" in said) == (1, True, True, False)
        assert "in an object made anew; then move the tag: git tag -f leak OBJECT" in said
        work.git("tag", "-f", "-a", "-m", "of a tag", "leak", "leak")
        assert push(work, "leak")[0] == 1
    work.git("tag", "-f", "fine", work.git("hash-object", "-w", "--stdin", stdin=b"fine\n"))
    assert push(work, "fine") == (0, "")


def test_the_old_tip_cannot_be_read(work: Gated, tmp_path: Path) -> None:
    work.git("clone", "-q", str(tmp_path / "remote.git"), str(tmp_path / "theirs"))
    theirs = Repo(tmp_path / "theirs")
    theirs.commit("ok", t="1\n")
    theirs.git("push", "-q")
    work.git("checkout", "-q", "main")
    made(work, a="SECRET\n")
    said = work.say("push", "-q", "--force", "origin", "main")
    assert (said.code, "refused by secret" in said.text) == (1, True)


def test_without_a_policy_at_the_remote_that_of_the_tip_judges_and_it_is_said(gated: Gated) -> None:
    gated.git("init", "-q", "--bare", "../remote.git")
    gated.git("remote", "add", "origin", "../remote.git")
    gated.git("push", "-q", "--no-verify", "origin", "main")
    gated.git("checkout", "-q", "-b", "work")
    gated.commit_policy(POLICY)
    gated.git("commit", "-q", "--amend", "--no-verify", "-m", "ok policy")
    code, said = push(gated)
    assert (code, said) == (
        0,
        "ahp: the remote has no policy yet: the one in this push is used",
    )
    made(gated, a="SECRET\n")
    code, said = push(gated)
    assert (code, said.splitlines()[0]) == (
        1,
        "ahp: origin/main has no policy yet: the policy of the commit that this is built on judges",
    )


def test_in_a_clone_of_one_branch_the_policy_that_the_push_is_built_on_judges(work: Gated, tmp_path: Path) -> None:
    """Its default branch was never fetched; a weak policy of the tip's own would else let everything pass."""
    made(work, a="1\n")
    assert push(work) == (0, "")
    work.git("update-ref", "-d", "refs/remotes/origin/main")
    work.git("symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    work.git("branch", "-q", "-D", "main")
    (work.folder / "default-branch").unlink()
    work.commit_policy("version: 1\nrules: {none: {at: pre-push, block: push.ref == 'x'}}\n")
    made(work, a="SECRET\n")
    for refs in ("work", "work:refs/heads/other"):
        code, said = push(work, refs)
        assert (code, "refused by secret" in said) == (1, True), said
    assert "that this is built on judges; to get it: git remote set-branches origin '*' && " in said
    work.git("remote", "set-branches", "origin", "*")
    work.git("fetch", "-q", "origin")
    work.git("remote", "set-head", "origin", "--auto")
    assert "is built on" not in push(work)[1]


def test_what_no_fetch_wrote_into_the_default_branchs_ref_takes_no_rule_away(work: Gated) -> None:
    """The policy that is written there would judge alone: the local branch's is asked beside it."""
    work.commit_policy("version: 1\nrules: {none: {at: pre-push, block: push.ref == 'x'}}\n")
    work.git("update-ref", "refs/remotes/origin/main", "HEAD")
    made(work, a="SECRET\n")
    code, said = push(work, "work:refs/heads/other")
    assert (code, "refused by secret" in said) == (1, True), said


def test_a_waiver_of_the_target_holds(work: Gated) -> None:
    from datetime import date, timedelta

    until = (date.today() + timedelta(days=20)).isoformat()
    work.git("checkout", "-q", "main")
    text = f"- {{rule: secret, subject: work, reason: a test, approver: ann, expires: {until}}}\n"
    work.write(".ahp/waivers.yaml", text)
    work.git("add", "-f", ".ahp/waivers.yaml")
    work.git(*SILENT, "commit", "-q", "-m", "ok waiver")
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    made(work, a="SECRET\n")
    code, said = push(work)
    assert (code, "waived: " in said) == (0, True)


def test_a_forged_tracking_ref_takes_no_rule_away(work: Gated) -> None:
    made(work, a="SECRET\n")
    work.git("checkout", "-q", "--orphan", "weak")
    work.commit_policy("version: 1\nrules: {none: {at: pre-push, block: push.ref == 'x'}}\n")
    work.git("update-ref", "refs/remotes/origin/main", "weak")
    work.git("checkout", "-q", "-f", "work")
    assert push(work)[0] == 1


def test_the_core_pack_holds_at_the_push(work: Gated) -> None:
    """Its secret, marker and size rules are asked of each commit, and messages and tags are read, too."""
    work.git("checkout", "-q", "main")
    work.commit_policy("version: 1\nextends: [core]\nlimits: {max_file_bytes: 1000}\n")
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "-B", "work")
    token = "AKIA" + "ABCDEFGHIJ234567"
    made(work, a=f"{token}\n", b="<<<<<<< ours\n", c="x" * 1001)
    made(work, f"words\n\n{token}", a="1\n", b="1\n", c="1\n")
    code, said = push(work)
    refused = [line.split(" ")[4] for line in said.splitlines() if line.startswith("ahp: push refused by")]
    assert (code, sorted(refused)) == (
        1,
        ["large-files", "no-merge-markers", "no-secrets", "no-secrets-in-messages"],
    )
    assert token not in said and token not in (work.folder / "signals.jsonl").read_text()
    work.git("checkout", "-q", "main")
    work.git("tag", "-a", "-m", f"v1 {token}", "v1")
    assert "refused by no-secrets-in-messages" in push(work, "v1")[1]


@pytest.mark.slow
def test_thousands_of_commits_are_asked_in_a_few_questions_to_git(work: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short here: the number of programs that are started does not follow that of the commits."""
    from ahp.system import process

    def started(of: int) -> int:
        count = []
        real = process.capture
        with monkeypatch.context() as patched:
            patched.setattr(process, "capture", lambda argv, **more: (count.append(argv), real(argv, **more))[1])
            assert ask_push(work) == (0, "")
        return len(count)

    for number in range(5):
        made(work, f"ok {number}", **{f"f{number}": "1\n"})
    few = started(5)
    for number in range(60):
        made(work, f"ok more {number}", **{f"g{number}": "1\n"})
    assert started(65) <= few + 2


def test_commits_under_a_policy_that_the_target_has_changed_since_are_asked_together_too(
    work: Gated, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ahp.system import process

    for number in range(20):
        made(work, f"ok {number}", **{f"f{number}": "1\n"})
    work.git("checkout", "-q", "main")
    work.commit_policy("version: 1\nrules: {wide: {at: pre-commit, prompt: files.changed_count > 2}}\n")
    work.git("push", "-q", "--no-verify", "origin", "main")
    work.git("checkout", "-q", "work")
    asked: list[list[str]] = []
    real = process.capture
    monkeypatch.setattr(process, "capture", lambda argv, **more: (asked.append(argv), real(argv, **more))[1])
    assert ask_push(work) == (0, "")
    assert sum("diff-tree" in argv for argv in asked) <= 3


def ask_push(work: Gated) -> tuple[int, str]:
    """The push of `work` as the hook judges it, in this process."""
    from ahp.hosts.git import pre_push
    from ahp.hosts.git.githooks import Hook
    from ahp.protocol.event import Actor, PushRef, Workspace

    repo = work.repository()
    where = Workspace(repo.root, repo.ahp_dir, repo.env, repo, None, "")
    hook = Hook("pre-push", "1", ["origin", "url"], Actor("human", "ann"), repo, where)
    ref = PushRef("refs/heads/work", work.head(), "refs/heads/work", "0" * 40)
    verdicts = list(pre_push.judge_refs(hook, [ref], "origin"))
    return max(int(verdict.denied) for verdict in verdicts), "".join(
        str(signal.as_dict()) for verdict in verdicts for signal in verdict.signals
    )


def test_what_several_refs_bring_is_told_of_each_in_its_order(work: Gated) -> None:
    first = made(work, "ok", a="1\n")
    bad = made(work, "bad 1", b="1\n")
    made(work, "ok", c="1\n")
    work.git("checkout", "-q", "-b", "side", first)
    worse = made(work, "bad 2", d="SECRET\n")
    work.git("merge", "-q", "--no-verify", "-m", "ok", "work")
    code, said = push(work, "work", "side", f"{bad}:refs/heads/third")
    assert code == 1
    signals = {signal["rule"]: signal for signal in work.log("signal")}
    assert set(signals["subject"]["commits"]) == {bad, worse} and signals["secret"]["commits"] == [worse]
    assert said.count("push refused by") == 2
    assert [record["commits"] for record in work.log("verdict")] == [3, 5, 2]


def test_a_release_branch_that_begins_at_an_old_commit_is_asked_what_guards_main(work: Gated) -> None:
    old = work.git("rev-parse", "main")
    work.git("checkout", "-q", "main")
    key = "  key: {at: pre-commit, severity: high, each: l in diff.added, block: \"'KEY' in l.text\", message: a key}\n"
    new = work.commit_policy(f"{POLICY}{key}authority: [release/*]\n")
    work.git("push", "-q", "--no-verify", "origin", "main", f"{old}:refs/heads/release/9")
    work.git("fetch", "-q")
    work.git("checkout", "-q", "-B", "work", old)
    made(work, k="KEY\n")
    code, said = push(work, "work:release/9")
    assert code == 1 and "refused by key" in said, said
    work.git("reset", "-q", "--hard", old)
    made(work, k="none\n")
    assert push(work, "work:release/9") == (0, "")
    assert new != old


STRANGE = "is not what its id says; `git fsck` tells more"


def test_with_a_forged_object_neither_commit_nor_push_nor_ci_lets_pass(
    work: Gated, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """git reads what lies under an id; the true content could be put back before it is sent."""
    work.write("a.txt", "SECRET\n")
    work.add()
    oid = work.git("rev-parse", ":a.txt").strip()
    true = forge(work, oid, "blob", b"plain\n")
    said = work.say("commit", "-q", "-m", "ok")
    assert said.code != 0 and STRANGE in said.text
    work.git(*SILENT, "commit", "-q", "-m", "ok")
    code, text = push(work)
    assert code != 0 and STRANGE in text
    monkeypatch.chdir(work.root)
    assert run(["ci", "--to", "work", "--target", "main"]) == 2
    assert STRANGE in "".join(capsys.readouterr())
    path = work.root / ".git" / "objects" / oid[:2] / oid[2:]
    path.write_bytes(true)
    code, text = push(work)
    assert code == 1 and "a secret" in text


def content(of: Gated, tree: str) -> bytes:
    return of.run("git", "cat-file", "tree", tree).stdout


@pytest.fixture
def deep(work: Gated) -> Gated:
    """`work` with a file in a folder, on the remote, and a secret staged beside it."""
    made(work, **{"d/e/a.txt": "plain\n", "b.txt": "1\n"})
    work.git("push", "-q", "--no-verify", "origin", "work:main")
    work.git("fetch", "-q")
    work.write("d/e/a.txt", "SECRET\n")
    work.add()
    work.git(*SILENT, "commit", "-q", "-m", "ok")
    return work


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["", "d", "d/e"])
@pytest.mark.parametrize("is_old", [False, True], ids=["its own", "its parent's"])
def test_with_a_forged_tree_neither_commit_nor_push_lets_pass(deep: Gated, folder: str, is_old: bool) -> None:
    """A tree that shows no change, before or after: the true one could be put back before it is sent."""
    trees = [deep.git("rev-parse", f"{commit}:{folder}").strip() for commit in ("HEAD", "HEAD^")]
    oid, other = trees[::-1] if is_old else trees
    assert oid != other
    true = forge(deep, oid, "tree", content(deep, other))
    told = f"the object {oid[:12]} {STRANGE}" if folder else "not a tree object"  # git hashes that of a commit itself
    code, text = push(deep)
    assert code != 0 and told in text, text
    deep.git(*SILENT, "update-ref", "HEAD", "HEAD^")
    said = deep.say("commit", "-q", "-m", "ok")
    assert said.code != 0 and (STRANGE in said.text or told in said.text), said.text
    (deep.root / ".git" / "objects" / oid[:2] / oid[2:]).write_bytes(true)
    said = deep.say("commit", "-q", "-m", "ok")
    assert said.code == 1 and "a secret" in said.text
    deep.git(*SILENT, "commit", "-q", "-m", "ok")
    code, text = push(deep)
    assert code == 1 and "a secret" in text


def test_with_a_forged_folder_of_the_policy_no_push_passes(deep: Gated) -> None:
    """It names another policy, which is no forged one, that knows no secret."""
    weak = deep.git("hash-object", "-w", "--stdin", stdin=b"version: 1\nrules: {}\n").strip()
    oid = deep.git("rev-parse", "HEAD:.ahp").strip()
    entry = b"100644 hooks.yaml\0" + bytes.fromhex(weak)
    forge(deep, oid, "tree", entry)
    (deep.root / ".ahp" / "hooks.yaml").write_text("version: 1\nrules: {}\n")
    code, text = push(deep)
    assert code != 0 and STRANGE in text and oid[:12] in text, text


def test_trees_that_are_what_their_ids_say_let_honest_work_pass(deep: Gated) -> None:
    """Renamed folders, a file in the place of a folder, an empty tree, and a merge, loose and packed."""
    deep.git(*SILENT, "reset", "-q", "--hard", "HEAD^")
    for number, act in enumerate(("mv d f", "rm -r -q f", "mv b.txt f")):
        deep.git(*act.split())
        said = deep.say("commit", "-q", "-m", f"step {number}")
        assert (said.code, said.text) == (0, ""), said
        if number == 1:
            deep.git("gc", "-q")
    deep.git("checkout", "-q", "-b", "side", "HEAD^")
    deep.write("side.txt", "side\n")
    deep.add()
    assert deep.say("commit", "-q", "-m", "side") == (0, "")
    deep.git("checkout", "-q", "work")
    assert deep.say("merge", "-q", "--no-edit", "side").code == 0
    assert push(deep) == (0, "")


def test_with_a_forged_tip_a_push_does_not_pass(work: Gated) -> None:
    """git takes such a commit for none, so that no range begins; the true one could be put back before it is sent."""
    work.write("a.txt", "SECRET\n")
    work.add()
    work.git(*SILENT, "commit", "-q", "-m", "ok")
    tip = work.head()
    new, old = (work.git("rev-parse", f"{commit}^{{tree}}") for commit in (tip, f"{tip}~1"))
    true = forge(work, tip, "commit", work.git("cat-file", "commit", tip).replace(new, old).encode())
    pushed = f"refs/heads/work {tip} refs/heads/work {'0' * 40}\n".encode()
    done = work.run(".git/hooks/pre-push", "origin", "../remote.git", stdin=pushed)
    assert done.returncode and f"what is pushed, {tip[:12]}, is not in this clone".encode() in done.stderr
    (work.root / ".git" / "objects" / tip[:2] / tip[2:]).write_bytes(true)
    work.git("reset", "-q", "--hard", "HEAD~1")
    work.write("a.txt", "ok\n")
    work.add()
    assert work.say("commit", "-q", "-m", "ok").code == 0
    assert push(work) == (0, "")
