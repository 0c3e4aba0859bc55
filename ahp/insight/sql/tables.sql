-- What the lines of a log tell, filled by file.sql. A text of which only likeness matters is kept as its hash. `line`
-- numbers lines that are not blank; moments and times are milliseconds since the epoch. A name is that of a group.

CREATE TABLE evaluations (name VARCHAR, hook VARCHAR, policy UBIGINT, working UBIGINT, tenths BIGINT, many BIGINT);
CREATE TABLE skips (name VARCHAR, rule VARCHAR);
CREATE TABLE verdicts (line BIGINT, who UBIGINT, event UBIGINT, tenths BIGINT, environment VARCHAR);

-- Of whom (subject and kind of actor); the lines of an attempt, and the first of them that answers what waited.
CREATE TABLE attempts (who UBIGINT, attempt UBIGINT, host UBIGINT, other_host UBIGINT, tells_change BOOLEAN,
                       first_line BIGINT, last_line BIGINT, going_line BIGINT, going_moment BIGINT);

CREATE TABLE signals (line BIGINT, moment BIGINT, who UBIGINT, key UBIGINT, attempt UBIGINT, event UBIGINT,
                      change UBIGINT, id UBIGINT, forget_after BIGINT, rule VARCHAR, own_name VARCHAR,
                      waived_for VARCHAR, hook VARCHAR, called_by VARCHAR, is_denied BOOLEAN, level VARCHAR,
                      marks INTEGER, opens BOOLEAN, waits BOOLEAN, is_modified BOOLEAN);
CREATE TABLE responses (line BIGINT, moment BIGINT, id UBIGINT, action VARCHAR, giver VARCHAR);
CREATE TABLE ends (line BIGINT, moment BIGINT, key UBIGINT, who UBIGINT, is_reset BOOLEAN);
CREATE TABLE others (line BIGINT, kind VARCHAR, id UBIGINT, change UBIGINT);
