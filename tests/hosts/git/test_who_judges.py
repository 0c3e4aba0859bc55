"""The table of docs/decisions/who-judges.md, by what HEAD, the work tree and the remote's default branch have.

Set AHP_TEST_WRITE_DOCS=1 to write the generated part anew.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ahp.hosts import asking
from ahp.policy.judge import COMMITTED
from ahp.policy.judges import judges_of
from ahp.policy.problems import PolicyError
from ahp.protocol.event import Actor, PushRef, Workspace
from tests.conftest import PROJECT
from tests.hosts.git import gated as making

PAGE = PROJECT / "docs" / "decisions" / "who-judges.md"
BEGIN = "<!-- generated: AHP_TEST_WRITE_DOCS=1 pytest tests/hosts/git/test_who_judges.py -->\n"
END = "<!-- end of the generated part -->"

AT = "[pre-commit, pre-push, pre-issue-submit, pre-tool-use]"
RULE = f'version: 1\nrules: {{keys: {{at: {AT}, %s: "files.changed_count > 0"}}}}\n'
POLICIES = {
    "none": None,
    "weak": RULE % "prompt",
    "strict": RULE % "block",
    "invalid": RULE % "no-level",
}
BESIDE = {"working": "the file", "pushed": "the tip"}
TRIGGERS = ("pre-commit", "pre-issue-submit", "pre-tool-use")
HOOKS = ".ahp/hooks.yaml"
Case = tuple[str, str, str]  # what HEAD, the work tree and the remote's default branch have


class Place:
    """A repository with a commit for each policy, none of which another one is built on."""

    def __init__(self, root: Path) -> None:
        self.repo = making.make(root)
        first = self.repo.head()
        self.commits = {"none": first}
        for name, text in POLICIES.items():
            if text is not None:
                self.repo.git("checkout", "-q", "--detach", first)
                self.repo.write(HOOKS, text)
                self.repo.git("add", "-f", HOOKS)
                self.repo.git("commit", "-q", "--no-verify", "-m", name)
                self.commits[name] = self.repo.head()
        self.repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
        self.repo.git("branch", "-q", "-D", "main")
        self.repository = self.repo.repository()

    def arrange(self, case: Case) -> None:
        head, file, remote = case
        (self.repo.root / ".git/HEAD").write_text(self.commits[head] + "\n")
        path = self.repo.root / ".git/refs/remotes/origin/main"
        path.write_text(self.commits[remote] + "\n")
        self.repo.write(HOOKS, POLICIES[file] or "")
        if POLICIES[file] is None:
            (self.repo.root / HOOKS).unlink()

    def who(self, trigger: str, tip: str = "") -> str:
        """Who judges, in the words of the table."""
        repo = self.repository
        where = Workspace(repo.root, repo.ahp_dir, dict(os.environ), repo)
        event = asking.event(trigger, "test", Actor("human"), where, mode="dry")
        if tip:
            event.push = PushRef("refs/heads/x", self.commits[tip], "refs/heads/x", "0" * 40)
        try:
            judges = judges_of(event)
        except PolicyError:
            return "refused"
        names = [
            (judge.tree.name if judge.tree is not None else "") if judge.origin == COMMITTED else BESIDE[judge.origin]
            for judge in judges
            if judge.program.triggers
        ]
        told = any(judge.notes for judge in judges)
        return (" + ".join(names) or "nobody") + (", told" if told and trigger != "pre-tool-use" else "")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("who") / "repo")


def cases() -> Iterator[Case]:
    yield from itertools.product(POLICIES, POLICIES, POLICIES)


def expected(case: Case) -> str:
    """As the rules say it: HEAD's policy if it loads, else the remote's; the file beside it, or alone."""
    head, file, remote = case
    first, name = next(
        ((one, name) for one, name in ((head, "HEAD"), (remote, "origin/main")) if one in ("weak", "strict")), ("", "")
    )
    if not first:
        alone = {"none": "nobody", "invalid": "refused"}.get(file, "the file")
        return alone + (", told" if head == "invalid" and file != "invalid" else "")
    told = file == "invalid" or (file == "none" and head != "none") or head == "invalid"
    both = file in ("weak", "strict") and file != first
    return name + (" + the file" if both else "") + (", told" if told else "")


def expected_of_push(case: Case, tip: str) -> str:
    """Who judges a push does not hang on what is checked out, as long as a committed policy is known."""
    _, file, remote = case
    loads = ("weak", "strict")
    if remote in loads:
        return "origin/main" + (" + the tip" if tip in loads and tip != remote else "")
    if tip in loads:
        return "the tip, told"
    return {"none": "nobody", "invalid": "refused"}.get(file, "the file")


@pytest.fixture(scope="module")
def answers(place: Place) -> dict[Case, dict[str, str]]:
    """What every case says at every trigger but a push."""
    found: dict[Case, dict[str, str]] = {}
    for case in cases():
        place.arrange(case)
        found[case] = {trigger: place.who(trigger) for trigger in TRIGGERS}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_who_judges_is_as_the_rules_say(answers: dict[Case, dict[str, str]], trigger: str) -> None:
    wrong = {}
    for case in cases():
        wanted = expected(case)
        if trigger == "pre-tool-use":
            wanted = wanted.removesuffix(", told")
        if answers[case][trigger] != wanted:
            wrong[case] = (answers[case][trigger], wanted)
    assert wrong == {}


@pytest.mark.slow
def test_who_judges_a_push_is_as_the_rules_say(place: Place) -> None:
    wrong = {}
    for case in cases():
        place.arrange(case)
        for tip in POLICIES:
            found = place.who("pre-push", tip).replace(f"commit {place.commits[tip][:10]}", "the tip")
            if found != expected_of_push(case, tip):
                wrong[(*case, tip)] = (found, expected_of_push(case, tip))
    assert wrong == {}


def test_the_table_in_the_documentation_is_this_one(answers: dict[Case, dict[str, str]]) -> None:
    made = table(answers)
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    documented, after = rest.split(END, 1)
    if os.environ.get("AHP_TEST_WRITE_DOCS"):
        PAGE.write_text(before + BEGIN + made + END + after, encoding="utf-8")
        documented = made
    assert documented == made, "write it anew: AHP_TEST_WRITE_DOCS=1 pytest tests/hosts/git/test_who_judges.py"


def table(answers: dict[Case, dict[str, str]]) -> str:
    """A row for what HEAD and the remote have, a column for what the work tree has; equal rows are one."""
    rows: dict[tuple[str, ...], list[str]] = {}
    lines = [
        "| HEAD | remote's default branch | no file | weak file | strict file | invalid file |",
        "| --- " * 6 + "|",
    ]
    for head in POLICIES:
        rows.clear()
        for remote in POLICIES:
            row = tuple(answers[head, file, remote]["pre-commit"] for file in POLICIES)
            rows.setdefault(row, []).append(remote)
        for row, remotes in rows.items():
            named = "any" if len(remotes) == len(POLICIES) else ", ".join(remotes)
            lines.append("| " + " | ".join((head, named, *row)) + " |")
    return "\n".join(lines) + "\n"
