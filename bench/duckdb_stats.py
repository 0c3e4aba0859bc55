"""What SQL can tell of the log in the current folder that `ahp stats` tells too: signals, answers, times until mended.

No attempts, no ladders, no answers that nobody typed: only a reading in order tells these.
"""

from __future__ import annotations

import duckdb

_WORDS = ("kind", "timestamp", "hook", "rule", "subject", "actor", "intensity", "policy", "correlation_id")
_COLUMNS = ", ".join(f"\"{word}\": 'VARCHAR'" for word in (*_WORDS, "id", "action", "by"))
_READ = f"""
CREATE TABLE records AS FROM
 read_json('signals*.jsonl', format = 'newline_delimited', columns = {{{_COLUMNS}, ms: 'DOUBLE'}})
"""
_QUERIES = """
SELECT rule, intensity, count(*), count(DISTINCT correlation_id) FROM records WHERE kind = 'signal' GROUP BY ALL;
SELECT policy, hook, count(*), quantile_disc(ms, [0.5, 0.9]) FROM records WHERE kind = 'verdict' GROUP BY ALL;
SELECT s.rule, a.action, a.by, count(*) FROM records s JOIN records a ON a.id = s.id AND a.kind = 'response'
 WHERE s.kind = 'signal' GROUP BY ALL;
SELECT s.rule, quantile_disc(epoch(e.ended) - epoch(s.begun), [0.5, 0.9]) FROM
 (SELECT rule, correlation_id, min(timestamp)::TIMESTAMP begun FROM records WHERE kind = 'signal' GROUP BY ALL) s JOIN
 (SELECT correlation_id, max(timestamp)::TIMESTAMP ended FROM records WHERE kind = 'episode-end' GROUP BY ALL) e
 USING (correlation_id) GROUP BY ALL
"""


def main() -> None:
    database = duckdb.connect()
    database.execute(_READ)
    for query in _QUERIES.split(";"):
        database.execute(query).fetchall()


if __name__ == "__main__":
    main()
