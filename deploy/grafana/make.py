"""Writes the dashboards: `python deploy/grafana/make.py`. Each panel's question stands here once a store."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
SOURCES = {"postgresql": "grafana-postgresql-datasource", "clickhouse": "grafana-clickhouse-datasource"}
FILES = {"postgresql": "ahp.json", "clickhouse": "ahp-clickhouse.json"}

# Title: kind, height, and the question for PostgreSQL and for ClickHouse.
PANELS = {
    "Rules": (
        "table",
        9,
        """SELECT rule, count(*) AS signals, count(DISTINCT (log, correlation_id)) AS episodes,
  count(*) FILTER (WHERE intensity = 'block') AS blocks, count(*) FILTER (WHERE waived IS NOT NULL) AS waived,
  count(DISTINCT repository) AS repositories
FROM ahp.records WHERE kind = 'signal' AND $__timeFilter(at) GROUP BY rule ORDER BY episodes DESC, rule""",
        """SELECT rule, count() AS signals, uniqExact(log, correlation_id) AS episodes,
  countIf(intensity = 'block') AS blocks, countIf(waived != '') AS waived,
  uniqExactIf(repository, repository != '') AS repositories
FROM ahp.records FINAL WHERE kind = 'signal' AND $__timeFilter(at) GROUP BY rule ORDER BY episodes DESC, rule""",
    ),
    "Agents against people": (
        "table",
        5,
        """SELECT CASE WHEN actor LIKE 'agent%' THEN 'agents' ELSE 'people' END AS who, count(*) AS signals,
  count(*) FILTER (WHERE intensity = 'block') AS blocks
FROM ahp.records WHERE kind = 'signal' AND $__timeFilter(at) GROUP BY 1 ORDER BY 1""",
        """SELECT if(actor LIKE 'agent%', 'agents', 'people') AS who, count() AS signals,
  countIf(intensity = 'block') AS blocks
FROM ahp.records FINAL WHERE kind = 'signal' AND $__timeFilter(at) GROUP BY who ORDER BY who""",
    ),
    "Answers": (
        "table",
        9,
        """SELECT s.rule, a.action, a.by = 'ahp' AS nobody_typed_it, count(*) AS answers
FROM ahp.records s JOIN ahp.records a ON a.log = s.log AND a.id = s.id AND a.kind = 'response'
WHERE s.kind = 'signal' AND $__timeFilter(s.at) GROUP BY 1, 2, 3 ORDER BY answers DESC, 1, 2""",
        """SELECT s.rule AS rule, a.action AS action, a.by = 'ahp' AS nobody_typed_it, count() AS answers
FROM (SELECT * FROM ahp.records FINAL WHERE kind = 'signal' AND $__timeFilter(at)) AS s
JOIN (SELECT log, id, action, by FROM ahp.records FINAL WHERE kind = 'response') AS a ON a.log = s.log AND a.id = s.id
GROUP BY rule, action, nobody_typed_it ORDER BY answers DESC, rule, action""",
    ),
    "Open and climbing": (
        "table",
        9,
        """SELECT s.rule, s.subject, s.repository, count(*) AS signals, min(s.at) AS since,
  (array_agg(s.intensity ORDER BY s.n DESC))[1] AS level, bool_or(s.intensity <> s.declared) AS climbed
FROM ahp.records s LEFT JOIN ahp.records e
  ON e.kind = 'episode-end' AND e.log = s.log AND e.correlation_id = s.correlation_id
WHERE s.kind = 'signal' AND $__timeFilter(s.at) AND e.uid IS NULL AND s.shadow IS NOT TRUE
  AND s.correlation_id IS NOT NULL
GROUP BY s.log, s.correlation_id, s.rule, s.subject, s.repository
HAVING max(s.at) > now() - interval '14 days' ORDER BY climbed DESC, since LIMIT 200""",
        """SELECT rule, subject, repository, count() AS signals, min(at) AS since, argMax(intensity, n) AS level,
  max(intensity != declared) AS climbed
FROM ahp.records FINAL WHERE kind = 'signal' AND $__timeFilter(at) AND NOT shadow AND correlation_id != ''
  AND (log, correlation_id) NOT IN (SELECT log, correlation_id FROM ahp.records WHERE kind = 'episode-end')
GROUP BY log, correlation_id, rule, subject, repository
HAVING max(at) > now() - INTERVAL 14 DAY ORDER BY climbed DESC, since LIMIT 200""",
    ),
    "Overrides and waivers": (
        "table",
        9,
        """SELECT s.rule, CASE WHEN s.waived IS NOT NULL THEN 'waived' ELSE a.action END AS how, count(*) AS signals,
  count(DISTINCT s.repository) AS repositories
FROM ahp.records s LEFT JOIN ahp.records a
  ON a.kind = 'response' AND a.log = s.log AND a.id = s.id AND a.action = 'proceed_with_risk'
