"""Real git commands through the installed shims (issue: git; design §9)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ahp.hosts.git import install as installing
from tests.conftest import Repo
from tests.hosts.git.conftest import Ask
from tests.hosts.git.gated import Gated

BAD = """\
version: 1
rules:
  no-bad:
    at: [pre-commit, pre-merge-commit]
    each: p in files.changed
    block: glob(p, '**/bad*')
    finding: {file: p}
    message: a bad name
    fix: [rename it]
"""
QUIET = "version: 1\nrules:\n  many: {at: pre-commit, block: files.changed_count > 100}\n"
MESSAGE = """\
version: 1
rules:
  subject: {at: commit-msg, block: commit.subject.startswith('wip'), message: no wip}
"""


def test_a_commit_that_breaks_a_rule_is_refused_with_reason_place_and_id(gated: Gated) -> None:
    gated.policy(BAD)
    head = gated.head()
    gated.write("bad.txt")
    gated.add("bad.txt")
    said = gated.say("commit", "-m", "x")
    assert said.code == 1
    assert gated.head() == head
    (signal,) = gated.log("signal")
    assert said.text == (
        f"ahp: commit refused by no-bad ({signal['id'][:8]})\n  a bad name\n  bad.txt\n  - rename it\n"
        f'  pass once, and say why: ahp respond {signal["id"][:8]} proceed_with_risk --reason "…"\n'
    )
    assert (signal["decision"], signal["host"], signal["hook"]) == ("deny", "git", "pre-commit")


def test_a_clean_commit_says_nothing_and_is_recorded(gated: Gated) -> None:
    gated.policy(QUIET)
    gated.write("a.txt")
    gated.add()
    said = gated.say("commit", "-q", "-m", "x")
    assert said == (0, "")
    (verdict,) = gated.log("verdict")
    assert verdict["decision"] == "allow"
    assert verdict["facts"] == {"files.changed_count": 1}


@pytest.mark.parametrize("how", ["GLOB", "NOGLOB", "ICASE", "LITERAL"])
def test_how_git_reads_patterns_of_paths_changes_no_judgement(gated: Gated, how: str) -> None:
    gated.policy(BAD)
    for name, code in (("good.txt", 0), ("bad.txt", 1)):
        gated.write(name)
        gated.add(name)
        said = gated.say("commit", "-q", "-m", "x", env={f"GIT_{how}_PATHSPECS": "1"})
        assert said.code == code and "cannot judge" not in said.text, said.text


def test_commit_dash_a_judges_what_it_will_commit(gated: Gated) -> None:
    gated.policy(BAD)
    gated.commit("tracked", "--no-verify", **{"bad.txt": "1\n"})
    gated.write("bad.txt", "2\n")
    assert gated.say("commit", "-a", "-m", "x").code == 1
    assert gated.log("signal")[-1]["paths"] == ["bad.txt"]


def test_a_hook_compiles_the_policies_that_nobody_compiled_before(gated: Gated) -> None:
    gated.cold = True
    gated.write(".ahp/hooks.yaml", BAD)
    gated.git("-c", "core.hooksPath=/dev/null", "add", "--force", ".ahp/hooks.yaml")
    gated.git("-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "policy")
    before = set((gated.folder / "cache").iterdir())
    gated.write("bad.txt")
    gated.add()
    assert gated.say("commit", "-m", "x").code == 1
    assert set((gated.folder / "cache").iterdir()) > before


def test_a_partial_commit_judges_the_named_paths_only(gated: Gated) -> None:
    gated.policy(BAD)
    gated.write("bad.txt")
    gated.write("good.txt")
    gated.add()
    assert gated.say("commit", "-q", "-m", "x", "--", "good.txt") == (0, "")
    assert gated.git("status", "--porcelain") == "A  bad.txt"
    assert gated.say("commit", "-m", "x", "bad.txt").code == 1


def test_an_amend_is_judged(gated: Gated) -> None:
    gated.policy(BAD)
    gated.write("bad.txt")
    gated.add()
    assert gated.say("commit", "--amend", "--no-edit").code == 1
    gated.git("reset", "-q")
    os.unlink(gated.root / "bad.txt")
    assert gated.say("commit", "-q", "--amend", "-m", "other words") == (0, "")
    assert gated.log("bypass") == []


def test_an_amend_that_adds_is_no_bypass(gated: Gated) -> None:
    gated.policy(QUIET)
    gated.commit("second", **{"a.txt": "1\n"})
    gated.write("b.txt")
    gated.add()
    assert gated.say("commit", "-q", "--amend", "--no-edit") == (0, "")
    assert gated.log("bypass") == []


def test_a_merge_is_judged_by_its_own_hook_and_its_message_too(gated: Gated) -> None:
    gated.git("checkout", "-q", "-b", "side")
    gated.commit("side", "--no-verify", **{"bad.txt": "1\n"})
    gated.git("checkout", "-q", "main")
    gated.commit("main", "--no-verify", **{"other.txt": "1\n"})
    gated.policy(BAD)
    assert gated.say("merge", "--no-edit", "side").code == 1
    assert [signal["hook"] for signal in gated.log("signal")] == ["pre-merge-commit"]
    gated.git("merge", "--abort")
    gated.policy(MESSAGE)
    assert gated.say("merge", "-m", "wip merge", "side").code == 1
    assert gated.log("signal")[-1]["hook"] == "commit-msg"
    gated.git("merge", "--abort")
    assert gated.say("merge", "-q", "-m", "merge", "side").code == 0
    assert gated.log("bypass") == []


def test_the_facts_of_a_commit_in_a_subfolder_are_of_the_whole_repository(gated: Gated) -> None:
    gated.policy(BAD)
    gated.write("deep/er/bad.txt")
    gated.write("bad.txt")
    gated.add()
    assert gated.say("commit", "-m", "x", at="deep/er").code == 1
    assert gated.log("signal")[-1]["paths"] == ["bad.txt", "deep/er/bad.txt"]


def test_linked_worktrees_are_judged_by_their_own_policy_and_share_the_log(gated: Gated, tmp_path: Path) -> None:
    gated.policy(QUIET)
    gated.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
    linked = Gated(tmp_path / "linked")
    linked.write(".ahp/hooks.yaml", BAD)
    linked.write("bad.txt")
    linked.add("bad.txt")
    assert linked.say("commit", "-m", "x").code == 1
    assert linked.say("commit", "-m", "x", at=".ahp").code == 1
    signal = gated.log("signal")[-1]
    assert (signal["subject"], signal["paths"]) == ("other", ["bad.txt"])
    gated.write("bad.txt")
    gated.add("bad.txt")
    assert gated.say("commit", "-q", "-m", "x") == (0, "")
    assert gated.log("bypass") == []


def test_a_submodule_has_a_gate_of_its_own(gated: Gated, tmp_path: Path) -> None:
    part = Repo(tmp_path / "part")
    part.root.mkdir()
    part.git("init", "-q")
    part.commit("first", **{"a.txt": "1\n"})
    gated.git("submodule", "--quiet", "add", str(part.root), "sub")
    gated.policy(BAD)
    inner = Gated(gated.root / "sub")
    installing.install(inner.repository(), "")
    assert "modules/sub" in inner.repository().common_dir
    inner.write(".ahp/hooks.yaml", BAD)
    inner.write("bad.txt")
    inner.add("bad.txt")
    assert inner.say("commit", "-m", "x").code == 1
    os.unlink(inner.root / "bad.txt")
    inner.write("good.txt")
    inner.git("rm", "-q", "--cached", "bad.txt")
    inner.add("good.txt")
    assert inner.say("commit", "-q", "-m", "x").code == 0
    # The outer repository is judged by its own policy; a moved submodule is one changed path.
    assert gated.say("commit", "-q", "-a", "-m", "submodule") == (0, "")
    assert gated.log("verdict")[-1]["decision"] == "allow"


def test_hostile_names_are_judged_and_shown_on_one_line(gated: Gated, hostile_names: list[str]) -> None:
    gated.policy(BAD.replace("glob(p, '**/bad*')", "len(p) > 0"))
    for name in hostile_names:
        gated.write(name)
    gated.add()
    said = gated.say("commit", "-m", "x")
    assert said.code == 1
    signal = gated.log("signal")[-1]
    assert signal["findings_total"] == len(hostile_names)
    assert len(signal["paths"]) >= len(hostile_names) - 3  # some look alike without their control characters
    shown = said.text.encode("utf-8", "surrogateescape").decode("utf-8")
    for forbidden in ("\x1b", "\x07", "\r", "\t", "\u202e", "\u2028"):
        assert forbidden not in shown
    assert [line for line in shown.splitlines() if not line.startswith(("ahp:", "  "))] == []


def test_a_quiet_commit_of_hostile_names_is_no_bypass(gated: Gated, hostile_names: list[str]) -> None:
    gated.policy(QUIET)
    for name in hostile_names:
        gated.write(name)
    gated.add()
    assert gated.say("commit", "-q", "-m", "x") == (0, "")
    assert gated.log("bypass") == []


def test_unstaged_and_untracked_work_is_never_touched(gated: Gated) -> None:
    gated.policy(BAD)
    gated.write("README", "unstaged\n")
    gated.write("bad untracked", "mine\n")
    gated.write("a.txt", "staged\n")
    gated.add("a.txt")
    gated.write("a.txt", "and more\n")
    index = gated.git("ls-files", "--stage")
    status = gated.git("status", "--porcelain")
    gated.policy(BAD.replace("'**/bad*'", "'a*'"))
    assert gated.say("commit", "-m", "x").code == 1
    assert gated.git("status", "--porcelain") == status
    assert gated.git("ls-files", "--stage") == index
    gated.policy(BAD)
    assert gated.say("commit", "-q", "-m", "x") == (0, "")
    assert gated.git("show", "HEAD:a.txt") == "staged"
    assert (gated.root / "a.txt").read_text() == "and more\n"
    assert gated.git("status", "--porcelain") == ' M README\n M a.txt\n?? "bad untracked"'
    assert gated.git("stash", "list") == ""


def test_the_first_commit_of_a_repository_is_judged(gated: Gated) -> None:
    gated.policy(BAD)
    gated.git("checkout", "-q", "--orphan", "fresh")
    gated.write("bad.txt")
    gated.add()
    assert gated.say("commit", "-m", "x").code == 1
    assert gated.log("signal")[-1]["paths"] == ["bad.txt"]
    gated.git("rm", "-q", "--cached", "bad.txt")
    assert gated.say("commit", "-q", "-m", "x") == (0, "")
    assert gated.log("bypass") == []


def test_on_a_detached_head_the_subject_is_detached(gated: Gated) -> None:
    gated.policy(BAD)
    gated.git("checkout", "-q", "--detach")
    gated.write("bad.txt")
    gated.add()
    assert gated.say("commit", "-m", "x").code == 1
    assert gated.log("signal")[-1]["subject"] == "detached"
    gated.git("rm", "-q", "--cached", "bad.txt")
    gated.write("good.txt")
    gated.add("good.txt")
    assert gated.say("commit", "-q", "-m", "x") == (0, "")
    assert gated.log("bypass") == []


def test_a_shallow_clone_is_judged(gated: Gated, tmp_path: Path) -> None:
    gated.commit("second", "--no-verify", **{"a.txt": "1\n"})
    gated.git("clone", "-q", "--depth", "1", gated.root.as_uri(), str(tmp_path / "shallow"))
    shallow = Gated(tmp_path / "shallow")
    installing.install(shallow.repository(), "")
    shallow.write(".ahp/hooks.yaml", BAD)
    shallow.write("bad.txt")
    shallow.add("bad.txt")
    assert shallow.say("commit", "-m", "x").code == 1
    shallow.git("mv", "bad.txt", "good.txt")
    assert shallow.say("commit", "-q", "-m", "x").code == 0
    assert shallow.say("commit", "-q", "--amend", "-m", "y").code == 0
    assert [r for r in shallow.log() if r["kind"] == "bypass"] == []


def test_a_corrupt_index_refuses_in_gits_words(gated: Gated, ask: Ask) -> None:
    gated.policy(BAD)
    (gated.root / ".git" / "index").write_bytes(b"DIRC garbage")
    code, said = ask("pre-commit")
    assert code == 2
    assert "cannot judge this pre-commit" in said
    assert "index" in said
    assert gated.say("commit", "-m", "x").code != 0


def test_without_home_the_gate_judges(gated: Gated) -> None:
    gated.policy(BAD)
    gated.write("bad.txt")
    gated.add()
    env = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CONFIG_HOME")}
    done = subprocess.run(["git", "commit", "-m", "x"], cwd=gated.root, env=env, capture_output=True, check=False)
    assert done.returncode == 1
    assert b"refused by no-bad" in done.stderr


def test_two_processes_committing_at_once_are_both_judged(gated: Gated, tmp_path: Path) -> None:
    gated.policy(BAD)
    places = []
    for name in ("one", "two", "three"):
        gated.git("worktree", "add", "-q", "-b", name, str(tmp_path / name))
        place = Gated(tmp_path / name)
        place.write(".ahp/hooks.yaml", BAD)
        place.write("bad.txt" if name == "two" else "good.txt")
        place.add("." if name != "two" else "bad.txt")
        places.append(place)
    started = [
        subprocess.Popen(["git", "commit", "-q", "-m", "x"], cwd=place.root, stderr=subprocess.PIPE) for place in places
    ]
    codes = [process.wait() for process in started]
    for process in started:
        assert process.stderr is not None
        process.stderr.close()
    assert codes == [0, 1, 0]
    records = gated.log()
    assert [r["n"] for r in records] == list(range(1, len(records) + 1))
    assert sorted(r["subject"] for r in records if r["kind"] == "verdict") == ["one", "three", "two"]


def test_two_commits_in_one_repository_at_once_leave_one_commit_and_a_whole_log(gated: Gated) -> None:
    gated.policy(QUIET)
    gated.write("a.txt")
    gated.add()
    started = [
        subprocess.Popen(["git", "commit", "-q", "-m", "x"], cwd=gated.root, stderr=subprocess.DEVNULL) for _ in "ab"
    ]
    codes = sorted(process.wait() for process in started)
    assert codes[0] == 0
    assert gated.git("rev-list", "--count", "HEAD") == "2"
    records = gated.log()
    assert [r["n"] for r in records] == list(range(1, len(records) + 1))
    assert gated.log("bypass") == []


@pytest.mark.parametrize("marker", ["CLAUDECODE", ""])
def test_an_agent_reads_at_most_600_characters_and_never_a_way_round(gated: Gated, marker: str) -> None:
    said, do = "reason " * 40, "do " * 60
    rules = [
        f"  rule-{n}: {{at: pre-commit, block: files.changed_count > 0, message: '{said}', fix: ['{do}']}}\n"
        for n in range(6)
    ]
    gated.policy("version: 1\nrules:\n" + "".join(rules))
    gated.write("a.txt")
    gated.add()
    said = gated.say("commit", "-m", "x", env={marker: "1"} if marker else {})
    assert said.code == 1
    assert "--no-verify" not in said.text
    if marker:
        assert len(said.text.rstrip("\n")) <= 600
        assert said.text.startswith("ahp blocked: rule-0 (")
        assert "Or, if your user wants it, they run in a terminal: ahp respond " in said.text
        assert "\n(refused by rule-1, rule-2, rule-3 and 2 more as well: ahp log)" in said.text
        assert gated.log("signal")[0]["actor"] == "agent:claude"
    else:
        assert said.text.count("refused by") == 6


OF_COMMITS = BAD.replace("[pre-commit, pre-merge-commit]", "pre-commit")
LINES = """\
version: 1
rules:
  no-secret:
    at: [pre-commit, commit-msg]
    each: l in diff.added
    block: "'secret' in l.text"
    finding: {file: l.path, line: l.line}
