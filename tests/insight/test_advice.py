from __future__ import annotations

from typing import Any

import pytest

from ahp.insight.advice import SAMPLE, Advice, Share, advise, never_fixed
from ahp.insight.chronicle import Asked
from ahp.insight.stats import Figures, Spread, Stats
from ahp.policy import layers
from ahp.policy.sources import TextSource

DAY = 86400.0


def advice(
    level: str = "prompt", days: float = 90, rule: str = "r", hook: str = "pre-commit", keys: str = "", **figures: Any
) -> list[Advice]:
    told = Figures(rule, **{"asked": 1000, "signals": 50, **figures})
    in_force = [Asked(hook, rule, level)]
    text = f"version: 1\nextends: [core]\nrules:\n  r: {{at: pre-commit, block: files.changed_count > 5{keys}}}\n"
    policy = layers.load(TextSource(text))
    return advise(Stats("rule", DAY, DAY + days * DAY, 1000, 0, 0, [told], in_force), policy)


def kinds(**more: Any) -> list[str]:
    return [one.kind for one in advice(**more)]


def fixed(count: int, tries: float = 1, at_once: int | None = None, slow: int = 0) -> dict[str, Any]:
    told = {"tries": Spread(count, tries, tries), "seconds": Spread(count, 60, 60), "slow": slow}
    return told | {"at_once": count - slow if at_once is None else at_once}


def test_an_interval_holds_what_it_is_of_and_narrows() -> None:
    few, many = Share.of(8, 10), Share.of(80, 100)
    assert few.low < many.low < 0.8 < many.high < few.high
    assert (round(many.low, 3), round(many.high, 3)) == (0.727, 0.858)
    assert str(many) == "80% (73% to 86%)"
    assert Share.of(0, 10).low == 0 and Share.of(10, 10).high == 1 and Share.of(0, 0)[2:] == (0, 1)


def test_what_is_excused_or_not_fixed_is_noise() -> None:
    assert kinds(episodes=20, excused=10, states={"fixed": 20}, **fixed(20)) == ["noisy"]
    assert kinds(episodes=20, excused=9, states={"fixed": 20}, **fixed(20)) == []  # 45 %, which may be 28 %
    (noisy,) = advice(episodes=20, states={"fixed": 3, "forgotten": 15, "open": 2}, **fixed(3))
    assert (noisy.kind, noisy.change) == ("noisy", "shadow")
    assert noisy.figures == "0% (0% to 12%) of 20 episodes excused, 83% (65% to 93%) of 18 not fixed"
    (noisy,) = advice("block", episodes=20, states={"overridden": 15, "fixed": 5}, **fixed(5))
    assert noisy.change == "lower"


@pytest.mark.parametrize("more", [", severity: high", ", locked: true", ", id: other"])
def test_no_edit_weakens_a_guard_or_a_rule_that_the_policy_does_not_have(more: str) -> None:
    told: dict[str, Any] = {"episodes": 20, "states": {"forgotten": 20}}
    rule = {"rule": "elsewhere"} if "id" in more else {"keys": more}
    (noisy,) = advice("block", **rule, **told)  # type: ignore[arg-type]
    assert (noisy.kind, noisy.change, noisy.do) == ("noisy", "", "narrow its condition")
    assert kinds(signals=0, **rule) == []


def test_waivers_weigh_as_much_as_episodes() -> None:
    (noisy,) = advice(episodes=10, excused=10, excuses={"waived": 10}, states={"fixed": 10}, **fixed(10))
    assert noisy.figures.startswith("50% (33% to 67%) of 20 episodes excused, 0% ")


def test_a_tool_call_that_was_not_made_again_is_no_noise() -> None:
    assert kinds(level="block", hook="pre-tool-use", episodes=20, states={"forgotten": 20}) == []
    (noisy,) = advice("block", hook="pre-tool-use", episodes=20, excused=12, states={"forgotten": 20})
    assert noisy.figures == "60% (42% to 76%) of 20 episodes excused"