WHERE s.kind = 'signal' AND $__timeFilter(s.at) AND (s.waived IS NOT NULL OR a.uid IS NOT NULL)
GROUP BY 1, 2 ORDER BY signals DESC, 1, 2""",
        """SELECT rule, if(waived != '', 'waived', 'proceed_with_risk') AS how, count() AS signals,
  uniqExactIf(repository, repository != '') AS repositories
FROM ahp.records FINAL WHERE kind = 'signal' AND $__timeFilter(at) AND (waived != '' OR (log, id) IN
  (SELECT log, id FROM ahp.records WHERE kind = 'response' AND action = 'proceed_with_risk'))
GROUP BY rule, how ORDER BY signals DESC, rule, how""",
    ),
    "Silent clones": (
        "table",
        7,
        """SELECT coalesce(repository, log) AS clone, host, last FROM ahp.logs
WHERE last < now() - interval '3 days' ORDER BY last""",
        """SELECT if(repository = '', log, repository) AS clone, host, last FROM ahp.logs
WHERE last < now() - INTERVAL 3 DAY ORDER BY last""",
    ),
    "Records that a store lost": (
        "table",
        7,
        """SELECT log, repository, lost, 'ahp log ship --from ' || ship_from AS mend FROM ahp.logs
WHERE lost > 0 ORDER BY lost DESC""",
        """SELECT log, repository, lost, 'ahp log ship --from ' || toString(ship_from) AS mend FROM ahp.logs
WHERE lost > 0 ORDER BY lost DESC""",
    ),
    "Versions": (
        "table",
        7,
        """SELECT version, policy_commit, count(*) AS clones FROM ahp.logs
WHERE told IS NOT NULL GROUP BY 1, 2 ORDER BY clones DESC""",
        """SELECT version, policy_commit, count() AS clones FROM ahp.logs
WHERE told > 0 GROUP BY version, policy_commit ORDER BY clones DESC""",
    ),
    "Signals a day": (
        "timeseries",
        8,
        """SELECT date_trunc('day', at) AS time, count(*) AS signals,
  count(*) FILTER (WHERE intensity = 'block') AS blocks
FROM ahp.records WHERE kind = 'signal' AND $__timeFilter(at) GROUP BY 1 ORDER BY 1""",
        """SELECT toStartOfDay(at) AS time, count() AS signals, countIf(intensity = 'block') AS blocks
FROM ahp.records FINAL WHERE kind = 'signal' AND $__timeFilter(at) GROUP BY time ORDER BY time""",
    ),
    "The rule $rule: subjects": (
        "table",
        9,
        """SELECT repository, subject, count(*) AS signals, count(DISTINCT (log, correlation_id)) AS episodes,
  max(at) AS last
FROM ahp.records WHERE kind = 'signal' AND $__timeFilter(at) AND rule = '$rule'
GROUP BY 1, 2 ORDER BY signals DESC, 1, 2 LIMIT 200""",
        """SELECT repository, subject, count() AS signals, uniqExact(log, correlation_id) AS episodes,
  max(at) AS last
FROM ahp.records FINAL WHERE kind = 'signal' AND $__timeFilter(at) AND rule = '$rule'
GROUP BY repository, subject ORDER BY signals DESC, repository, subject LIMIT 200""",
    ),
}
RULES = "SELECT DISTINCT rule FROM ahp.records WHERE kind = 'signal' ORDER BY rule"

# Uid: title, what to do, and the question whose answer has to be 0.
ALERTS = {
    "ahp-silent": (
        "Clones are silent",
        "No record for three days: is `ahp log ship` still run there?",
        "SELECT count(*) AS value FROM ahp.logs WHERE last < now() - interval '3 days'",
        "SELECT count() AS value FROM ahp.logs WHERE last < now() - INTERVAL 3 DAY",
    ),
    "ahp-lost": (
        "The store lost records",
        "Send again: the panel `Records that a store lost` has the command.",
        "SELECT count(*) AS value FROM ahp.logs WHERE lost > 0",
        "SELECT count() AS value FROM ahp.logs WHERE lost > 0",
    ),
    "ahp-chain": (
        "A log does not fit what it was",
        "Two records have one number: the log was cut, copied or written anew. Run `ahp log verify` there.",
        """SELECT count(*) AS value FROM (SELECT log, n FROM ahp.records WHERE kind <> 'heartbeat'
  GROUP BY log, n HAVING count(DISTINCT uid) > 1) twice""",
        """SELECT count() AS value FROM (SELECT log, n FROM ahp.records WHERE kind != 'heartbeat'
  GROUP BY log, n HAVING uniqExact(uid) > 1)""",
    ),
    "ahp-behind": (
        "A clone is on an older policy than the newest that its repository has",
        "For more than three days: is its branch stale, or does nobody pull there?",
        """WITH first AS (SELECT repository, policy_commit, min(seen) AS began FROM ahp.records
  WHERE repository IS NOT NULL AND policy_commit IS NOT NULL GROUP BY 1, 2),
