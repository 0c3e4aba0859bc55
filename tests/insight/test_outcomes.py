"""Rules graded by what became of commits: the figures are those that were planted, as far as they can be known."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from ahp.cli.main import run
from ahp.insight.commands import outcomes as command
from ahp.insight.outcomes import (
    BYPASSED,
    DISMISSED,
    FIXED,
    HOT_FIXED,
    OVERRIDDEN,
    PASSED,
    PLACE,
    RED,
    REVERTED,
    SHADOW,
    Aftermath,
    Grade,
    aftermath,
    grade,
    spoken,
)
from ahp.journal.append import Journal
from ahp.journal.respond import respond
from ahp.protocol.event import Actor
from ahp.system import clock, git
from tests.conftest import Repo
from tests.hosts.git import gated as making
from tests.insight import planted_history, trial_outcomes
from tests.insight.planted_history import RULES, Made

DAY = 86400


def read(repo: Repo, folder: Path) -> Aftermath:
    return aftermath(git.discover(str(repo.root), dict(os.environ)), str(folder))


def graded(repo: Repo, folder: Path, found: Made) -> list[Grade]:
    folder.mkdir()
    after = read(repo, folder)
    lines = planted_history.log_of(found, {id: fact.digests for id, fact in after.facts.items()})
    (folder / "signals.jsonl").write_text("\n".join(lines) + "\n")
    told = spoken(str(folder), after)
    return [grade(rule, told[rule], after, after.settled(found.end)) for rule in RULES]


@pytest.mark.slow
def test_what_is_planted_in_three_histories_is_recovered(empty_repository: Path, tmp_path: Path) -> None:
    near = alike = 0
    page = (Path(__file__).resolve().parents[2] / "docs/feedback.md").read_text("utf-8")
    for seed in (1, 2, 3):
        repo = Repo(shutil.copytree(empty_repository, tmp_path / f"repo-{seed}"))
        found = planted_history.made(repo, seed)
        grades = graded(repo, tmp_path / f"log-{seed}", found)
        after = read(repo, tmp_path / f"log-{seed}")
        settled = after.settled(found.end)
        shown = sorted(grades, key=lambda one: (-one.spoke, one.rule))
        assert seed > 1 or command._text(command.Told(after, settled, shown)) in page
        for one in grades:
            spoke, bad = found.spoke[one.rule] & settled, found.bad & settled
            recall, alarms = len(spoke & bad) / len(bad), len(spoke - bad) / len(settled - bad)
            assert one.precision is not None and one.auc is not None
            near += abs(one.precision.hits / one.precision.many - len(spoke & bad) / len(spoke)) <= 0.1
            alike += abs(one.auc - (1 + recall - alarms) / 2) <= 0.05
    assert (near, alike) >= (19, 21), (near, alike)  # of 21


@pytest.mark.slow
def test_the_trial_of_long_and_of_public_histories_goes_on_where_it_ended(tmp_path: Path) -> None:
    """A sample of it; `trial_outcomes` tells how to run all of it."""
    for name in ("long", "clone"):
        (tmp_path / name).mkdir()
    found = trial_outcomes.long(tmp_path / "long", 1500)
    assert found == trial_outcomes.long(tmp_path / "long", 1500) and min(found.near, found.alike) >= 6
    planted = trial_outcomes.planted(tmp_path / "long/repo", tmp_path / "clone", 800)
    assert min(planted.near, planted.alike) >= 6


TEXT = "one = 1\ntwo = 2\nthree = 3\nfour = 4\n"


@pytest.fixture
def dated(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    """Each commit comes a day after the one before."""
    days = iter(range(1, 1000))
    make = repo.commit

    def commit(message: str = "change", *options: str, **files: str | bytes) -> str:
        at = f"{1_735_689_600 + next(days) * DAY} +0000"
        monkeypatch.setenv("GIT_COMMITTER_DATE", at)
        monkeypatch.setenv("GIT_AUTHOR_DATE", at)
        return make(message, *options, **files)

    monkeypatch.setattr(repo, "commit", commit)
    repo.commit("begin", a=TEXT, b=TEXT)
    return repo


def test_a_revert_is_known_by_its_words_by_its_lines_and_until_it_is_reapplied(dated: Repo, tmp_path: Path) -> None:
    named = dated.commit("named", a=TEXT.replace("2", "20"))
    dated.commit(f"no good\n\nThis reverts commit {named}.", a=TEXT)
    silent = dated.commit("silent", b=TEXT.replace("3", "30"))
    dated.commit("more", b=TEXT.replace("3", "30").replace("1", "10"))
    dated.commit("tidy", b=TEXT.replace("1", "10"))  # the file is not what it was, but its line is
    both = dated.commit("both", a=TEXT.replace("4", "40"))
    back = dated.commit(f"Revert it\n\nThis reverts commit {both}.", a=TEXT)
    dated.commit(f"Reapply it\n\nThis reverts commit {back}.", a=TEXT.replace("4", "40"))
    found = read(dated, tmp_path / "kept").outcomes
    assert {named, silent} <= found.keys() and both not in found
    assert found[named] == found[silent] == REVERTED


def test_a_fix_is_of_whom_most_of_its_lines_are(dated: Repo, tmp_path: Path) -> None:
    wrong = dated.commit("wrong", a=TEXT.replace("2", "20"))
    moved = dated.commit("looks only", a="  " + TEXT.replace("2", "20").replace("\n", "\n  "), b=TEXT + "# a remark\n")
    dated.commit("fix two", a="  " + TEXT.replace("2", "22").replace("\n", "\n  "), b=TEXT)
    other = dated.commit("other", b=TEXT.replace("3", "30"))
    dated.commit("change three", b=TEXT.replace("3", "33"))  # it does not say that it fixes
    found = read(dated, tmp_path / "kept").outcomes
    assert found == {wrong: FIXED} and moved not in found and other not in found


def test_lines_that_move_to_another_file_are_not_taken_back_and_stay_of_whom_they_are(
    dated: Repo, tmp_path: Path
) -> None:
    lines = "".join(f"the total of all values is counted here, part {number} of six\n" for number in range(6))
    wrong = dated.commit("add six", a=TEXT + lines)
    moved = dated.commit("tidy the files", a=TEXT, b=TEXT + lines)
    assert read(dated, tmp_path / "kept").outcomes == {}
    dated.commit("fix the total", b=TEXT + lines.replace("total", "sum"))
    found = read(dated, tmp_path / "kept").outcomes
    assert found == {wrong: FIXED} and moved not in found


@pytest.mark.slow
@pytest.mark.parametrize("branch", ["release/1", "1.2.x", "v2.0", "hotfix-17"])
def test_what_is_fixed_too_late_or_on_a_release_branch_is_told_apart(dated: Repo, tmp_path: Path, branch: str) -> None:
    old = dated.commit("old", a=TEXT.replace("2", "20"))
    shipped = dated.commit("shipped", b=TEXT.replace("3", "30"))
    dated.git("checkout", "-q", "-b", branch)
    dated.commit("fix three", b=TEXT.replace("3", "33"))
    dated.git("checkout", "-q", "main")
    for _ in range(40):
        dated.commit("time goes by", c=os.urandom(4).hex())
    dated.commit("fix two", a=TEXT.replace("2", "22"))
    found = read(dated, tmp_path / "kept").outcomes
    assert found == {shipped: HOT_FIXED} and old not in found


def test_a_reading_that_was_ended_goes_on_and_a_later_one_asks_nothing_anew(
    dated: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dated.commit("wrong", a=TEXT.replace("2", "20"))
    dated.commit("fix two", a=TEXT.replace("2", "22"))
    whole = read(dated, tmp_path / "kept")
    place = Path(str(tmp_path / "kept") + PLACE)
    place.write_bytes(b"".join(place.read_bytes().splitlines(keepends=True)[:3])[:-9])  # cut in a line
    asked: list[str] = []
    real = git.Repository.run
    monkeypatch.setattr(
        git.Repository, "run", lambda self, *words, **more: (asked.append(words[0]), real(self, *words, **more))[1]
    )
    assert read(dated, tmp_path / "kept") == whole and "blame" in asked
    asked.clear()
    assert read(dated, tmp_path / "kept") == whole
    assert set(asked) <= {"for-each-ref", "rev-list", "rev-parse"}


POLICY = """\
version: 1
rules:
  wide: {at: pre-commit, prompt: files.changed_count > 1, message: "{files.changed_count} files"}
  large: {at: pre-commit, block: files.insertions > 5, message: large}
  watched: {at: pre-commit, block: files.changed_count > 0, shadow: true}