def test_a_rule_that_lacks_its_evidence_is_not_called_noisy() -> None:
    told: dict[str, Any] = {"episodes": 20, "excused": 12, "states": {"forgotten": 20}}
    (one,) = advice(undecided=45, passed_over=5, **told)
    assert (one.kind, one.change) == ("undecided", "")
    assert one.figures == "80% (69% to 88%) of 50 signals only told that a fact is missing"
    assert kinds(undecided=45, passed_over=25, **told) == kinds(undecided=9, passed_over=9, **told) == ["noisy"]
    assert kinds(undecided=40, episodes=5, states={"forgotten": 5}) == []


def test_a_rule_of_tool_calls_and_commits_is_fixed_at_commits() -> None:
    hooks = {"calls": ["pre-tool-use"], "both": ["pre-tool-use", "pre-commit"], "commits": ["pre-commit"]}
    in_force = [Asked(hook, rule, "block") for rule, told in hooks.items() for hook in told]
    groups = [Figures(rule, signals=20, episodes=20, states={"forgotten": 20}) for rule in hooks]
    stats = Stats("rule", DAY, 90 * DAY, 1000, 0, 0, groups, in_force)
    assert never_fixed(stats) == {"calls"}
    hooked = [Figures("pre-tool-use"), Figures("pre-commit"), Figures("(unknown)")]
    assert never_fixed(stats._replace(by="hook", groups=hooked)) == {"pre-tool-use"}
    assert [one.rule for one in advise(stats, None)] == ["commits"]  # of both nobody knows what was forgotten where


def test_what_takes_many_tries_is_a_blind_spot() -> None:
    (told,) = advice("block", episodes=12, states={"fixed": 12}, **fixed(12, 3, slow=9))
    assert told.kind == "blind spot" and not told.change
    assert told.figures == "75% (51% to 90%) of 12 fixed episodes took 3 tries or more"
    assert kinds(level="block", episodes=12, states={"fixed": 12}, **fixed(12, 3, slow=6)) == []


def test_what_is_fixed_at_once_and_never_questioned_may_block() -> None:
    (told,) = advice(episodes=20, states={"fixed": 18, "forgotten": 2}, **fixed(18))
    assert (told.kind, told.change) == ("effective", "raise")
    assert kinds(level="block", episodes=20, states={"fixed": 20}, **fixed(20)) == []
    assert kinds(episodes=20, excused=3, states={"fixed": 20}, **fixed(20)) == []


def test_what_comes_back_within_a_day_flaps_and_may_be_neither() -> None:
    flaps = [kinds(episodes=20, reopened=many, states={"fixed": 20}, **fixed(20)) for many in (10, 9, 5, 3, 2)]
    assert flaps == [["flapping"], [], [], [], ["effective"]]


def test_a_prompt_of_the_project_that_never_speaks_is_dormant_after_a_while() -> None:
    (told,) = advice(signals=0, days=90)
    assert (told.kind, told.change, told.figures) == ("dormant", "disable", "silent in 1,000 evaluations over 90d")
    assert told.do.startswith("does a case of `ahp policy test` reach it, or `ahp try r` on older commits?")
    assert kinds(signals=0, level="block") == kinds(signals=0, level="control") == []
    assert kinds(signals=0, rule="no-private-keys") == kinds(signals=0, rule="change-size") == []  # of packs
    assert kinds(signals=0, days=20) == kinds(signals=0, asked=199) == kinds(signals=0, undecided=1) == []


@pytest.mark.parametrize("open_ones", [0, 5])
def test_below_the_sample_size_nothing_is_advised(open_ones: int) -> None:
    closed = SAMPLE - 1
    states = {"forgotten": closed, "open": open_ones}
    assert kinds(episodes=closed + open_ones, excused=closed, states=states) == []


def test_a_rule_that_no_policy_has_any_more_gets_no_advice() -> None:
    figures = Figures("gone", asked=1000, signals=50, episodes=20, excused=20, states={"forgotten": 20})
    assert advise(Stats("rule", DAY, 90 * DAY, 1000, 0, 0, [figures], []), None) == []
