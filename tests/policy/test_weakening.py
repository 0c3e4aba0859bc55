"""What a change does to the policy and to all that belongs to it (authority §2.6)."""

from __future__ import annotations

from textwrap import dedent

import pytest

from ahp.policy import layers
from ahp.policy.problems import PolicyError
from ahp.policy.weakening import Sides

POLICY = """\
version: 1
requires: ">=0.3"
extends: [more.yaml]
limits: {n: 10}
reports: {tests: [out/*.xml]}
rules:
  size: {at: pre-commit, block: files.changed_count > limits.n}
  tests: {at: pre-push, prompt: tests.failed_count > 0, severity: high}
"""
MORE = "version: 1\nrules:\n  tags: {at: pre-push, block: push.is_tag}\n"
WAIVER = "- {{rule: size, subject: {subject}, reason: r, approver: ann, expires: {until}{more}}}\n"
TESTS = "- {name: one, trigger: pre-commit, expect: {decision: allow}}\n- {name: two, trigger: pre-push, expect: {}}\n"


class Tree:
    """A tree out of texts, by path in the policy's folder."""

    def __init__(self, **files: str) -> None:
        self.files = {f".ahp/{name.replace('__', '.').replace('_OF_', '/')}": text for name, text in files.items()}

    def read(self, path: str) -> bytes | None:
        text = self.files.get(path)
        return None if text is None else dedent(text).encode()


def told(old: Tree, new: Tree) -> list[tuple[str, str, str]]:
    """(verdict, part, detail) of what became of the policy."""
    touched = {path for path in old.files.keys() | new.files.keys() if old.files.get(path) != new.files.get(path)}
    return [(one.verdict, one.part, one.detail) for one in Sides(old, new).changes(touched)]


def policy(before: str = "", after: str = "", text: str = POLICY) -> Tree:
    assert before in text
    return Tree(hooks__yaml=text.replace(before, after), more__yaml=MORE)


@pytest.mark.parametrize(
    ("before", "after", "verdict", "part"),
    [
        ("n: 10", "n: 50", "weaker", "condition"),
        ("n: 10", "n: 5", "stronger", "condition"),
        ("extends: [more.yaml]\n", "", "weaker", "rule"),
        ("  size: {at: pre-commit, block: files.changed_count > limits.n}\n", "", "weaker", "rule"),
        ("out/*.xml", "mine/*.xml", "unknown", "tests"),
        ("reports: {tests: [out/*.xml]}\n", "", "unknown", "tests"),
        (", severity: high", "", "weaker", "severity"),
        ('requires: ">=0.3"\n', "", "weaker", "requires"),
        ('">=0.3"', '">=0.2"', "unknown", "requires"),
        ("version: 1\n", "version: 1\nmode: observe\n", "weaker", "shadow"),
        ("version: 1\n", "version: 1\nmode: observe\n", "weaker", "mode"),
        ("version: 1\n", "version: 2\n", "unknown", "file"),
    ],
)
def test_a_change_of_rules_and_what_they_read_has_its_direction(
    before: str, after: str, verdict: str, part: str
) -> None:
    assert (verdict, part) in [one[:2] for one in told(policy(), policy(before, after))]


def test_a_policy_whose_files_are_the_same_is_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(layers, "load", lambda source, load=layers.load: loaded.append(source) or load(source))
    assert Sides(policy(), policy()).rules() == [] and len(loaded) == 1
    changed = policy()
    changed.files[".ahp/more.yaml"] = changed.files[".ahp/more.yaml"].replace("block", "prompt")
    assert {one.key for one in Sides(policy(), changed).rules()} == {"tags"} and len(loaded) == 3


def test_what_means_the_same_is_no_change() -> None:
    same = policy("version: 1\n", "# a comment\nversion: 1\n")
    assert told(policy(), same) == []
    assert told(Tree(), policy()) != []
    assert {verdict for verdict, _, _ in told(Tree(), policy())} == {"stronger"}


