from __future__ import annotations

from typing import Any

import pytest

from ahp.insight.advice import SAMPLE, Advice, advise, never_mended
from ahp.insight.chronicle import Asked
from ahp.insight.stats import Figures, Spread, Stats

DAY = 86400.0


def advice(
    level: str = "prompt", days: float = 90, rule: str = "r", hook: str = "pre-commit", **figures: Any
) -> list[Advice]:
    told = Figures(rule, **{"asked": 1000, "signals": 50, **figures})
    in_force = [Asked(hook, rule, level)]
    return advise(Stats("rule", DAY, DAY + days * DAY, 1000, 0, 0, [told], in_force))


def kinds(**more: Any) -> list[str]:
    return [one.kind for one in advice(**more)]


def mended(count: int, tries: float = 1, seconds: float = 60) -> dict[str, Any]:
    return {"tries": Spread(count, tries, tries), "seconds": Spread(count, seconds, seconds)}


def test_what_is_excused_or_not_mended_is_noise() -> None:
    assert kinds(episodes=20, excused=6, states={"mended": 20}, **mended(20)) == ["noisy"]
    assert kinds(episodes=20, excused=5, states={"mended": 20}, **mended(20)) == []
    (noisy,) = advice(episodes=20, states={"mended": 8, "forgotten": 10, "open": 2}, **mended(8))
    assert (noisy.kind, noisy.change) == ("noisy", "shadow")
    assert noisy.figures == "0% of 20 episodes excused, 56% of 18 not mended"
    (noisy,) = advice("block", episodes=20, states={"overridden": 12, "mended": 8}, **mended(8))
    assert noisy.change == "lower"


def test_waivers_weigh_as_much_as_episodes() -> None:
    (noisy,) = advice(episodes=10, excused=10, excuses={"waived": 10}, states={"mended": 10}, **mended(10))
    assert noisy.figures == "50% of 20 episodes excused, 0% of 10 not mended"


def test_a_tool_call_that_was_not_made_again_is_no_noise() -> None:
    assert kinds(level="block", hook="pre-tool-use", episodes=20, states={"forgotten": 20}) == []
    (noisy,) = advice("block", hook="pre-tool-use", episodes=20, excused=8, states={"forgotten": 20})
    assert noisy.figures == "40% of 20 episodes excused"


def test_a_rule_that_lacks_its_evidence_is_not_called_noisy() -> None:
    told: dict[str, Any] = {"episodes": 20, "excused": 9, "states": {"forgotten": 20}}
    (one,) = advice(undecided=45, passed_over=5, **told)
    assert (one.kind, one.change) == ("undecided", "")
    assert one.figures == "80% of 50 signals only told that a fact is missing"
    assert kinds(undecided=45, passed_over=25, **told) == kinds(undecided=9, passed_over=9, **told) == ["noisy"]
    assert kinds(undecided=40, episodes=5, states={"forgotten": 5}) == []


def test_a_rule_of_tool_calls_and_commits_is_mended_at_commits() -> None:
    hooks = {"calls": ["pre-tool-use"], "both": ["pre-tool-use", "pre-commit"], "commits": ["pre-commit"]}
    in_force = [Asked(hook, rule, "block") for rule, told in hooks.items() for hook in told]
    groups = [Figures(rule, signals=20, episodes=20, states={"forgotten": 20}) for rule in hooks]
    stats = Stats("rule", DAY, 90 * DAY, 1000, 0, 0, groups, in_force)
    assert never_mended(stats) == {"calls"}
    hooked = [Figures("pre-tool-use"), Figures("pre-commit"), Figures("(unknown)")]
    assert never_mended(stats._replace(by="hook", groups=hooked)) == {"pre-tool-use"}
    assert [one.rule for one in advise(stats)] == ["commits"]  # of both nobody knows what was forgotten where


def test_what_takes_many_tries_is_a_blind_spot() -> None:
    (told,) = advice("block", episodes=12, states={"mended": 12}, **mended(12, tries=3, seconds=7200))
    assert told.kind == "blind spot" and not told.change
    assert told.figures == "half of 12 mended episodes took 3 tries and 2h or more"
    assert kinds(level="block", episodes=12, states={"mended": 12}, **mended(12, tries=2)) == []


def test_what_is_mended_at_once_and_never_questioned_may_block() -> None:
    (told,) = advice(episodes=20, states={"mended": 18, "forgotten": 2}, **mended(18))
    assert (told.kind, told.change) == ("effective", "raise")
    assert kinds(level="block", episodes=20, states={"mended": 20}, **mended(20)) == []
    assert kinds(episodes=20, excused=2, states={"mended": 20}, **mended(20)) == []


def test_what_comes_back_within_a_day_flaps_and_is_not_effective() -> None:
    assert kinds(episodes=20, reopened=6, states={"mended": 20}, **mended(20)) == ["flapping"]
    assert kinds(episodes=20, reopened=5, states={"mended": 20}, **mended(20)) == ["effective"]


def test_what_never_speaks_is_dormant_after_a_while() -> None:
    (told,) = advice(signals=0, days=90)
    assert (told.kind, told.change, told.figures) == ("dormant", "disable", "silent in 1,000 evaluations over 90d")
    assert kinds(signals=0, rule="no-private-keys") == kinds(signals=0, rule="test-gate/failed-tests") == []  # of packs
    assert kinds(signals=0, days=20) == kinds(signals=0, asked=199) == kinds(signals=0, undecided=1) == []


@pytest.mark.parametrize("open_ones", [0, 5])
def test_below_the_sample_size_nothing_is_advised(open_ones: int) -> None:
    closed = SAMPLE - 1
    states = {"forgotten": closed, "open": open_ones}
    assert kinds(episodes=closed + open_ones, excused=closed, states=states) == []


def test_a_rule_that_no_policy_has_any_more_gets_no_advice() -> None:
    figures = Figures("gone", asked=1000, signals=50, episodes=20, excused=20, states={"forgotten": 20})
    assert advise(Stats("rule", DAY, 90 * DAY, 1000, 0, 0, [figures], [])) == []
