"""Which rules match: Kleene logic, filters, items, costly facts (design §4)."""

from __future__ import annotations

from typing import Any

import pytest

from ahp.facts.gather import gather
from ahp.gate.match import Facts, Hit, Matcher
from ahp.policy.judge import working
from tests.gate.conftest import Desk


def hits(desk: Desk, rules: str, trigger: str = "pre-commit", **given: Any) -> list[Hit]:
    desk.policy(rules)
    event = desk.event(trigger, "dry", **given)
    program = working(event)
    return Matcher(program).run(Facts(program, event))


def rule(condition: str, more: str = "") -> str:
    return f'rules:\n  r: {{at: pre-issue-submit, block: "{condition}"{more}}}\n'


@pytest.mark.parametrize(
    ("condition", "outcome"),
    [
        ("tests.failed_count > 0 and files.changed_count > 5", None),
        ("files.changed_count > 5 and tests.failed_count > 0", None),
        ("tests.failed_count > 0 or files.changed_count == 1", True),
        ("files.changed_count == 1 or tests.failed_count > 0", True),
        ("tests.failed_count > 0 and files.changed_count == 1", "tests.failed_count"),
        ("files.changed_count > 5 or tests.failed_count > 0", "tests.failed_count"),
        ("not (tests.failed_count > 0)", "tests.failed_count"),
        ("has(tests.failed_count) and tests.failed_count > 0", None),
    ],
)
def test_false_and_unknown_is_false_true_or_unknown_is_true(desk: Desk, condition: str, outcome: object) -> None:
    found = hits(desk, rule(condition), "pre-issue-submit", tests={}, files={"changed_count": 1})
    if outcome is None:
        assert found == []
        return
    (hit,) = found
    if outcome is True:
        assert hit.undecided is None
    else:
        assert hit.undecided is not None
        assert (hit.undecided.kind, hit.undecided.path) == ("missing_fact", outcome)


def hooks(when: str, condition: str = "files.changed_count > 0") -> str:
    return (
        "hooks:\n  pre-issue-submit:\n    when: " + f'"{when}"\n    oracles:\n'
        f'      - {{name: o, rules: [{{id: r, condition: "{condition}", intensity: block}}]}}\n'
    )


def test_a_filter_that_does_not_hold_keeps_its_rules_from_being_asked(desk: Desk) -> None:
    desk.policy(hooks("tests.failed_count > 0"))
    event = desk.event("pre-issue-submit", "dry", tests={"failed_count": 0}, files={"changed_count": 1})
    program = working(event)
    matcher = Matcher(program)
    assert matcher.run(Facts(program, event)) == []
    assert matcher.filtered == {"o/r"}
    event = desk.event("pre-issue-submit", "dry", tests={"failed_count": 1}, files={"changed_count": 1})
    (hit,) = matcher.run(Facts(program, event))
    assert (hit.key, hit.undecided, matcher.filtered) == ("o/r", None, set())


def test_an_undecidable_filter_makes_its_hits_undecidable(desk: Desk) -> None:
    (hit,) = hits(desk, hooks("tests.failed_count > 0"), "pre-issue-submit", tests={}, files={"changed_count": 1})
    assert hit.undecided is not None
    assert hit.undecided.path == "tests.failed_count"
    assert hits(desk, hooks("tests.failed_count > 0"), "pre-issue-submit", tests={}, files={"changed_count": 0}) == []


EACH = 'rules:\n  r: {at: pre-commit, each: p in files.changed, block: "%s", finding: {file: p}}\n'


def test_each_finds_the_items_that_hold(desk: Desk) -> None:
    (hit,) = hits(desk, EACH % "p.endswith('.pem')", files={"changed": ["a", "b.pem", "c.pem"]})
    assert (hit.items, hit.undecided) == (["b.pem", "c.pem"], None)
    assert hits(desk, EACH % "p.endswith('.pem')", files={"changed": []}) == []


def test_each_over_a_missing_list_is_undecided(desk: Desk) -> None:
    (hit,) = hits(desk, EACH % "p.endswith('.pem')", files={})
    assert hit.undecided is not None
    assert hit.items is None


def test_an_item_that_holds_outweighs_one_that_is_unknown(desk: Desk) -> None:
    text = EACH % "p == 'bad' or (p == 'odd' and branch.name == 'main')"
    (hit,) = hits(desk, text, files={"changed": ["odd", "bad"]}, branch={})
    assert (hit.items, hit.undecided) == (["bad"], None)
    (hit,) = hits(desk, text, files={"changed": ["odd"]}, branch={})
    assert hit.undecided is not None


COSTLY = """\
facts:
  lint: {{run: [lint], parse: exit, timeout: 5s}}
rules:
  cheap: {{at: pre-commit, block: files.changed_count > 5}}
  lint: {{at: pre-commit, block: "{condition}"}}
  last: {{at: pre-commit, prompt: files.changed_count > 0}}
"""


@pytest.mark.parametrize(("count", "asked"), [(0, 0), (1, 1)])
def test_a_command_runs_only_when_a_rule_cannot_be_decided_without_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, count: int, asked: int
) -> None:
    text = COSTLY.format(condition="files.changed_count > 0 and lint.exit_code != 0")
    gathered = []

    def spy(reads: Any, event: Any, settings: Any) -> Any:
        if "lint" in reads:
            gathered.append(dict(reads))
            return {"lint.exit_code": 1}, {}
        return gather(reads, event, settings)

    monkeypatch.setattr("ahp.gate.match.gather", spy)
    found = hits(desk, text, files={"changed_count": count})
    assert len(gathered) == asked
    assert [hit.key for hit in found] == (["lint", "last"] if asked else [])


def test_a_command_that_nobody_accepted_stays_missing(desk: Desk) -> None:
    found = hits(desk, COSTLY.format(condition="lint.exit_code != 0"), files={"changed_count": 0})
    (hit,) = found
    assert (hit.key, hit.undecided is not None) == ("lint", True)