def test_an_extended_file_is_part_of_the_policy_and_one_beside_it_is_not() -> None:
    weaker = Tree(hooks__yaml=POLICY, more__yaml=MORE.replace("push.is_tag", "push.is_tag and push.is_force"))
    assert [one[:2] for one in told(policy(), weaker)] == [("weaker", "condition")]
    sides = Sides(policy(), weaker)
    assert [sides.is_part(f".ahp/{name}") for name in ("more.yaml", "hooks.yaml", "notes.yaml")] == [True, True, False]
    only_before = Sides(policy(), policy("extends: [more.yaml]\n"))
    assert only_before.is_part(".ahp/more.yaml")


def test_a_removed_policy_is_one_weakening() -> None:
    assert told(policy(), Tree()) == [("weaker", "file", "the policy is removed")]


@pytest.mark.parametrize("side", [0, 1])
def test_a_side_that_does_not_load_cannot_be_compared(side: int) -> None:
    trees = [policy(), policy("pre-commit", "pre-comit")]
    found = told(trees[side], trees[1 - side])
    assert [one[:2] for one in found] == [("unknown", "file")]
    assert "pre-comit" in found[0][2]
    with pytest.raises(PolicyError, match="pre-comit"):
        Sides(trees[side], trees[1 - side]).compared()


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("", WAIVER.format(subject="main", until="2026-02-01", more=""), "is new"),
        (
            WAIVER.format(subject="main", until="2026-02-01", more=""),
            WAIVER.format(subject="main", until="2026-02-02", more=""),
            "is longer or less bound than before",
        ),
        (
            WAIVER.format(subject="main", until="2026-02-01", more=""),
            WAIVER.format(subject='"*"', until="2026-02-01", more=""),
            "is new",
        ),
        (
            WAIVER.format(subject="main", until="2026-02-01", more=f", digest: 'sha256:{'a' * 64}'"),
            WAIVER.format(subject="main", until="2026-02-01", more=""),
            "is longer or less bound than before",
        ),
    ],
)
def test_a_new_or_longer_waiver_weakens(old: str, new: str, what: str) -> None:
    ((verdict, part, detail),) = told(Tree(waivers__yaml=old), Tree(waivers__yaml=new))
    assert (verdict, part) == ("weaker", "waiver") and detail.endswith(what)
    assert told(Tree(waivers__yaml=new), Tree(waivers__yaml=old)) == []


def test_a_waiver_that_another_one_covers_is_none() -> None:
    wide = WAIVER.format(subject='"*"', until="2026-02-05", more="")
    both = wide + WAIVER.format(subject="main", until="2026-02-01", more="")
    assert told(Tree(waivers__yaml=wide), Tree(waivers__yaml=both)) == []
    assert told(Tree(waivers__yaml=wide), Tree(waivers__yaml="- 5\n"))[0][:2] == ("unknown", "file")


def test_a_new_approver_weakens_and_a_removed_one_does_not() -> None:
    old = "# keys\nann@x ssh-ed25519 AAAA\n\nben@x ssh-ed25519 BBBB\n"
    new = "ann@x ssh-ed25519 AAAA\n# the keys of today\neve@x ssh-ed25519 EEEE\n"
    ((verdict, part, detail),) = told(Tree(approvers=old), Tree(approvers=new))
    assert (verdict, part) == ("weaker", "approver") and "eve@x" in detail
    assert told(Tree(approvers=old), Tree(approvers="ann@x ssh-ed25519 AAAA\n")) == []


def test_a_removed_test_weakens_and_a_moved_one_does_not() -> None:
    first, second = TESTS.splitlines(keepends=True)
    old = Tree(tests_OF_a__yaml=TESTS)
    ((verdict, part, detail),) = told(old, Tree(tests_OF_a__yaml=first))
    assert (verdict, part, detail) == ("weaker", "test", "the test 'two' is removed")
    assert told(old, Tree(tests_OF_a__yaml=first, tests_OF_b__yaml=second)) == []
    assert len(told(old, Tree())) == 2
    assert told(old, Tree(tests_OF_a__yaml="[{"))[0][0] == "unknown"
    assert told(Tree(), old) == []
