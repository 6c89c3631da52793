-- The problem of an incident: whether it goes on, since when, and for how long. JSON as in src/domain/incident/problem.ts.
ALTER TABLE incidents ADD COLUMN problem TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(problem));
-- who acknowledged the incident; null again when the acknowledgement lapses
ALTER TABLE incidents ADD COLUMN acknowledged_by TEXT;
-- the UUID of the service's last incident, which may have been deleted
ALTER TABLE incidents ADD COLUMN previous BLOB CHECK (previous IS NULL OR length(previous) = 16);

-- What an earlier version recorded: an unresolved incident goes on, a resolved one was critical until its resolution.
UPDATE incidents SET problem = CASE
  WHEN status = 'resolved' THEN json_object('endedAt', resolved_at, 'knownAt', resolved_at,
    'criticalMs', max(0, resolved_at - started_at), 'isOver', json('true'), 'alarmedAt', created_at,
    'firstAcknowledgedAt', acknowledged_at)
  ELSE json_object('since', started_at, 'alarmedAt', created_at, 'firstAcknowledgedAt', acknowledged_at) END;
-- The next sweep finds out which problems go on.
UPDATE services SET evaluate_at = 0 WHERE id IN (SELECT service_id FROM incidents WHERE resolved_at IS NULL);

-- what a message says about its moment: JSON {names: critical conditions, wasWrong: a disproved all-clear}
ALTER TABLE outbox ADD COLUMN facts TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(facts));
-- whether the message belongs to the digest of a flapping incident
ALTER TABLE outbox ADD COLUMN is_digest INTEGER NOT NULL DEFAULT 0 CHECK (is_digest IN (0, 1));
-- the message as it was sent, with the state that justified it: JSON {title, body, problem, status}; set for the leader
ALTER TABLE outbox ADD COLUMN sent TEXT CHECK (sent IS NULL OR json_valid(sent));

-- Why a channel did not get a message: no rule matched, quiet hours, a silence, or the message was no longer true.
CREATE TABLE untold (
  id              INTEGER PRIMARY KEY,
  incident_id     INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  channel_id      INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  kind            TEXT    NOT NULL,                                      -- opened, recovered, …
  at              INTEGER NOT NULL,
  reason          TEXT    NOT NULL                                       -- rule, quiet-hours, silence, over, changed
) STRICT;
-- the timeline of an incident
CREATE INDEX untold_by_incident ON untold (incident_id, at);
-- deletes the entries of a channel together with the channel
CREATE INDEX untold_by_channel ON untold (channel_id);

-- Rules named `recovered` by an earlier name. Rules for opened incidents also covered the kinds that had no name.
UPDATE channels SET settings = json_set(settings, '$.rules', (
  SELECT json_group_array(json(CASE WHEN json_type(rule.value, '$.events') IS NULL THEN rule.value
    ELSE json_set(rule.value, '$.events', (
      SELECT json_group_array(name) FROM (
        SELECT CASE value WHEN 'monitoring' THEN 'recovered' ELSE value END AS name FROM json_each(rule.value, '$.events')
        UNION
        SELECT value FROM json_each('["group","worse","again","flapping","reminder","escalation","still-firing"]')
        WHERE EXISTS (SELECT 1 FROM json_each(rule.value, '$.events') WHERE value = 'opened')
      ))) END))
  FROM json_each(settings, '$.rules') AS rule
)) WHERE json_array_length(settings, '$.rules') > 0;
