"""`authority`: the branches that have a policy of their own (authority §4)."""

from __future__ import annotations

import pytest

from ahp.policy import layers
from ahp.policy.problems import PolicyError
from ahp.policy.sources import TextSource
from ahp.policy.weakening import Sides
from tests.conftest import Repo

RULES = "rules: {a: {at: pre-push, block: push.is_force}}\n"


@pytest.mark.parametrize("given", ["release/*", "[release/*, refs/heads/stable]", "[]", "[{ref: a/*, alone: true}, b]"])
def test_patterns_of_branches_load(given: str) -> None:
    loaded = layers.load(TextSource(f"authority: {given}\n{RULES}")).raw.setting("authority")
    assert isinstance(loaded, list)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ("refs/tags/*", "`authority` names branches"),
        ("'[a'", "`authority`: '[a'"),
        ("refs/heads/", "`authority`: 'refs/heads/': an empty glob matches nothing"),
        ("3", "authority"),
        ("'a b'", "no name of a branch has a blank in it"),
        ("{ref: a, alone: 2}", "alone"),
    ],
)
def test_what_names_no_branch_is_refused(given: str, wrong: str) -> None:
    with pytest.raises(PolicyError, match="policy:1") as caught:
        layers.load(TextSource(f"authority: [{given}]\n{RULES}"))
    assert wrong in str(caught.value)


class _Tree:
    def __init__(self, text: str) -> None:
        self.text = text

    def read(self, path: str) -> bytes | None:
        return self.text.encode() if path == ".ahp/hooks.yaml" else None


def test_another_list_cannot_be_compared() -> None:
    changes = Sides(_Tree(RULES), _Tree("authority: [release/*]\n" + RULES)).compared()
    assert [(one.part, one.verdict, one.place.line) for one in changes] == [("authority", "unknown", 1)]
    assert Sides(_Tree(RULES), _Tree("authority: []\n" + RULES)).compared() == []


def test_a_persons_own_layer_names_none(repo: Repo, tmp_path: object) -> None:
    from ahp.policy.sources import FileSource

    repo.write(".ahp/hooks.yaml", RULES)
    repo.write(".ahp/hooks.local.yaml", "authority: [x]\n")
    with pytest.raises(PolicyError, match="belongs to the project's policy"):
        layers.load(FileSource(str(repo.root), ""))
