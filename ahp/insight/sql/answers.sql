-- What the tables of tables.sql mean: episodes, attempts and answers, as docs/log.md has them.

CREATE TABLE going AS  -- the attempts of those who have signals, and where each went on to the next
SELECT *, lead(first_line) OVER turn AS after_line, lead(going_line) OVER turn AS answer_line,
       lead(going_moment) OVER turn AS answer_moment
FROM (SELECT who, attempt, min(host) AS host, max(other_host) AS other_host, bool_or(tells_change) AS tells_change,
             min(first_line) AS first_line, max(last_line) AS last_line, min(going_line) AS going_line,
             min(going_moment) AS going_moment
      FROM attempts SEMI JOIN signals USING (who) GROUP BY who, attempt)
WINDOW turn AS (PARTITION BY who ORDER BY first_line);
DROP TABLE attempts;

CREATE TABLE odd AS  -- of whose attempts and answers only the fold can tell
SELECT who FROM going  -- without a name, with two hosts, with another's lines between its own, before a mere aid
WHERE attempt IS NULL OR host <> other_host OR after_line < last_line OR after_line IS NOT NULL AND answer_line IS NULL
UNION SELECT who FROM going WHERE tells_change GROUP BY who HAVING min(host) <> max(host)
UNION SELECT who FROM signals WHERE id IS NULL
UNION SELECT who FROM signals SEMI JOIN (FROM others WHERE kind = 'bypass') USING (change)
UNION SELECT who FROM signals SEMI JOIN (FROM others WHERE kind = 'feedback') USING (id)
UNION SELECT who FROM signals JOIN responses USING (id)
WHERE family_of(hook) = 'tool-use' AND kind_of(giver) = 'human' AND is_reset_by_a_person(action);

CREATE TABLE events AS  -- those with signals; the verdict comes last, and with two of them one is mixed
SELECT *, lead(first_line) OVER (ORDER BY first_line) < coalesce(verdict_line, last_line) AS is_mixed
FROM (SELECT event, min(line) AS first_line, max(line) AS last_line FROM signals GROUP BY event)
LEFT JOIN (SELECT event, line AS verdict_line, tenths, environment FROM verdicts) USING (event);

CREATE VIEW unclear AS  -- what makes the whole log one for the fold
SELECT line FROM others WHERE kind = 'clock'
UNION ALL SELECT first_line FROM events WHERE is_mixed OR verdict_line < last_line
UNION ALL SELECT max(line) FROM signals WHERE id IS NOT NULL GROUP BY id HAVING count(*) > 1;

CREATE VIEW folded AS  -- the lines for the fold; of one without a kind, Python may know more
SELECT line, kind FROM others WHERE kind IS NULL OR kind IN ('policy', 'count', 'feedback', 'bypass')
UNION SELECT line, 'signal' FROM signals SEMI JOIN odd USING (who)
UNION SELECT line, 'verdict' FROM verdicts SEMI JOIN odd USING (who)
UNION SELECT max(line), 'verdict' FROM verdicts HAVING count(*) > 0
UNION SELECT line, 'episode-end' FROM ends SEMI JOIN odd USING (who)
UNION SELECT responses.line, 'response' FROM responses JOIN signals USING (id) SEMI JOIN odd USING (who);

CREATE TABLE keyed AS  -- signals and ends; an episode is known by the line that opened it
SELECT line, moment, key, forget_after, is_end, is_reset,
       is_new OR attempt IS DISTINCT FROM attempt_before AS is_attempt,
       max(CASE WHEN is_new THEN line END) OVER (PARTITION BY key ORDER BY line ROWS UNBOUNDED PRECEDING) AS episode
FROM (SELECT *, lag(attempt) OVER so_far AS attempt_before,
             coalesce(lag(is_end) OVER so_far
                      OR moment - lag(moment) OVER so_far >= lag(forget_after) OVER so_far, true) AS is_new
      FROM (SELECT line, moment, key, attempt, forget_after, false AS is_end, false AS is_reset
            FROM signals ANTI JOIN odd USING (who) WHERE opens
            UNION ALL SELECT line, moment, key, NULL, NULL, true, is_reset FROM ends ANTI JOIN odd USING (who))
      WINDOW so_far AS (PARTITION BY key ORDER BY line));

CREATE TABLE episodes AS
SELECT * EXCLUDE (key),
       coalesce(lead(opened) OVER (PARTITION BY key ORDER BY episode) - ended <= reopened_within()
                AND NOT is_reset, false) AS is_reopened
FROM (SELECT episode, any_value(key) AS key, min(moment) AS opened,
             arg_max(moment + forget_after, line) FILTER (NOT is_end) AS forgotten,
             min(moment) FILTER (is_end) AS ended, min(line) FILTER (is_end) AS ended_line,
             bool_or(is_reset) AS is_reset, count(*) FILTER (is_attempt AND NOT is_end) AS tries
      FROM keyed GROUP BY episode HAVING NOT bool_and(is_end));

-- What came after each signal. One join a table: each takes memory while it lasts.

