-- Records of many logs, as the `clickhouse` exporters of the OpenTelemetry Collector (contrib) and of rotel write them.
--   clickhouse-client --multiquery < 001_records.sql
-- Each file of this folder runs once, in order. What arrives twice counts once, by log.record.uid.
CREATE DATABASE ahp;
CREATE TABLE ahp.migrations (name String, ran DateTime DEFAULT now()) ENGINE = TinyLog;
INSERT INTO ahp.migrations (name) VALUES ('001_records');

-- What an exporter inserts into (`create_schema: false`). It keeps nothing: `arriving` takes each record on.
CREATE TABLE ahp.otel_logs (
    Timestamp DateTime64(9), TimestampTime DateTime DEFAULT toDateTime(Timestamp),
    TraceId String, SpanId String, TraceFlags UInt8, SeverityText LowCardinality(String), SeverityNumber UInt8,
    ServiceName LowCardinality(String), Body String,
    ResourceSchemaUrl LowCardinality(String), ResourceAttributes Map(LowCardinality(String), String),
    ScopeSchemaUrl LowCardinality(String), ScopeName String, ScopeVersion LowCardinality(String),
    ScopeAttributes Map(LowCardinality(String), String), LogAttributes Map(LowCardinality(String), String),
    EventName String
) ENGINE = Null;

CREATE TABLE ahp.records (
    uid String, log LowCardinality(String), n UInt64,
    at DateTime64(3, 'UTC'),     -- the clone's clock: 1970 and 2099 are possible
    seen DateTime('UTC'),        -- this machine's
    kind LowCardinality(String),
    repository LowCardinality(String), host LowCardinality(String), version LowCardinality(String),
    policy_commit LowCardinality(String), hook LowCardinality(String), rule LowCardinality(String), subject String,
    actor LowCardinality(String), agent LowCardinality(String), intensity LowCardinality(String),
    declared LowCardinality(String), decision LowCardinality(String), action LowCardinality(String),
    by LowCardinality(String), reason LowCardinality(String), id String, correlation_id String,
    waived LowCardinality(String), shadow Bool, body String CODEC(ZSTD(3))
) ENGINE = ReplacingMergeTree
-- Few partitions, whatever clocks say: an insert into more than 100 of them fails.
PARTITION BY if(at BETWEEN '2025-01-01 00:00:00' AND '2049-12-31 23:59:59', toYear(at), 0)
ORDER BY (kind, rule, log, n, uid)
TTL seen + INTERVAL 25 MONTH;

CREATE MATERIALIZED VIEW ahp.arriving TO ahp.records AS
SELECT LogAttributes['log.record.uid'] AS uid, ResourceAttributes['ahp.log'] AS log,
    toUInt64OrZero(LogAttributes['ahp.n']) AS n, Timestamp AS at, now() AS seen, LogAttributes['ahp.kind'] AS kind,
    ResourceAttributes['ahp.repository'] AS repository, ResourceAttributes['host.id'] AS host,
    ResourceAttributes['service.version'] AS version, ResourceAttributes['ahp.policy.commit'] AS policy_commit,
    LogAttributes['ahp.hook'] AS hook, LogAttributes['ahp.rule'] AS rule, LogAttributes['ahp.subject'] AS subject,
    LogAttributes['ahp.actor'] AS actor, LogAttributes['ahp.agent'] AS agent,
    LogAttributes['ahp.intensity'] AS intensity, LogAttributes['ahp.declared'] AS declared,
    LogAttributes['ahp.decision'] AS decision, LogAttributes['ahp.action'] AS action, LogAttributes['ahp.by'] AS by,
    LogAttributes['ahp.reason'] AS reason, LogAttributes['ahp.id'] AS id,
    LogAttributes['ahp.correlation_id'] AS correlation_id, LogAttributes['ahp.waived'] AS waived,
    LogAttributes['ahp.shadow'] = 'true' AS shadow, Body AS body
FROM ahp.otel_logs WHERE ScopeName = 'ahp.journal';

-- Each log: how far it had come by its own word, how much of that is here, and where to send again from.
CREATE VIEW ahp.logs AS
WITH beats AS (
    SELECT log, argMax((n, repository, host, version, policy_commit), (n, seen)) AS beat FROM ahp.records
    WHERE kind = 'heartbeat' GROUP BY log
), heard AS (SELECT log, max(seen) AS last FROM ahp.records GROUP BY log
), numbers AS (SELECT DISTINCT log, n FROM ahp.records WHERE kind != 'heartbeat' AND n > 0
), steps AS (
    SELECT log, n, lagInFrame(n) OVER (PARTITION BY log ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before
    FROM numbers
), found AS (
    SELECT steps.log AS log, beats.beat.1 AS told, countIf(n <= told) AS have, max(n) AS last_n,
        minIf(before + 1, n > before + 1 AND before < told) AS hole
    FROM steps JOIN beats ON beats.log = steps.log GROUP BY log, told
)
SELECT heard.log AS log, beat.2 AS repository, beat.3 AS host, beat.4 AS version, beat.5 AS policy_commit, last,
    beat.1 AS told, told - have AS lost, if(lost = 0, NULL, if(hole > 0, hole, coalesce(last_n, 0) + 1)) AS ship_from
FROM heard LEFT JOIN beats ON beats.log = heard.log LEFT JOIN found ON found.log = heard.log
SETTINGS join_use_nulls = 0;
