"""commit-msg: judged with the change it describes, rewritten where a rule says so (design §4)."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from ahp.hosts.git import commit_msg
from tests.attended import attended
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated


def control(action: str, condition: str) -> str:
    return (
        f'version: 1\nrules:\n  m: {{at: commit-msg, control: "{condition}", message: house style, action: {action}}}\n'
    )


def commit(gated: Gated, text: str, **more: dict[str, str]) -> tuple[int, str]:
    gated.write("a.txt", text)
    gated.add()
    return gated.say("commit", "-q", "-m", text, **more)


STRICT = "version: 1\nrules:\n  m: {at: commit-msg, block: commit.subject != 'fine', message: no}\n"
EDITOR = {"GIT_EDITOR": "echo typed >"}


def test_a_refused_message_that_was_typed_is_not_lost(gated: Gated) -> None:
    gated.policy(STRICT)
    gated.write("a.txt")
    gated.add()
    code, said = gated.say("commit", "-q", env=EDITOR)
    kept = "  your message is kept: git commit -eF .git/COMMIT_EDITMSG, with the other options as before\n"
    assert (code, said.endswith(kept)) == (1, True), said
    assert gated.say("commit", "-q", "-eF", ".git/COMMIT_EDITMSG", env={"GIT_EDITOR": "grep -q typed"})[0] == 1
    mended = {"GIT_EDITOR": "sed -i s/typed/fine/"}
    assert gated.say("commit", "-q", "-eF", ".git/COMMIT_EDITMSG", env=mended)[0] == 0
    assert gated.git("log", "-1", "--format=%B").strip() == "fine"


def test_a_message_that_a_rebase_asked_for_amends_what_it_picked(gated: Gated) -> None:
    gated.policy(STRICT)
    assert commit(gated, "fine")[0] == 0
    said = gated.say("rebase", "-i", "HEAD^", env={**EDITOR, "GIT_SEQUENCE_EDITOR": "sed -i s/^pick/reword/"}).text
    assert "  your message is kept: git commit --amend -eF .git/COMMIT_EDITMSG, with" in said
    mended = {"GIT_EDITOR": "sed -i s/typed/fine/"}
    assert gated.say("commit", "-q", "--amend", "-eF", ".git/COMMIT_EDITMSG", env=mended)[0] == 0
    assert gated.say("rebase", "--continue").code == 0


def test_the_kept_message_is_found_from_a_folder_below(gated: Gated) -> None:
    gated.policy(STRICT)
    gated.write("sub/a.txt")
    gated.add()
    code, said = gated.say("-C", "sub", "commit", "-q", env=EDITOR)
    assert (code, f"git commit -eF {gated.root}/.git/COMMIT_EDITMSG," in said) == (1, True), said


ABOUT_BOTH = """
version: 1
rules:
  tested: {at: commit-msg, block: "commit.type == 'fix' and not any(glob(p, 'tests/**') for p in files.changed)"}
  docs: {at: commit-msg, block: "commit.type == 'docs' and any(not glob(p, 'docs/**') for p in files.changed)"}
  merge: {at: commit-msg, block: "commit.is_merge != ('Merge' in commit.subject)"}
