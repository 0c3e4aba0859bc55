"""The figures of `ahp stats --format json` by SQL, of the log in the current folder: what ahp is measured against.

It is written for the logs of `bench/scratch_log.py`: one hook of a commit has rules, each line is whole and there once,
and no signal is shadowed, waived, undecided, bypassed, overridden, commented on or an aid; of these it tells nothing.
Episodes, attempts and answers are those of docs/log.md. Prints one JSON object, by rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb

_WORDS = (
    *("kind", "timestamp", "hook", "rule", "subject", "actor", "intensity", "declared", "policy", "digest", "id"),
    *("action", "by", "attempt", "decision"),
)
_COLUMNS = ", ".join(f"\"{word}\": 'VARCHAR'" for word in _WORDS)
_FORGOTTEN = 14 * 86400
_STEPS = f"""
CREATE MACRO strength(level) AS list_position(['aid', 'prompt', 'control', 'block'], level);

CREATE TABLE records AS
SELECT * EXCLUDE (timestamp, actor), epoch(timestamp::TIMESTAMP) AS moment, split_part(actor, ':', 1) AS who
FROM read_json('signals*.jsonl', format = 'newline_delimited',
               columns = {{{_COLUMNS}, n: 'BIGINT', ms: 'DOUBLE', rules: 'JSON[]'}});

CREATE TABLE keyed AS  -- signals and ends, numbered by the episode of their key
SELECT *, sum((before IS NULL OR before = 'episode-end' OR moment - last >= {_FORGOTTEN})::INT)
          OVER (PARTITION BY rule, subject, who ORDER BY n ROWS UNBOUNDED PRECEDING) AS episode
FROM (SELECT *, lag(kind) OVER key AS before, lag(moment) OVER key AS last FROM records
      WHERE kind IN ('signal', 'episode-end') WINDOW key AS (PARTITION BY rule, subject, who ORDER BY n));

CREATE TABLE episodes AS
SELECT *, coalesce(lead(opened) OVER (PARTITION BY rule, subject, who ORDER BY episode) - ended <= 86400, false)
          AS reopened,
       CASE WHEN ended IS NOT NULL THEN 'mended' WHEN forgotten <= epoch(now()) THEN 'forgotten' ELSE 'open' END
          AS state
FROM (SELECT rule, subject, who, episode, min(moment) AS opened,
             max(moment) FILTER (kind = 'signal') + {_FORGOTTEN} AS forgotten,
             min(moment) FILTER (kind = 'episode-end') AS ended, min(n) FILTER (kind = 'episode-end') AS ended_n,
             count(DISTINCT attempt) FILTER (kind = 'signal') AS tries,
             coalesce(bool_or(strength(intensity) > strength(declared)), false) AS raised
      FROM keyed GROUP BY ALL HAVING bool_or(kind = 'signal'));

CREATE TABLE attempts AS  -- and when the subject went on to the next one
SELECT attempt, lead(first_n) OVER going AS next_n, lead(moment) OVER going AS next_moment
FROM (SELECT subject, who, attempt, min(n) AS first_n, min(moment) AS moment
      FROM records WHERE kind IN ('signal', 'verdict') GROUP BY ALL)
WINDOW going AS (PARTITION BY subject, who ORDER BY first_n);

CREATE TABLE responses AS
SELECT id, arg_max(action, n) FILTER ("by" <> 'ahp') AS given, arg_min(action, n) FILTER ("by" = 'ahp') AS noted,
       min(n) FILTER ("by" = 'ahp') AS noted_n,
       min(moment) FILTER ("by" = 'ahp') AS noted_moment,
       bool_or(action = 'dismiss' AND "by" LIKE 'human:%') AS dismissed, bool_or(action = 'proceed_with_risk') AS risked
FROM records WHERE kind = 'response' GROUP BY id;

CREATE TABLE signals AS
SELECT s.rule, s.subject, s.who, s.episode, s.intensity, strength(s.intensity) > strength(s.declared) AS climbed, given,
       dismissed, risked, v.ms, s.attempt,
       row_number() OVER (PARTITION BY s.rule, s.subject, s.who, s.episode, s.attempt ORDER BY s.n) = 1 AS is_first,
       CASE WHEN given IS NOT NULL THEN given
            WHEN s.intensity = 'prompt' AND s.decision <> 'deny' AND next_moment < forgotten
                 AND next_n < least(coalesce(ended_n, 1e18), coalesce(noted_n, 1e18)) THEN 'dismiss'
            WHEN noted_n < coalesce(ended_n, 1e18) AND noted_moment < forgotten THEN noted
            WHEN ended_n IS NOT NULL THEN 'retry_after_fix'
            WHEN forgotten <= epoch(now()) THEN 'abort' END AS answer