"""


def conflict(gated: Gated) -> None:
    """A side whose bad name and secret nobody here wrote, which conflicts with main in `a.txt`."""
    gated.commit("before", "--no-verify", **{"a.txt": "1\n"})
    gated.git("checkout", "-q", "-b", "side")
    gated.commit("side", "--no-verify", **{"bad.txt": "secret\n", "a.txt": "side\n"})
    gated.git("checkout", "-q", "main")
    gated.commit("main", "--no-verify", **{"a.txt": "main\n"})


@pytest.mark.slow
@pytest.mark.parametrize("policy", [OF_COMMITS, LINES])
def test_a_conflicted_merge_is_judged_on_what_it_changes_itself(gated: Gated, policy: str) -> None:
    conflict(gated)
    gated.policy(policy)
    assert gated.say("merge", "--no-edit", "side").code == 1
    gated.write("a.txt", "main\nside\n")
    gated.write("bad2.txt", "another secret\n")
    gated.add("a.txt", "bad2.txt")
    assert gated.say("commit", "--no-edit").code == 1
    (signal,) = gated.log("signal")
    assert signal["paths"] == ["bad2.txt"]
    gated.git("rm", "-q", "-f", "bad2.txt")
    assert gated.say("commit", "-q", "--no-edit") == (0, "")
    assert gated.git("rev-list", "--parents", "-1", "HEAD").count(" ") == 2
    assert gated.log("bypass") == []


@pytest.mark.slow
@pytest.mark.parametrize("messages", ["", "  words: {at: commit-msg, block: commit.subject == ''}\n"])
def test_a_merge_that_is_concluded_by_hand_is_asked_the_rules_of_merges_too(gated: Gated, messages: str) -> None:
    conflict(gated)
    gated.policy(BAD + messages)
    gated.say("merge", "--no-edit", "side")
    gated.write("a.txt", "main\nside\n")
    gated.add("a.txt")
    assert gated.say("commit", "--no-edit").text.startswith("ahp: merge refused by no-bad")
    gated.policy(BAD.replace("block:", "prompt:") + messages)
    gated.write("bad2.txt")
    gated.add("bad2.txt")
    said = gated.say("commit", "-q", "--no-edit")
    assert (said.code, said.text.count("no-bad")) == (0, 1)  # told once, though both triggers ask it
    assert [one["hook"] for one in gated.log("signal")[1:]] == ["pre-commit", "pre-merge-commit"]


def test_a_secret_that_resolves_a_conflict_is_the_merge_s_own(gated: Gated) -> None:
    conflict(gated)
    gated.policy(LINES)
    gated.say("merge", "--no-edit", "side")
    gated.write("a.txt", "a secret\n")
    gated.add("a.txt")
    assert gated.say("commit", "--no-edit").code == 1
    assert gated.log("signal")[0]["paths"] == ["a.txt"]


def test_what_a_cherry_pick_brings_is_all_its_own(gated: Gated) -> None:
    conflict(gated)
    gated.policy(BAD)
    assert gated.say("cherry-pick", "side").code == 1
    gated.write("a.txt", "both\n")
    gated.add("a.txt")
    assert gated.say("commit", "-m", "x").code == 1
    assert gated.log("signal")[0]["paths"] == ["bad.txt"]


def test_what_a_revert_brings_back_is_all_its_own(gated: Gated) -> None:
    gated.commit("bad", "--no-verify", **{"bad.txt": "1\n"})
    gated.git("rm", "-q", "bad.txt")
    gated.git("commit", "-q", "--no-verify", "-m", "gone")
    gated.policy(BAD)
    gated.git("revert", "--no-commit", "HEAD")
    assert gated.say("commit", "-m", "x").code == 1
    assert gated.log("signal")[0]["paths"] == ["bad.txt"]


@pytest.mark.parametrize("options", [["--no-commit", "--no-ff"], ["--squash"]])
def test_a_squash_is_all_its_own_and_a_merge_held_back_is_not(gated: Gated, options: list[str]) -> None:
    gated.git("checkout", "-q", "-b", "side")
    gated.commit("side", "--no-verify", **{"bad.txt": "1\n"})
    gated.git("checkout", "-q", "main")
    gated.policy(OF_COMMITS)
    gated.git("merge", "-q", *options, "side")
    assert gated.say("commit", "-q", "-m", "x").code == (options == ["--squash"])


@pytest.mark.slow
def test_a_policy_that_a_merge_brings_has_to_load(gated: Gated) -> None:
    conflict(gated)
    gated.commit_policy(BAD)
    gated.git("checkout", "-q", "side")
    gated.write(".ahp/hooks.yaml", "version: 1\nrules: 7\n")
    gated.git("add", "-f", ".ahp/hooks.yaml")
    gated.git("commit", "-q", "--no-verify", "-m", "broken policy")
    gated.git("checkout", "-q", "-f", "main")
    gated.git("merge", "--no-edit", "--no-commit", "side", check=False)
    gated.git("checkout", "-q", "side", "--", ".ahp/hooks.yaml")
    gated.write("a.txt", "both\n")
    gated.add("a.txt")
    said = gated.say("commit", "--no-edit")
    assert (said.code, "a commit may not bring a policy that does not load" in said.text) == (1, True)


def partial(gated: Gated, tmp_path: Path, policy: str) -> Gated:
    """A partial clone behind the gate, without a blob of the folder `big` nor of the policy."""
    for name in ("one", "two"):
        gated.write(f"big/{name}", f"{name}\n" * 50)
    gated.write(".ahp/hooks.yaml", policy)
    gated.git("add", "-f", "big", ".ahp/hooks.yaml")
    gated.git("commit", "-q", "--no-verify", "-m", "big")
    gated.git("config", "uploadpack.allowFilter", "true")
    gated.git("config", "uploadpack.allowAnySHA1InWant", "true")
    made = Gated(tmp_path / "partial")
    made.root.mkdir()
    made.git("clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{gated.root}", ".")
    made.git("sparse-checkout", "set", "--no-cone", "/*", "!/big", "!/.ahp")
    made.git("checkout", "-q", "main")
    installing.install(made.repository(), "")
    return made


def lacking(repo: Repo) -> set[str]:
    """The objects that a partial clone has not fetched."""
    listed = repo.git("rev-list", "--objects", "--all", "--missing=print").splitlines()
    return {line[1:] for line in listed if line.startswith("?")}


def test_in_a_partial_clone_only_the_policy_is_fetched(gated: Gated, tmp_path: Path) -> None:
    clone = partial(gated, tmp_path, BAD)
    policy = clone.git("rev-parse", "HEAD:.ahp/hooks.yaml")
    clone.git("rm", "-rq", "--cached", "--sparse", "big/one")
    before = lacking(clone)
    assert policy in before
    assert clone.say("commit", "-q", "-m", "x") == (0, "")
    assert before - lacking(clone) == {policy}
    clone.write("bad.txt")
    clone.add("bad.txt")
    clone.git("rm", "-rq", "--cached", "--sparse", "big/two")
    said = clone.say("commit", "-q", "-m", "x")
    assert said.code == 1 and "refused by no-bad" in said.text and "could not fetch" not in said.text
    assert before - lacking(clone) == {policy}


def test_a_rule_about_lines_says_what_gets_them_in_a_partial_clone(gated: Gated, tmp_path: Path) -> None:
    clone = partial(gated, tmp_path, "version: 1\nrules:\n  many: {at: pre-commit, block: files.lines_changed > 60}\n")
    clone.git("rm", "-rq", "--cached", "--sparse", "big/one")
    said = clone.say("commit", "-q", "-m", "x")
    assert said.code == 1
    assert "the content of big/one is not in this partial clone); to get it: git diff --cached --numstat" in said.text
    clone.git("diff", "--cached", "--numstat")
    assert clone.say("commit", "-q", "-m", "x").code == 0


def test_hooks_that_another_user_installed_ask_the_layer_of_who_commits(gated: Gated, ask: Ask, home: Path) -> None:
    gated.commit_policy("version: 1\nrules:\n  many: {at: pre-commit, block: files.changed_count > 100}\n")
    gated.write("a.txt")
    gated.add()
    theirs = gated.root.parent / "theirs.yaml"
    theirs.write_text("version: 1\nrules:\n  theirs: {at: pre-commit, block: files.changed_count > 0}\n")
    code, said = ask("pre-commit", user=f"{os.getuid()}:{theirs}")
    assert code == 1 and "refused by theirs" in said
    assert ask("pre-commit", user=f"{os.getuid() + 1}:{theirs}") == (0, "")
    own = home / ".ahp" / "hooks.yaml"
    own.parent.mkdir()
    own.write_text(theirs.read_text().replace("theirs", "own"))
    code, said = ask("pre-commit", user=f"{os.getuid() + 1}:{theirs}")
    assert code == 1 and "refused by own" in said
    own.unlink()
    own.mkdir()
    code, said = ask("pre-commit", user=f"{os.getuid() + 1}:{theirs}")
    assert "a user's own policy: where another user installed the hooks, ahp install git" in said