"""


def test_the_message_of_an_amend_stands_for_the_whole_commit(gated: Gated) -> None:
    gated.policy(ABOUT_BOTH)
    for path in ("src/a", "tests/a"):
        gated.write(path)
    gated.add()
    assert gated.say("commit", "-q", "-m", "feat: a").code == 0
    assert "refused by docs" in gated.say("commit", "-q", "--amend", "-m", "docs: a").text
    assert "refused by tested" not in gated.say("commit", "-q", "--amend", "-m", "fix: a").text
    env = {"GIT_SEQUENCE_EDITOR": "sed -i s/^pick/reword/", "GIT_EDITOR": "sed -i s/fix:/docs:/"}
    said = gated.say("rebase", "-i", "HEAD~1", env=env)
    assert said.code and "refused by docs" in said.text, said
    gated.git("rebase", "--abort")
    gated.write("src/b")
    gated.add()
    assert gated.say("commit", "-q", "-m", "feat: --amend").code == 0  # is none
    gated.git("checkout", "-qb", "side", "HEAD~1")
    gated.write("src/c")
    gated.add()
    gated.git("commit", "-qm", "feat: c")
    gated.git("merge", "-q", "--no-edit", "main")
    assert gated.say("commit", "-q", "--amend", "-m", "Merge it again").code == 0
    assert "refused by merge" in gated.say("commit", "-q", "--amend", "-m", "feat: d").text


def test_the_override_of_an_amends_message_leaves_its_line_there(gated: Gated) -> None:
    gated.policy(ABOUT_BOTH)
    gated.write("src/a")
    gated.add()
    gated.git("commit", "-qm", "feat: a")
    assert gated.say("commit", "-q", "--amend", "-m", "docs: a").code == 1
    (refused,) = gated.log("signal")
    answer = ["ahp", "respond", refused["id"], "proceed_with_risk", "--reason", "so it is"]
    assert attended(answer, gated.root)[0] == 0
    assert gated.say("commit", "-q", "--amend", "-m", "docs: a").code == 0
    assert gated.git("log", "-1", "--format=%B").count("Ahp-Override: docs ") == 1
    assert gated.say("commit", "-q", "--amend", "-m", "feat: a").code == 0
    assert "Ahp-Override" not in gated.git("log", "-1", "--format=%B")


def test_the_first_commit_of_all_can_be_amended(gated: Gated) -> None:
    gated.policy(ABOUT_BOTH)
    gated.git("checkout", "-q", "--orphan", "fresh")
    gated.write("a.txt")
    gated.add()
    gated.git("commit", "-qm", "feat: a")
    assert "refused by docs" in gated.say("commit", "-q", "--amend", "-m", "docs: a").text


def test_a_message_that_an_amend_mends_falls_back_down_the_ladder(gated: Gated) -> None:
    gated.policy(
        """
        version: 1
        escalation: {ladder: [prompt, block]}
        rules:
          words: {at: commit-msg, prompt: "not commit.subject.startswith('feat: ')", message: "of {files.changed}"}
        """
    )
    for name in ("a", "b"):
        gated.write(f"{name}.txt")
        gated.add()
        assert f"of '{name}.txt'" in gated.say("commit", "-q", "-m", "stuff").text
        assert gated.say("commit", "-q", "--amend", "-m", "feat: stuff") == (0, "")
    assert [one["reason"] for one in gated.log("episode-end")] == ["mended", "mended"]


def test_a_message_of_the_command_line_and_an_agents_need_no_finding(gated: Gated) -> None:
    gated.policy(STRICT)
    for words, env in ((("-m", "typed"), {}), ((), {**EDITOR, "CLAUDECODE": "1"})):
        code, said = gated.say("commit", "-q", "--allow-empty", *words, env=env)
        assert (code, "is kept" in said) == (1, False), said


def test_who_leaves_the_message_empty_is_told_by_git_that_no_commit_is_made(gated: Gated) -> None:
    gated.policy(STRICT)
    gated.write("a.txt")
    gated.add()
    emptied = {"GIT_EDITOR": "sed -i /^[^#]/d"}
    for words, env in ((("-m", ""), {}), ((), emptied), (("-v",), emptied), (("-s",), {"GIT_EDITOR": "true"})):
        code, said = gated.say("commit", *words, env=env)
        assert (code, said) == (1, "Aborting commit due to empty commit message.\n"), words
    assert gated.log("signal") == []
    for words in (
        ("--allow-empty-message", "-m", ""),
        ("--allow-empty-mess", "-m", ""),
        ("--cleanup=verbatim", "-m", " "),
    ):
        code, said = gated.say("commit", *words)
        assert (code, "refused by m" in said) == (1, True), words


def test_what_is_judged_in_one_go_is_not_told_twice(gated: Gated) -> None:
    gated.policy(STRICT + "  n: {at: pre-commit, block: files.changed_count > 99, message: many}\n")
    assert commit(gated, "fine") == (0, "")
    (gated.folder / "signals.jsonl").unlink()  # the next commit leaves its content to commit-msg
    gated.write("a.txt", "again\n")
    gated.add()
    code, said = gated.say("commit", "-q", "-m", "fine")
    assert (code, said.count("the log that this gate was installed with is gone")) == (0, 1), said


APPEND = control("{type: append, target: commit.message, value: 'Reviewed: no'}", "not ('Reviewed' in commit.message)")


def test_append_puts_a_line_before_gits_comments(gated: Gated) -> None:
    gated.policy(APPEND)
    code, said = commit(gated, "subject")
    assert code == 0
    assert gated.git("log", "-1", "--format=%B").rstrip() == "subject\n\nReviewed: no"
    (signal,) = gated.log("signal")
    assert said == (
        f"ahp: commit changed by m ({signal['id'][:8]})\n  house style\n"
        "  commit.message: 'subject ' → 'subject  Reviewed: no '\n"
    )
    assert signal["decision"] == "allow_with_modification"
    assert signal["modifications"] == [
        {
            "target": "commit.message",
            "original": "subject\n",
            "updated": "subject\n\nReviewed: no\n",
            "reason": "house style",
        }
    ]


def test_set_and_replace(gated: Gated) -> None:
    gated.policy(control("{type: set, target: commit.message, value: 'chore: x'}", "commit.subject != 'chore: x'"))
    assert commit(gated, "one")[0] == 0
    assert gated.git("log", "-1", "--format=%s") == "chore: x"
    gated.policy(
        control(
            "{type: replace, target: commit.message, pattern: '^wip:? *', with: 'draft: '}",
            "commit.subject.startswith('wip')",
        )
    )
    assert commit(gated, "wip: two")[0] == 0
    assert gated.git("log", "-1", "--format=%s") == "draft: two"


def test_a_change_that_never_comes_to_rest_is_refused_after_three_rounds(gated: Gated) -> None:
    gated.policy(control("{type: append, target: commit.message, value: more}", "len(commit.message) > 0"))
    head = gated.head()
    code, said = commit(gated, "subject")
    assert code == 1
    assert "still changes something after 3 rounds" in said
    assert gated.head() == head


def test_a_refused_commit_keeps_its_draft(gated: Gated, ask: Ask, tmp_path: Path) -> None:
    gated.policy(APPEND + "  bad: {at: commit-msg, block: commit.subject == 'bad', message: bad}\n")
    draft = tmp_path / "MSG"
    draft.write_text("bad\n# comment\n")
    code, said = ask("commit-msg", str(draft))
    assert code == 1
    assert "refused by bad" in said
    assert "changed" not in said
    assert draft.read_text() == "bad\n# comment\n"
    (signal,) = gated.log("signal")
    assert (signal["rule"], signal["decision"]) == ("bad", "deny")


def test_a_message_in_bytes_that_are_no_utf8_keeps_them(gated: Gated, ask: Ask, tmp_path: Path) -> None:
    gated.policy(APPEND)
    draft = tmp_path / "MSG"
    draft.write_bytes(b"caf\xe9\n\n# comment\n")
    assert ask("commit-msg", str(draft))[0] == 0
    assert draft.read_bytes() == b"caf\xe9\n\nReviewed: no\n\n# comment\n"


@pytest.mark.parametrize("arguments", [(), ("",), ("no/such/file",)])
def test_without_a_message_file_it_is_no_hook_of_git(gated: Gated, ask: Ask, arguments: tuple[str, ...]) -> None:
    gated.policy(APPEND)
    code, said = ask("commit-msg", *arguments)
    assert code == 2
    assert "git named no message file" in said


def test_a_clean_message_is_left_alone(gated: Gated, ask: Ask, tmp_path: Path) -> None:
    gated.policy(APPEND)
    draft = tmp_path / "MSG"
    draft.write_text("subject\n\nReviewed: yes\n")
    inode = draft.stat().st_ino
    assert ask("commit-msg", str(draft)) == (0, "")
    assert draft.stat().st_ino == inode


def test_an_override_leaves_its_trailer_and_counts_for_one_commit(gated: Gated) -> None:
    gated.policy("version: 1\nrules:\n  no-a: {at: pre-commit, block: files.changed_count > 0, message: no}\n")
    assert commit(gated, "one")[0] == 1
    (signal,) = gated.log("signal")
    answer = ["ahp", "respond", signal["id"][:8], "proceed_with_risk", "--reason", "the fix waits for it"]
    code, said = attended(answer, gated.root, answer=b"n\n")
    assert code == 2 and "the answer was no" in said
    assert commit(gated, "one")[0] == 1
    code, said = attended(answer, gated.root)
    assert code == 0 and "ahp: no-a blocks: no\nlet it pass once, for this change? [y/N]" in said, said
    assert commit(gated, "one") == (0, "")
    line = f"Ahp-Override: no-a {signal['digest']} {signal['content']} the fix waits for it"
    assert gated.git("log", "-1", "--format=%B").rstrip() == f"one\n\n{line}"
    assert gated.log("bypass") == []
    assert commit(gated, "two")[0] == 1


def test_an_agent_cannot_take_the_risk(gated: Gated) -> None:
    gated.policy("version: 1\nrules:\n  no-a: {at: pre-commit, block: files.changed_count > 0, message: no}\n")
    assert commit(gated, "one")[0] == 1
    (signal,) = gated.log("signal")
    answer = ["ahp", "respond", signal["id"], "proceed_with_risk", "--reason", "x"]
    code, said = attended(answer, gated.root, {"CLAUDECODE": "1"})
    assert code == 2 and "[y/N]" not in said and "ahp respond" not in said
    alone = gated.run("setsid", "--wait", *answer)  # its markers taken off, it has no terminal
    assert alone.returncode == 2 and b"this needs a person's answer; run in a terminal: " in alone.stderr
    assert commit(gated, "one")[0] == 1


def test_trailers_are_added_once(gated: Gated, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gated.policy(APPEND)
    trailer = "Ahp-Override: a/b because"
    monkeypatch.setattr(commit_msg.overrides, "trailers", lambda event, *views: [trailer, trailer])
    draft = tmp_path / "MSG"
    draft.write_text("subject\n\nReviewed: yes\n# comment\n")
    assert ask("commit-msg", str(draft)) == (0, "")
    assert draft.read_text() == f"subject\n\nReviewed: yes\n{trailer}\n# comment\n"


def test_json_of_the_log_line_of_a_message_has_no_raw_control_characters(gated: Gated) -> None:
    gated.policy(
        "version: 1\nrules:\n  m: {at: commit-msg, prompt: len(commit.subject) > 3, message: '{commit.subject}'}\n"
    )
    code, said = commit(gated, "sub\x1b[31mject\u202e")
    assert code == 0
    assert "\x1b" not in said
    assert "\u202e" not in said
    (signal,) = gated.log("signal")
    assert "\x1b" not in json.loads(json.dumps(signal))["message"]


def test_content_that_pre_commit_left_to_it_is_judged_first(gated: Gated, ask: Ask, tmp_path: Path) -> None:
    gated.policy(APPEND + "  many: {at: pre-commit, block: files.changed_count > 1, message: many}\n")
    (tmp_path / "MSG").write_text("subject\n")
    left = gated.root / ".git" / "ahp-token"
    left.write_text("1 refs/heads/main pre-commit work -\n")
    gated.write("a.txt")
    gated.add()
    assert ask("commit-msg", str(tmp_path / "MSG"))[0] == 0
    assert gated.judged() == [("pre-commit", "allow"), ("commit-msg", "allow_with_modification")]
    assert (tmp_path / "MSG").read_text() == "subject\n\nReviewed: no\n"
    gated.write("b.txt")
    gated.add()
    left.write_text("1 refs/heads/main pre-commit work -\n")
    (tmp_path / "MSG").write_text("subject\n")
    code, said = ask("commit-msg", str(tmp_path / "MSG"))
    assert (code, "refused by many" in said) == (1, True)
    assert (tmp_path / "MSG").read_text() == "subject\n"


FORGED = "Ahp-Override: no-a sha256:" + "a" * 64 + " sha256:" + "b" * 64 + " agreed"


@pytest.mark.parametrize("line", [FORGED, f"    {FORGED}", "ahp-override: no-a because I say so"])
def test_an_override_that_nobody_gave_is_refused(gated: Gated, line: str) -> None:
    gated.policy(APPEND)
    gated.write("a.txt", "one")
    gated.add()
    code, said = gated.say("commit", "-q", "-m", f"subject\n\n{line}")
    assert code == 1
    assert said.startswith("ahp: commit refused: the message claims an override that nobody gave: ")
    gated.write("message", f"subject\n{line}")  # its last line does not end
    assert gated.say("commit", "-q", "-F", "message", "--cleanup=verbatim")[0] == 1
    assert gated.say("commit", "-q", "-m", f"about `{line}`\n\nReviewed: yes")[0] == 0


def test_an_override_serves_one_commit_wherever_another_begins(gated: Gated) -> None:
    gated.policy("version: 1\nrules:\n  no-a: {at: pre-commit, block: \"'a.txt' in files.changed\", message: no}\n")
    base = gated.head()
    assert commit(gated, "one")[0] == 1
    (refused,) = gated.log("signal")
    answer = ["ahp", "respond", refused["id"], "proceed_with_risk", "--reason", "for this one"]
    assert attended(answer, gated.root)[0] == 0
    assert gated.say("commit", "-q", "-m", "one").code == 0
    gated.git("reset", "-q", "--soft", base)
    assert gated.say("commit", "-q", "-m", "one").code == 0  # in the place of the first
    gated.git("checkout", "-q", "-b", "other", base)
    said = commit(gated, "one")
    assert said[0] == 1 and "refused by no-a" in said[1]


def test_an_attempt_that_made_no_commit_does_not_spend_the_override(gated: Gated) -> None:
    gated.policy("version: 1\nrules:\n  no-a: {at: pre-commit, block: files.changed_count > 0, message: no}\n")
    assert commit(gated, "one")[0] == 1
    (signal,) = gated.log("signal")
    assert attended(["ahp", "respond", signal["id"], "proceed_with_risk", "--reason", "x"], gated.root)[0] == 0
    assert gated.say("commit", "-q", env={"GIT_EDITOR": "false"}).code == 1
    assert commit(gated, "one") == (0, "")
    line = gated.git("log", "-1", "--format=%B").splitlines()[-1]
    assert line == f"Ahp-Override: no-a {signal['digest']} {signal['content']} x"
    assert gated.say("commit", "-q", "--amend", "--no-edit").code == 0  # the line is known here
    assert gated.say("commit", "-q", "--allow-empty", "-m", f"squashed\n\n    one\n\n    {line}").code == 0


SUBJECT = """\
version: 1
rules:
  subject: {at: commit-msg, block: "not matches(commit.subject, '^[A-Z]+-[0-9]+ ')"}