FROM keyed s JOIN episodes e USING (rule, subject, who, episode) JOIN attempts t ON t.attempt = s.attempt
LEFT JOIN responses r ON r.id = s.id
LEFT JOIN records v ON v.kind = 'verdict' AND v.attempt = s.attempt AND v.hook = s.hook
WHERE s.kind = 'signal';

CREATE TABLE asked AS
SELECT rule, tenths, sum(many) AS many, sum(sum(many)) OVER (PARTITION BY rule ORDER BY tenths) AS so_far
FROM (SELECT policy, hook, round(ms * 10) AS tenths, count(*) AS many FROM records WHERE kind = 'verdict' GROUP BY ALL)
JOIN (SELECT digest AS policy, rule ->> 0 AS hook, rule ->> 1 AS rule
      FROM (SELECT digest, unnest(rules) AS rule FROM records WHERE kind = 'policy')) USING (policy, hook)
GROUP BY rule, tenths
"""
_ASKED = """
SELECT rule, sum(many)::INT, min(tenths) FILTER (so_far >= ceil(total * 0.5)) / 10,
       min(tenths) FILTER (so_far >= ceil(total * 0.9)) / 10, sum(many)::INT
FROM (SELECT *, sum(many) OVER (PARTITION BY rule) AS total FROM asked) GROUP BY rule
"""
_SPOKE = """
SELECT rule, count(*), count(*) FILTER (is_first), count(*) FILTER (answer IS NULL),
       count(*) FILTER (is_first AND climbed), count(ms), quantile_disc(ms, [0.5, 0.9])
FROM signals GROUP BY rule
"""
_LEVELS = "SELECT rule, intensity, count(*) FROM signals WHERE is_first GROUP BY ALL"
_ANSWERS = """
SELECT rule, answer, count(given), count(*) - count(given) FROM signals WHERE answer IS NOT NULL GROUP BY ALL
"""
_STATES = "SELECT rule, state, count(*) FROM episodes GROUP BY ALL"
_EPISODES = """
SELECT rule, count(*), count(*) FILTER (state = 'mended' AND reopened), count(*) FILTER (raised),
       count(*) FILTER (state = 'mended'),
       quantile_disc(round(ended - opened, 3), [0.5, 0.9]) FILTER (state = 'mended'),
       quantile_disc(tries, [0.5, 0.9]) FILTER (state = 'mended')
FROM episodes GROUP BY rule
"""
_EXCUSED = """
SELECT rule, count(*) FILTER (dismissed), count(*) FILTER (risked), count(*) FILTER (dismissed OR risked)
FROM (SELECT rule, subject, who, episode, bool_or(dismissed) AS dismissed, bool_or(risked) AS risked
      FROM signals GROUP BY ALL) GROUP BY rule
"""


def figures() -> dict[str, dict[str, Any]]:
    """Those of the log in the current folder by rule, in the words of `ahp.insight.stats.Figures`."""
    database = duckdb.connect()
    for step in _STEPS.split(";"):
        database.execute(step)
    found: dict[str, dict[str, Any]] = {}

    def rows(query: str) -> Iterator[tuple[dict[str, Any], list[Any]]]:
        for rule, *values in database.execute(query).fetchall():
            yield found.setdefault(rule, {"levels": {}, "answers": {}, "states": {}, "excuses": {}}), values

    for told, (asked, half, most, many) in rows(_ASKED):
        told |= {"asked": asked, "ms": _spread(many, (half, most))}
    for told, (signals, attempts, unanswered, climbed, many, ms) in rows(_SPOKE):
        told |= {"signals": signals, "attempts": attempts, "unanswered": unanswered, "climbed": climbed}
        told["spoke_ms"] = _spread(many, ms)
    for told, (level, many) in rows(_LEVELS):
        told["levels"][level] = many
    for told, (action, given, derived) in rows(_ANSWERS):
        told["answers"][action] = {"given": given, "derived": derived}
    for told, (state, many) in rows(_STATES):
        told["states"][state] = many
    for told, (episodes, reopened, raised, mended, seconds, tries) in rows(_EPISODES):
        told |= {"episodes": episodes, "reopened": reopened, "raised": raised}
        told |= {"seconds": _spread(mended, seconds), "tries": _spread(mended, tries)}
    for told, (dismissed, risked, excused) in rows(_EXCUSED):
        excuses = {"dismissed": dismissed, "risk taken": risked}
        told |= {"excuses": {why: many for why, many in excuses.items() if many}, "excused": excused}
    return found


def _spread(count: int, quantiles: Sequence[float] | None) -> dict[str, float] | None:
    return {"count": count, "median": quantiles[0], "p90": quantiles[1]} if count and quantiles else None


if __name__ == "__main__":
    print(json.dumps(figures()))
