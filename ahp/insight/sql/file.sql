-- Takes up one file of the log, getvariable('path'), whose first line is number getvariable('first').

CREATE OR REPLACE TEMP TABLE told AS
SELECT kind, hook, skipped, epoch_ms(timestamp) AS moment,
       hash(coalesce(subject, ''), kind_of(actor)) AS who,
       CASE WHEN attempt <> '' THEN hash(attempt) END AS attempt,
       hash(timestamp, hook, host, attempt, subject, actor) AS event,
       hash(host) AS host,
       CASE WHEN change <> '' THEN hash(change) END AS change,
       CASE WHEN ms >= 0 AND ms < 1 << 30 THEN round_even(ms * 10, 0)::BIGINT ELSE -1 END AS tenths,
       hash(coalesce(policy, '')) AS policy,
       hash(coalesce(working, '')) AS working,
       CASE kind WHEN 'verdict' THEN place_of(hook, subject, actor, environment, moment)
                 WHEN 'signal' THEN name_of(rule, hook, subject, actor, environment, moment) END AS name,
       CASE WHEN kind = 'verdict' THEN coalesce(decision = 'deny', false) END AS is_denied,
       CASE WHEN kind = 'verdict' THEN environment_of(environment) END AS environment,
       CASE WHEN kind <> 'verdict' AND id <> '' THEN hash(id) END AS id,
       CASE WHEN kind IN ('signal', 'episode-end')
            THEN hash(family_of(hook), rule, who, CASE WHEN family_of(hook) = 'tool-use' THEN nullif(target, '') END)
       END AS key,
       CASE WHEN kind = 'signal' THEN coalesce(rule, '') END AS rule,
       CASE WHEN kind = 'signal' AND is_true(waived) THEN coalesce(subject, 'None') END AS waived_for,
       CASE WHEN kind = 'signal' AND is_call(hook) THEN coalesce(policy, '') END AS called_by,
       CASE WHEN kind = 'signal' THEN coalesce(intensity, '') END AS level,
       CASE WHEN kind = 'signal'
            THEN SHADOW() * is_true(shadow)::INT + WAIVED() * is_true(waived)::INT
                 + UNDECIDED() * is_true(undecidable)::INT + OVERRIDDEN() * is_true(overrides)::INT
                 + CLIMBED() * coalesce(strength_of(intensity) > strength_of(declared), false)::INT END AS marks,
       CASE WHEN kind = 'signal' THEN intensity IS DISTINCT FROM 'aid' AND commits IS NULL END AS opens,
       CASE WHEN kind = 'signal'
            THEN coalesce(intensity = 'aid' OR intensity = 'prompt' AND decision IS DISTINCT FROM 'deny', false)
       END AS waits,
       CASE WHEN kind = 'signal'
            THEN coalesce(intensity = 'control' AND decision = 'allow_with_modification' AND NOT is_true(advises),
                          false)
       END AS is_modified,
       CASE WHEN kind = 'signal' THEN coalesce(pending = 'true', false) END AS is_pending,
       CASE WHEN kind = 'signal' THEN CASE WHEN forget_after > 0 THEN (forget_after * 1000)::BIGINT
                                           ELSE remembered() END END AS forget_after,
       CASE WHEN kind = 'episode-end' THEN coalesce(covered = '1' AND try_cast(files AS BIGINT) > 1, false) END
       AS is_reset,
       CASE WHEN kind = 'episode-end' THEN coalesce(reason, '') <> 'forgotten' END AS is_ending,
       CASE WHEN kind = 'response' THEN coalesce(action, 'None') END AS action,
       CASE WHEN kind = 'response' THEN coalesce("by", '') END AS giver
FROM read_json(getvariable('path'), format = 'newline_delimited', compression = 'uncompressed', ignore_errors = true,
               timestampformat = '%Y-%m-%dT%H:%M:%S.%gZ',
               columns = {kind: 'VARCHAR', timestamp: 'TIMESTAMP', hook: 'VARCHAR', host: 'VARCHAR', rule: 'VARCHAR',
                          subject: 'VARCHAR', actor: 'VARCHAR', intensity: 'VARCHAR', declared: 'VARCHAR',
                          decision: 'VARCHAR', attempt: 'VARCHAR', change: 'VARCHAR', id: 'VARCHAR',
                          action: 'VARCHAR', "by": 'VARCHAR', policy: 'VARCHAR', working: 'VARCHAR',
                          environment: 'VARCHAR', target: 'VARCHAR', reason: 'VARCHAR', ms: 'DOUBLE',
                          forget_after: 'DOUBLE', covered: 'VARCHAR', files: 'VARCHAR', shadow: 'VARCHAR',
                          waived: 'VARCHAR', undecidable: 'VARCHAR', overrides: 'VARCHAR', pending: 'VARCHAR',
                          commits: 'VARCHAR', advises: 'VARCHAR', skipped: 'VARCHAR'});

CREATE OR REPLACE TEMP TABLE times AS  -- and whether they are told in another way, or run back
SELECT count(*) AS lines, min(moment) FILTER (counts(moment)) AS first, min(moment) AS earliest, max(moment) AS latest,
       count(*) FILTER (is_denied AND counts(moment)) AS denied,
       coalesce(bool_or(moment < before OR kind IS NOT NULL AND moment IS NULL), false) AS is_out_of_order
FROM (SELECT kind, moment, is_denied, lag(moment) OVER () AS before FROM told);

INSERT INTO evaluations
SELECT name, coalesce(hook, 'None'), policy, working, tenths, count(*)
FROM told WHERE kind = 'verdict' AND counts(moment) GROUP BY ALL;

INSERT INTO skips
SELECT skipped_as(name, rule), rule
FROM (SELECT name, coalesce(unnest(from_json(skipped, '["JSON"]')) ->> 'rule', '') AS rule
      FROM told WHERE kind = 'verdict' AND skipped LIKE '[_%]' AND counts(moment));

INSERT INTO verdicts
SELECT rowid + getvariable('first'), who, event, tenths, environment FROM told WHERE kind = 'verdict';

INSERT INTO attempts
SELECT who, attempt, min(host), max(host), bool_or(change IS NOT NULL),
       min(rowid) + getvariable('first'), max(rowid) + getvariable('first'),
       min(rowid) FILTER (is_before(hook)) + getvariable('first'), min(moment) FILTER (is_before(hook))
FROM told WHERE kind IN ('verdict', 'signal') GROUP BY who, attempt;

INSERT INTO signals
SELECT rowid + getvariable('first'), moment, who, key, attempt, event, change, id, forget_after, rule, name, waived_for,
       hook, called_by, level, marks, is_enforced AND opens, is_enforced AND waits, is_enforced AND is_modified,
       is_pending
FROM (SELECT *, rowid, marks & (SHADOW() + WAIVED()) = 0 AS is_enforced FROM told WHERE kind = 'signal');

INSERT INTO responses
SELECT rowid + getvariable('first'), moment, id, action, giver FROM told WHERE kind = 'response';

INSERT INTO ends
SELECT rowid + getvariable('first'), moment, key, who, is_reset FROM told WHERE kind = 'episode-end' AND is_ending;

INSERT INTO others
SELECT rowid + getvariable('first'), kind, id, change
FROM told WHERE kind IS NULL OR kind NOT IN ('verdict', 'signal', 'response', 'episode-end');