"""
MESSAGES = (
    ";JIRA-1 good\nbad subject",
    "JIRA-1 good\n; JIRA",
    "; x\nJIRA-1 good",
    "--cleanup=strip\n;x",
    "  \nJIRA-1 b",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ("--cleanup=strip",),
        ("--cleanup", "strip"),
        ("--cl=strip",),
        ("--cleanup=verbatim", "--cleanup=strip"),
        ("--cleanup=whitespace",),
        ("--cleanup=verbatim",),
        ("--cleanup=scissors",),
        ("--cleanup=default",),
        (),
    ],
)
@pytest.mark.parametrize("editor", ["", pytest.param("true", marks=pytest.mark.slow)])
def test_a_clean_up_named_on_the_command_line_changes_no_verdict(
    gated: Gated, options: tuple[str, ...], editor: str
) -> None:
    gated.policy(SUBJECT)
    gated.git("config", "core.commentChar", ";")
    gated.git("config", "alias.record", " ".join(["commit", *options]))
    env = {"GIT_EDITOR": editor} if editor else {}
    rest = ("-q", "--allow-empty", *(["-e"] if editor else []), "-m")
    for number, message in enumerate(MESSAGES):
        command = ("record",) if number % 2 else ("commit", *options)
        said = gated.say(*command, *rest, message, env=env)
        if said.code == 0:
            assert gated.git("log", "-1", "--format=%s").startswith("JIRA-1 "), (message, said.text)
            continue
        plain = gated.run("git", "-c", "core.hooksPath=/dev/null", "commit", *options, *rest, message, env=env)
        subject = gated.git("log", "-1", "--format=%s")
        assert plain.returncode or not subject.startswith("JIRA-1 "), (message, said.text)


def test_a_setting_of_one_command_is_known_also_where_git_config_is_given_a_file_of_its_own(gated: Gated) -> None:
    gated.policy(SUBJECT)
    settings = ("-c", "commit.cleanup=strip", "-c", "core.commentChar=J")
    options = (*settings, "commit", "-q", "--allow-empty", "-m", "JIRA-1 good\nbad")
    assert gated.say(*options, env={"GIT_CONFIG": "/dev/null"}).code == 1


def test_what_git_wrote_for_an_editor_that_does_nothing_is_no_part_of_the_message(gated: Gated) -> None:
    """Agents set `GIT_EDITOR=:`, which git itself sets where it opens no editor and takes no comment away."""
    gated.policy("version: 1\nrules:\n  told: {at: commit-msg, block: \"'branch' in commit.message\"}\n")
    env = {"GIT_EDITOR": ":"}
    for command in (
        ("commit", "-q", "--allow-empty", "-em", "fine"),
        ("commit", "-q", "--amend", "--allow-empty"),
        ("commit", "-q", "--amend", "--allow-empty", "--edit", "-C", "HEAD"),
    ):
        assert gated.say(*command, env=env) == (0, ""), command
        assert "branch" not in gated.git("log", "-1", "--format=%B")
    said = "fine\n\n# the branch"
    for options in (("-m", said), ("-e", "--no-edit", "-m", said), ("-em", said, "--cleanup=whitespace")):
        assert gated.say("commit", "-q", "--allow-empty", *options, env=env).code == 1, options


@pytest.mark.parametrize(
    ("draft", "nothing"),
    [("", True), ("# a\n\n", True), ("Signed-off-by: a\n", True), ("fix: a\n", False), ("修复：空文件\n", False)],
)
def test_git_is_asked_about_its_clean_up_only_where_nothing_looks_like_text(draft: str, nothing: bool) -> None:
    assert commit_msg._says_nothing(draft.encode()) is nothing


def test_a_message_that_another_commit_is_just_writing_is_waited_for(gated: Gated, ask: Ask, tmp_path: Path) -> None:
    gated.policy("version: 1\nrules:\n  m: {at: commit-msg, block: \"'WIP' in commit.message\", message: not done}\n")
    message = tmp_path / "MSG"
    message.write_text("")
    writing = threading.Timer(0.02, lambda: message.write_text("WIP\n"))
    writing.start()
    code, said = ask("commit-msg", str(message), env={"GIT_EDITOR": ":"})
    writing.join()
    assert (code, "refused by m" in said) == (1, True)