newest AS (SELECT repository, max(began) AS latest FROM first WHERE began < now() - interval '3 days' GROUP BY 1)
SELECT count(*) AS value FROM ahp.logs l JOIN first USING (repository, policy_commit) JOIN newest USING (repository)
WHERE l.last > now() - interval '3 days' AND began < latest""",
        """WITH first AS (SELECT repository, policy_commit, min(seen) AS began FROM ahp.records
  WHERE repository != '' AND policy_commit != '' GROUP BY repository, policy_commit),
newest AS (SELECT repository, max(began) AS latest FROM first WHERE began < now() - INTERVAL 3 DAY GROUP BY repository)
SELECT count() AS value FROM ahp.logs AS l
JOIN first ON first.repository = l.repository AND first.policy_commit = l.policy_commit
JOIN newest ON newest.repository = l.repository
WHERE l.last > now() - INTERVAL 3 DAY AND began < latest""",
    ),
    "ahp-blocks": (
        "A rule blocks far more than last week",
        "See its messages: a new version of the policy, or something that broke everywhere?",
        """SELECT count(*) AS value FROM (
  SELECT rule FROM ahp.records WHERE kind = 'signal' AND intensity = 'block'
    AND at BETWEEN now() - interval '8 days' AND now()
  GROUP BY rule HAVING count(*) FILTER (WHERE at > now() - interval '1 day') >= 20
    AND count(*) FILTER (WHERE at > now() - interval '1 day') * 7
      > 3 * count(*) FILTER (WHERE at <= now() - interval '1 day')
) rules""",
        """SELECT count() AS value FROM (
  SELECT rule, countIf(at > now() - INTERVAL 1 DAY) AS today, countIf(at <= now() - INTERVAL 1 DAY) AS before
  FROM ahp.records FINAL WHERE kind = 'signal' AND intensity = 'block' AND at BETWEEN now() - INTERVAL 8 DAY AND now()
  GROUP BY rule HAVING today >= 20 AND today * 7 > 3 * before)""",
    ),
}


def dashboard(store: str) -> dict[str, object]:
    source = {"type": SOURCES[store], "uid": "${source}"}
    panels, y = [], 0
    for number, (title, (kind, height, *questions)) in enumerate(PANELS.items(), 1):
        target = {"refId": "A", "rawSql": questions[store == "clickhouse"]}
        if store == "clickhouse":
            target |= {"editorType": "sql", "queryType": kind, "format": 1 if kind == "table" else 0}  # type: ignore[dict-item]
        else:
            target |= {"format": "time_series" if kind == "timeseries" else "table", "rawQuery": True}  # type: ignore[dict-item]
        place = {"x": 0, "y": y, "w": 24, "h": height}
        panels.append(
            {"id": number, "title": title, "type": kind, "datasource": source, "gridPos": place, "targets": [target]}
        )
        y += height
    variables = [
        {"name": "source", "type": "datasource", "query": SOURCES[store]},
        {"name": "rule", "type": "query", "datasource": source, "query": RULES, "refresh": 1},
    ]
    return {
        "title": "ahp",
        "uid": "ahp" if store == "postgresql" else "ahp-clickhouse",
        "schemaVersion": 39,
        "time": {"from": "now-30d", "to": "now"},
        "templating": {"list": variables},
        "panels": panels,
    }


def alerts(store: str) -> dict[str, object]:
    rules = []
    over = {"evaluator": {"type": "gt", "params": [0]}}
    for uid, (title, summary, *questions) in ALERTS.items():
        model = {"refId": "A", "format": "table", "rawQuery": True, "rawSql": questions[store == "clickhouse"]}
        if store == "clickhouse":
            model = {"refId": "A", "editorType": "sql", "queryType": "table", "format": 1, "rawSql": model["rawSql"]}
        asked = {"refId": "A", "datasourceUid": "ahp", "relativeTimeRange": {"from": 86400, "to": 0}, "model": model}
        weighed = {"refId": "B", "type": "threshold", "expression": "A", "conditions": [over]}
        rules.append(
            {
                "uid": uid,
                "title": title,
                "condition": "B",
                "for": "15m",
                "annotations": {"summary": summary},
                "data": [asked, {"refId": "B", "datasourceUid": "__expr__", "model": weighed}],
            }
        )
    group = {"orgId": 1, "name": "ahp", "folder": "ahp", "interval": "10m", "rules": rules}
    return {"apiVersion": 1, "groups": [group]}


def files() -> dict[Path, str]:
    """The text of each file by its path."""
    made = {HERE / FILES[store]: dashboard(store) for store in FILES}
    made |= {HERE / FILES[store].replace("ahp", "alerts", 1): alerts(store) for store in FILES}
    return {path: json.dumps(told, indent=2) + "\n" for path, told in made.items()}


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text)
