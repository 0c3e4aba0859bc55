-- Records of many logs, as an OpenTelemetry Collector's `file` exporter writes them: one request of OTLP/JSON a line.
--   psql -v ON_ERROR_STOP=1 -1 -f 001_records.sql
-- Each file of this folder runs once, in order. What is loaded twice counts once, by log.record.uid.
CREATE SCHEMA ahp;
CREATE TABLE ahp.migrations (name text PRIMARY KEY, ran timestamptz NOT NULL DEFAULT now());
INSERT INTO ahp.migrations (name) VALUES ('001_records');

-- COPY fills it, `SELECT ahp.take()` empties it. A line is quoted as CSV with signs that JSON never has:
--   COPY ahp.arrived (line) FROM STDIN WITH (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')
CREATE UNLOGGED TABLE ahp.arrived (line jsonb NOT NULL);

CREATE TABLE ahp.records (
    uid text NOT NULL,
    log text NOT NULL,
    n bigint,
    at timestamptz NOT NULL,                 -- the clone's clock: 1970 and 2099 are possible
    seen timestamptz NOT NULL DEFAULT now(), -- this machine's
    kind text NOT NULL,
    repository text, host text, version text, policy_commit text,
    hook text, rule text, subject text, actor text, agent text, intensity text, declared text,
    decision text, action text, by text, reason text, id text, correlation_id text, waived text, shadow boolean,
    body text,
    PRIMARY KEY (uid, at)
) PARTITION BY RANGE (at);
CREATE TABLE ahp.records_default PARTITION OF ahp.records DEFAULT;
CREATE INDEX ON ahp.records (rule, at) INCLUDE (log, correlation_id, intensity) WHERE kind = 'signal';
CREATE INDEX ON ahp.records (log, id) WHERE kind = 'response';
CREATE INDEX ON ahp.records (log, n);

CREATE FUNCTION ahp.attributes(given jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_object_agg(one ->> 'key', coalesce(one -> 'value' ->> 'stringValue', one -> 'value' ->> 'intValue',
        one -> 'value' ->> 'doubleValue', one -> 'value' ->> 'boolValue')), '{}')
    FROM jsonb_array_elements(coalesce(given, '[]')) one
$$;

-- Takes what has arrived; how many records were new. Months from two years back to the next one have a partition each;
-- whatever other time a clock says goes to the default one and fails nothing.
CREATE FUNCTION ahp.take() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    month timestamptz;
    taken bigint;
BEGIN
    LOCK TABLE ahp.arrived IN EXCLUSIVE MODE;
    CREATE TEMPORARY TABLE told ON COMMIT DROP AS
        SELECT ahp.attributes(everything -> 'resource' -> 'attributes') AS r, ahp.attributes(one -> 'attributes') AS a,
            to_timestamp(coalesce(nullif((one ->> 'timeUnixNano')::numeric, 0),
                (one ->> 'observedTimeUnixNano')::numeric) / 1e9) AS at,
            one -> 'body' ->> 'stringValue' AS body
        FROM ahp.arrived, jsonb_array_elements(line -> 'resourceLogs') everything,
            jsonb_array_elements(everything -> 'scopeLogs') scope, jsonb_array_elements(scope -> 'logRecords') one
        WHERE scope -> 'scope' ->> 'name' = 'ahp.journal';
    FOR month IN
        SELECT DISTINCT date_trunc('month', at, 'UTC') FROM told
        WHERE at BETWEEN now() - interval '24 months' AND now() + interval '1 month'
    LOOP
        EXECUTE format('CREATE TABLE IF NOT EXISTS ahp.%I PARTITION OF ahp.records FOR VALUES FROM (%L) TO (%L)',
            'records_' || to_char(month AT TIME ZONE 'UTC', 'YYYY_MM'), month,
            (month AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC');
    END LOOP;
    INSERT INTO ahp.records (uid, log, n, at, kind, repository, host, version, policy_commit, hook, rule, subject, actor,
        agent, intensity, declared, decision, action, by, reason, id, correlation_id, waived, shadow, body)
    SELECT a ->> 'log.record.uid', r ->> 'ahp.log', (a ->> 'ahp.n')::bigint, at, a ->> 'ahp.kind', r ->> 'ahp.repository',
        r ->> 'host.id', r ->> 'service.version', r ->> 'ahp.policy.commit', a ->> 'ahp.hook', a ->> 'ahp.rule',
        a ->> 'ahp.subject', a ->> 'ahp.actor', a ->> 'ahp.agent', a ->> 'ahp.intensity', a ->> 'ahp.declared',
        a ->> 'ahp.decision', a ->> 'ahp.action', a ->> 'ahp.by', a ->> 'ahp.reason', a ->> 'ahp.id',
        a ->> 'ahp.correlation_id', a ->> 'ahp.waived',
        (a ->> 'ahp.shadow')::boolean, body
    FROM told
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS taken = ROW_COUNT;
    TRUNCATE ahp.arrived;
    DROP TABLE told;
    RETURN taken;
END
$$;

-- Each log: how far it had come by its own word, how much of that is here, and where to send again from.
CREATE VIEW ahp.logs AS
WITH beats AS (
    SELECT DISTINCT ON (log) log, n AS told, repository, host, version, policy_commit FROM ahp.records
    WHERE kind = 'heartbeat' ORDER BY log, n DESC, seen DESC
), seen AS (SELECT log, max(seen) AS last FROM ahp.records GROUP BY log
), numbers AS (SELECT DISTINCT log, n FROM ahp.records WHERE kind <> 'heartbeat' AND n IS NOT NULL
), holes AS (SELECT log, n, lead(n) OVER (PARTITION BY log ORDER BY n) AS following FROM numbers)
SELECT log, repository, host, version, policy_commit, seen.last, told,
    told - (SELECT count(*) FROM numbers WHERE numbers.log = seen.log AND n <= told) AS lost,
    CASE WHEN NOT EXISTS (SELECT FROM numbers WHERE numbers.log = seen.log AND n = 1) THEN 1
         ELSE (SELECT min(n) + 1 FROM holes WHERE holes.log = seen.log AND n < told AND following IS DISTINCT FROM n + 1)
    END AS ship_from
FROM seen LEFT JOIN beats USING (log);