"""


def test_real_commits_are_joined_with_what_the_hooks_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], person: list[str]
) -> None:
    gated = making.make(tmp_path / "repo")
    gated.commit_policy(POLICY)
    monkeypatch.chdir(gated.root)
    journal, ann = Journal(str(gated.root / ".git/ahp")), Actor("human", "ann")

    def signals() -> list[dict[str, str]]:
        assert run(["log", "--format", "json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    def tries(message: str, **files: str) -> int:
        for name, text in files.items():
            gated.write(name, text)
        gated.git("add", ".")
        return gated.run("git", "commit", "-qm", message).returncode

    assert tries("two", a="1\n", b="1\n") == 0
    two = gated.head()
    respond(journal, [one["id"] for one in signals() if one.get("rule") == "wide"][-1], "dismiss", ann)
    assert tries("long", a="1\n" * 9) == 1
    respond(
        journal,
        [one["id"] for one in signals() if one.get("rule") == "large"][-1],
        "proceed_with_risk",
        ann,
        reason="it is data",
    )
    assert tries("long", a="1\n" * 9) == 0
    long = gated.head()
    gated.write("c", "2\n" * 9)
    gated.git("add", ".")
    gated.git("commit", "-q", "--no-verify", "-m", "round")
    round_ = gated.head()
    assert tries("plain", a="3\n") == 0
    after = read(Repo(gated.root), gated.root / ".git/ahp")
    told = spoken(str(gated.root / ".git/ahp"), after)
    assert told["wide"].spoke == {two: DISMISSED} and told["large"].refused == 1
    assert told["large"].spoke[long] == OVERRIDDEN
    assert told["watched"].spoke[gated.head()] == SHADOW
    assert told["large"].spoke[round_] == BYPASSED and round_ not in told["wide"].spoke
    assert PASSED not in told["watched"].spoke.values()


def test_a_proposed_rule_is_graded_by_what_became_of_the_commits_it_names(
    dated: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(6):
        dated.commit("wrong", a=f"{n}\n", c=f"{n}\n")
        dated.git("revert", "--no-edit", "HEAD")
        dated.commit("good", b=f"{n}\n")
    dated.write(".ahp/hooks.yaml", "version: 1\nrules:\n  wide: {at: pre-commit, prompt: files.changed_count > 1}\n")
    monkeypatch.chdir(dated.root)
    monkeypatch.setattr(clock, "now", lambda: 1_735_689_600 + 400.0 * DAY)
    assert run(["try", "wide", "--outcomes"]) == 0
    out = capsys.readouterr().out
    assert "6 went wrong (6 reverted)" in out and "Of many commits, never of one" in out
    assert run(["try", "wide", "--outcomes", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["outcomes"]["rules"]
    assert one["weak"] == {}
    assert one["rule"] == "wide" and one["wrong"] == {"reverted": 6}
    assert one["recall"]["share"] == 1 and one["spoke"] < 14
    assert run(["stats", "--outcomes"]) == 0
    assert "known" in capsys.readouterr().out
    assert run(["stats", "--outcomes", "--by", "actor"]) == 2


def test_what_ci_failed_on_first_went_wrong(
    dated: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    red = dated.commit("red", a="1\n")
    still = dated.commit("still red", b="1\n")
    dated.commit("green", b="2\n")
    told = git.discover(str(dated.root), dict(os.environ))
    after = aftermath(told, str(tmp_path / "kept"), red=frozenset([red, still, "f" * 40]))
    assert after.outcomes == {red: RED}
    monkeypatch.chdir(dated.root)
    monkeypatch.setattr(clock, "now", lambda: 1_735_689_600 + 400.0 * DAY)
    (tmp_path / "red").write_text(f"{red}\n{still}\nno id\n")
    assert run(["stats", "--outcomes", "--red", str(tmp_path / "red")]) == 0
    assert "1 went wrong (1 red)" in capsys.readouterr().out
    dated.write(".ahp/hooks.yaml", "version: 1\nrules:\n  any: {at: pre-commit, prompt: files.changed_count > 0}\n")
    assert run(["try", "--outcomes", "--red", str(tmp_path / "red")]) == 0
    assert "1 went wrong (1 red)" in capsys.readouterr().out
    for name in ("stats", "try"):
        assert run([name, "--red", str(tmp_path / "red")]) == 2
        assert f"--red goes with --outcomes: ahp {name} --outcomes --red FILE" in capsys.readouterr().err


def test_a_folder_in_which_a_rule_is_right_less_often_is_named(
    dated: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for n in range(20):
        dated.commit("wrong", **{"src/a": f"{n}\n", "src/b": f"{n}\n"})
        dated.git("revert", "--no-edit", "HEAD")
        dated.commit("good", **{"docs/a": f"{n}\n", "docs/b": f"{n}\n"})
    dated.write(".ahp/hooks.yaml", "version: 1\nrules:\n  wide: {at: pre-commit, prompt: files.changed_count > 1}\n")
    monkeypatch.chdir(dated.root)
    monkeypatch.setattr(clock, "now", lambda: 1_735_689_600 + 400.0 * DAY)
    assert run(["try", "wide", "--outcomes"]) == 0
    assert "wide: narrow it? Its precision in docs/ is 0% (0% to " in " ".join(capsys.readouterr().out.split())
    assert run(["try", "wide", "--outcomes", "--format", "json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["outcomes"]["rules"]
    (here, elsewhere) = one["weak"].pop("docs/")
    assert one["weak"] == {} and here["hits"] == 0 and elsewhere["share"] > 0.4


@pytest.mark.slow
def test_it_is_advised_to_narrow_a_rule_to_other_folders_and_what_that_would_change(
    dated: Repo, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = "  wide: {at: pre-commit, prompt: files.changed_count > 1}\n"
    dated.commit("policy", **{".ahp/hooks.yaml": f"version: 1\nrules:\n{rules}"})
    for n in range(20):
        dated.commit("wrong", **{"src/a": f"{n}\n", "src/b": f"{n}\n"})
        dated.git("revert", "--no-edit", "HEAD")
        dated.commit("good", **{"docs/a": f"{n}\n", "docs/b": f"{n}\n"})
    folder = dated.root / ".git/ahp"
    after = read(dated, folder)
    spoke = {id for id, one in after.facts.items() if len(one.taken) > 1}
    made = Made([*after.facts], set(), {"wide": spoke}, 0.0)
    lines = planted_history.log_of(made, {id: one.digests for id, one in after.facts.items()}, ["wide"])
    (folder / "signals.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(dated.root)
    monkeypatch.setattr(clock, "now", lambda: 1_735_689_600 + 400.0 * DAY)
    assert run(["stats", "--outcomes", "HEAD", "--advise"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "wide misplaced: precision in docs/ is 0% (" in out and "narrow it to what is not in docs/" in out
    assert (
        "names 20 that went wrong and 21 good ones instead of 20 that went wrong and 41" in out
        and "in history: " in out
        and " commits, sha256:" in out
    )
    assert run(["stats", "--outcomes", "HEAD", "--advise", "--write"]) == 0
    (dated.root / "p.diff").write_text(capsys.readouterr().out)
    dated.git("apply", "p.diff")
    (dated.root / "red").write_text("\n".join(spoke))
    pages = {(): "33%", ("--from", str(folder)): "", ("--red", "red"): "100%"}
    for more, has in pages.items():
        assert run(["report", "--html", "-", "--language", "en", *more]) == 0
        page = capsys.readouterr().out.partition("What became of the commits")
        assert bool(page[1]) is bool(has) and has in page[2]
    assert run(["report", "--audit", "--red", "red"]) == 2
    assert "any(not f.startswith('docs/') for f in files.changed)" in (dated.root / ".ahp/hooks.yaml").read_text()
