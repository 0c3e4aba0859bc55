"""One reading tells what several of `ahp stats` would, and the episodes that took most attempts one by one."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from ahp.insight import overview, stats
from ahp.insight.stats import Figures, Stats
from ahp.system import clock
from tests.examples import examples

from . import example
from .random_log import START, records_of, steps, write

DAY = 86400.0


def plain(told: Stats) -> dict[str, Any]:
    """Without the order of what was written in the same moment, and of groups of the same figures."""
    groups = {
        one.name: {**asdict(one), "comments": sorted(one.comments)} for one in told.groups if one != Figures(one.name)
    }
    return {**told._asdict(), "groups": groups}


@examples(25, *HealthCheck)
@given(
    steps,
    st.sampled_from([None, None, START + 1, START + 8 * DAY]),
    st.sampled_from([0.0, 5 * DAY, 90 * DAY]),
)
def test_its_figures_are_those_of_stats(told: list[dict[str, Any]], since: float | None, later: float) -> None:
    records = records_of(told)
    now = max(clock.parse_iso(r["timestamp"]) for r in records) + later
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / "ahp", records, told, None)
        asked: Any = {"since": since, "now": now}
        found = overview.collect(folder + "/ahp", **asked)
        by_rule, by_agent = (stats.collect(folder + "/ahp", by, **asked) for by in ("rule", "agent"))
    assert plain(found.rules) == plain(by_rule) and plain(found.actors) == plain(by_agent)
    levels: Counter[str] = Counter()
    for (_, level), many in found.days.items():
        levels[level] += many
    assert levels == sum((Counter(one.levels) for one in by_rule.groups), Counter())
    states = sum((Counter(one.states) for one in by_rule.groups), Counter())
    assert found.open_count == states["open"]
    assert len(found.open) == min(found.open_count, overview.STORIES)
    assert len(found.closed) == min(states.total() - states["open"], overview.STORIES)
    assert not {one.state for one in found.closed} - set(states)


def test_the_episodes_that_took_most_attempts_are_told(tmp_path: Path) -> None:
    found = overview.collect(str(example.write(tmp_path)), now=example.END)
    assert [one.tries for one in found.closed] == sorted((one.tries for one in found.closed), reverse=True)
    first = found.closed[0]
    assert (first.rule, first.state, first.tries) == ("tests", "fixed", 6)
    assert first.ladder == ["block"] * 6 and first.opened < first.ended
    assert all(one.ended == 0 and one.state == "open" for one in found.open) and found.open
