-- Takes up one file of the log, getvariable('path'), whose first line is number getvariable('first').

CREATE OR REPLACE TEMP TABLE told AS
SELECT kind, epoch_ms(timestamp) AS moment, hook, rule, intensity, declared, decision, action, "by" AS giver, target,
       reason, ms, forget_after, covered, files, shadow, waived, undecidable, overrides, advises, skipped,
       commits IS NULL AS opens,
       told_by(hook, subject, actor, environment, moment) AS name,
       CASE WHEN is_true(waived) THEN coalesce(subject, 'None') END AS waived_for,
       hash(coalesce(subject, ''), kind_of(actor)) AS who,
       CASE WHEN attempt <> '' THEN hash(attempt) END AS attempt,
       hash(timestamp, hook, host, attempt, subject, actor) AS event,
       hash(host) AS host,
       coalesce(change <> '', false) AS tells_change,
       CASE WHEN kind <> 'verdict' AND change <> '' THEN hash(change) END AS change,
       CASE WHEN kind <> 'verdict' AND id <> '' THEN hash(id) END AS id,
       CASE WHEN kind = 'signal' AND is_call(hook) THEN coalesce(policy, '') END AS called_by,
       hash(coalesce(policy, '')) AS policy,
       hash(coalesce(working, '')) AS working
FROM read_json(getvariable('path'), format = 'newline_delimited', compression = 'uncompressed', ignore_errors = true,
               timestampformat = '%Y-%m-%dT%H:%M:%S.%gZ',
               columns = {kind: 'VARCHAR', timestamp: 'TIMESTAMP', hook: 'VARCHAR', host: 'VARCHAR', rule: 'VARCHAR',
                          subject: 'VARCHAR', actor: 'VARCHAR', intensity: 'VARCHAR', declared: 'VARCHAR',
                          decision: 'VARCHAR', attempt: 'VARCHAR', change: 'VARCHAR', id: 'VARCHAR',
                          action: 'VARCHAR', "by": 'VARCHAR', policy: 'VARCHAR', working: 'VARCHAR',
                          environment: 'VARCHAR', target: 'VARCHAR', reason: 'VARCHAR', ms: 'DOUBLE',
                          forget_after: 'DOUBLE', covered: 'VARCHAR', files: 'VARCHAR', shadow: 'VARCHAR',
                          waived: 'VARCHAR', undecidable: 'VARCHAR', overrides: 'VARCHAR',
                          commits: 'VARCHAR', advises: 'VARCHAR', skipped: 'VARCHAR'});

CREATE OR REPLACE TEMP TABLE times AS  -- and whether they are told in another way, or run back
SELECT count(*) AS lines, min(moment) FILTER (counts(moment)) AS first, min(moment) AS earliest, max(moment) AS latest,
       count(*) FILTER (kind = 'verdict' AND decision = 'deny' AND counts(moment)) AS denied,
       coalesce(bool_or(moment < before OR kind IS NOT NULL AND moment IS NULL), false) AS is_out_of_order
FROM (SELECT kind, moment, decision, lag(moment) OVER () AS before FROM told);

INSERT INTO evaluations
SELECT coalesce(name, untold()), coalesce(hook, 'None'), policy, working, tenths_of(ms), count(*)
FROM told WHERE kind = 'verdict' AND counts(moment) GROUP BY ALL;

INSERT INTO skips
SELECT coalesce(name, rule), rule
FROM (SELECT name, coalesce(unnest(from_json(skipped, '["JSON"]')) ->> 'rule', '') AS rule
      FROM told WHERE kind = 'verdict' AND skipped LIKE '[_%]' AND counts(moment));

INSERT INTO verdicts
SELECT rowid + getvariable('first'), who, event, tenths_of(ms), environment_of(name) FROM told WHERE kind = 'verdict';

INSERT INTO attempts
SELECT who, attempt, min(host), max(host), bool_or(tells_change),
       min(rowid) + getvariable('first'), max(rowid) + getvariable('first'),
       min(rowid) FILTER (is_before(hook)) + getvariable('first'), min(moment) FILTER (is_before(hook))
FROM told WHERE kind IN ('verdict', 'signal') GROUP BY who, attempt;

INSERT INTO signals
SELECT rowid + getvariable('first'), moment, who, key_of(hook, rule, who, target), attempt, event, change, id,
       CASE WHEN forget_after > 0 THEN (forget_after * 1000)::BIGINT ELSE remembered() END,
       coalesce(rule, ''), coalesce(name, nullif(rule, ''), untold()), waived_for, hook, called_by,
       coalesce(decision = 'deny', false), coalesce(intensity, ''), marks,
       is_enforced AND opens AND intensity IS DISTINCT FROM 'aid',
       is_enforced AND coalesce(intensity = 'aid' OR intensity = 'prompt' AND decision IS DISTINCT FROM 'deny', false),
       is_enforced AND coalesce(intensity = 'control' AND decision = 'allow_with_modification', false)
       AND NOT is_true(advises)
FROM (SELECT *, rowid, marks & (SHADOW() + WAIVED()) = 0 AS is_enforced
      FROM (SELECT *, rowid,
                   SHADOW() * is_true(shadow)::INT + WAIVED() * is_true(waived)::INT
                   + UNDECIDED() * is_true(undecidable)::INT + OVERRIDDEN() * is_true(overrides)::INT
                   + CLIMBED() * coalesce(strength_of(intensity) > strength_of(declared), false)::INT AS marks
            FROM told WHERE kind = 'signal'));

INSERT INTO responses
SELECT rowid + getvariable('first'), moment, id, coalesce(action, 'None'), coalesce(giver, '')
FROM told WHERE kind = 'response';

INSERT INTO ends
SELECT rowid + getvariable('first'), moment, key_of(hook, rule, who, target), who,
       coalesce(covered = '1' AND try_cast(files AS BIGINT) > 1, false)
FROM told WHERE kind = 'episode-end' AND coalesce(reason, '') <> 'forgotten';

INSERT INTO others
SELECT rowid + getvariable('first'), kind, id, change
FROM told WHERE kind IS NULL OR kind NOT IN ('verdict', 'signal', 'response', 'episode-end');