CREATE TABLE placed AS
SELECT line, episode, is_attempt, ended_line, forgotten FROM keyed JOIN episodes USING (episode) WHERE NOT is_end;
DROP TABLE keyed;

CREATE TABLE waited AS
SELECT line, answer_line, answer_moment
FROM going JOIN (FROM signals ANTI JOIN odd USING (who) WHERE waits) USING (who, attempt) WHERE answer_line IS NOT NULL;
DROP TABLE going;

CREATE TABLE responded AS  -- what somebody answered last, and what ahp noted first
SELECT line, arg_max(action, response_line) FILTER (giver <> 'ahp') AS given,
       arg_min(action, response_line) FILTER (giver = 'ahp') AS noted,
       min(response_line) FILTER (giver = 'ahp') AS noted_line, min(moment) FILTER (giver = 'ahp') AS noted_moment,
       coalesce(bool_or(action = 'dismiss' AND kind_of(giver) = 'human'), false) AS is_dismissed,
       coalesce(bool_or(is_risk(action) AND giver <> 'ahp'), false) AS is_risked
FROM (SELECT signals.line, responses.line AS response_line, responses.moment, action, giver
      FROM signals JOIN responses ON signals.id = responses.id AND signals.line < responses.line)
GROUP BY line;

CREATE TABLE answered AS
SELECT line, episode, coalesce(is_attempt, false) AS is_attempt, given, is_dismissed, is_risked,
       CASE WHEN given IS NOT NULL THEN given
            WHEN is_modified AND episode IS NOT NULL THEN 'accept_modification'
            WHEN coalesce(answer_line < ended_line, answer_line IS NOT NULL)
                 AND coalesce(answer_line < noted_line, true) AND coalesce(answer_moment < forgotten, true)
            THEN CASE level WHEN 'aid' THEN 'suggestion_deferred' ELSE 'dismiss' END
            WHEN (waits OR episode IS NOT NULL) AND coalesce(noted_line < ended_line, noted_line IS NOT NULL)
                 AND coalesce(noted_moment < forgotten, true) THEN noted
            WHEN ended_line IS NOT NULL THEN 'retry_after_fix'
            WHEN is_past(forgotten) THEN 'abort' ELSE '' END AS answer
FROM (SELECT line, level, waits, is_modified FROM signals ANTI JOIN odd USING (who)
      WHERE counts(moment) AND rule IN (FROM wanted))
LEFT JOIN placed USING (line) LEFT JOIN waited USING (line) LEFT JOIN responded USING (line);
DROP TABLE placed;
DROP TABLE waited;
DROP TABLE responded;

CREATE TABLE counted AS  -- the signals that are asked for
SELECT line, event, episode, hook, rule, waived_for, level, answer, given, is_dismissed, is_risked, own_name,
       tenths, marks + ATTEMPT() * is_attempt::INT AS marks,
       CASE WHEN verdict_line IS NULL THEN own_name ELSE judged_as(own_name, environment) END AS name
FROM signals JOIN answered USING (line) LEFT JOIN events USING (event);
DROP TABLE answered;

CREATE TABLE standing AS  -- how each episode stands that such a signal opened
SELECT stands_as(opened_as, known_as) AS name, flags + REOPENED() * is_reopened::INT AS flags, tries,
       round((ended - opened) / 1000.0, 3) AS seconds,
       CASE WHEN is_reset THEN RESET() WHEN ended IS NOT NULL THEN MENDED() WHEN is_past(forgotten) THEN FORGOTTEN()
            ELSE OPEN() END AS state
FROM episodes JOIN (
    SELECT episode, arg_min(name, line) AS opened_as, arg_min(name, line) FILTER (name <> untold()) AS known_as,
           DISMISSED() * coalesce(bool_or(is_dismissed), false)::INT
           + RISKED() * coalesce(bool_or(is_risked), false)::INT
           + PASSED() * bool_or(marks & OVERRIDDEN() <> 0)::INT
           + RAISED() * bool_or(marks & CLIMBED() <> 0)::INT AS flags
    FROM counted WHERE episode IS NOT NULL GROUP BY episode HAVING min(line) = episode) USING (episode);
DROP TABLE episodes;

CREATE VIEW mended AS
SELECT name, list(seconds) AS seconds, list(tries) AS tries
FROM standing WHERE state = MENDED() AND flags & PASSED() = 0 GROUP BY name;

CREATE VIEW calls AS  -- evaluations that no verdict tells: one an event, of which the first signal tells
SELECT placed_as(arg_min(own_name, line)) AS name, arg_min(hook, line) AS hook, arg_min(called_by, line) AS policy,
       arg_min(is_denied, line) AS is_denied
FROM signals ANTI JOIN odd USING (who) WHERE called_by IS NOT NULL AND counts(moment) GROUP BY event;

CREATE VIEW spent AS
SELECT name, hook, policy, working, list(tenths) AS tenths, list(many) AS many
FROM (SELECT * EXCLUDE (many), sum(many)::BIGINT AS many FROM evaluations GROUP BY ALL)
GROUP BY name, hook, policy, working;
