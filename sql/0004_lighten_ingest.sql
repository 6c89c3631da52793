-- Less to write for what is new: a storm of new alerts is held up by the pages that it dirties, and those of an index
-- over random values are all different ones.

-- A payload belongs to one event, and goes with it: nothing has to be looked up before it is stored, or counted before it
-- goes. What repeats an event is no event of its own, so hardly any two bodies were alike.
CREATE TABLE lighter_events (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER REFERENCES services (id),
  alert_id        INTEGER REFERENCES alerts (id),
  source          TEXT    NOT NULL CHECK (source IN ('cluster', 'metrics', 'dashboard', 'ci')),
  kind            TEXT    NOT NULL,                                      -- firing, resolved, heartbeat, test, info, change, success, failure, pipeline, job, other
  name            TEXT    NOT NULL,                                      -- the reason, the alert's name, the project's path
  object          TEXT    NOT NULL,                                      -- what it speaks of: 'Pod/cart-1', 'Ref/main', '' where it names none
  severity        TEXT    NOT NULL CHECK (severity IN ('critical', 'error', 'warning', 'info')),
  text            TEXT    NOT NULL,                                      -- one line for a person
  count           INTEGER NOT NULL DEFAULT 1 CHECK (count > 0),          -- how often the sender itself saw it by then
  awaited         TEXT,                                                  -- 'cluster/namespace/name' of a service that does not exist yet
  at              INTEGER NOT NULL,
  received_at     INTEGER NOT NULL
) STRICT;
INSERT INTO lighter_events
SELECT id, uuid, organization_id, service_id, alert_id, source, kind, name, object, severity, text, count, awaited, at, received_at
FROM events;

-- The body of an event as received, secrets replaced.
CREATE TABLE bodies (
  event_id INTEGER PRIMARY KEY REFERENCES lighter_events (id) ON DELETE CASCADE,
  body     TEXT    NOT NULL CHECK (json_valid(body))
) STRICT;
INSERT INTO bodies SELECT events.id, payloads.body FROM events JOIN payloads ON payloads.id = events.payload_id ORDER BY events.id;

DROP TABLE events;
DROP TABLE payloads;
ALTER TABLE lighter_events RENAME TO events;
ALTER TABLE bodies RENAME TO payloads;

-- The indexes of 0001 and 0003 that still have a use:
-- GET /api/events, newest first
CREATE INDEX events_by_organization ON events (organization_id, at);
-- the same of one service
CREATE INDEX events_by_service ON events (service_id, at) WHERE service_id IS NOT NULL;
-- the newest events of an alert, and its sightings near a change
CREATE INDEX events_by_alert ON events (alert_id, at) WHERE alert_id IS NOT NULL;
-- rollouts, of one service and of a whole organization
CREATE INDEX events_of_change_by_service ON events (service_id, at) WHERE kind = 'change';
CREATE INDEX events_of_change ON events (organization_id, at) WHERE kind = 'change';
-- the events that wait for their service
CREATE INDEX events_awaiting ON events (organization_id, awaited) WHERE awaited IS NOT NULL;
-- the events that are due for pruning, the oldest receipt first: what is told late is older than it is known
CREATE INDEX events_by_receipt ON events (organization_id, received_at);
-- how far back the events reach that the suspects of an incident are ranked from
CREATE INDEX events_of_trouble ON events (organization_id, at) WHERE source = 'cluster' AND kind = 'firing';

-- New alerts are counted by the program, once for all of a transaction; triggers still count what moves and what goes.
DROP TRIGGER alerts_inserted;

-- Every fingerprint under which an active alert was seen; a sender's stands behind the cluster of its token and a line
-- break. Whose a fingerprint or a logical key is, the program keeps in memory: indexes of them had the writes of a storm
-- fall all over the file.
CREATE TABLE fingerprints (
  alert_id    INTEGER NOT NULL REFERENCES active_alerts (alert_id) ON DELETE CASCADE,
  fingerprint TEXT    NOT NULL,
  started_at  INTEGER NOT NULL,                                          -- the latest start that was seen
  ended       INTEGER NOT NULL CHECK (ended IN (0, 1)),
  PRIMARY KEY (alert_id, fingerprint)
) STRICT, WITHOUT ROWID;
INSERT INTO fingerprints SELECT alert_id, fingerprint, started_at, ended FROM active_fingerprints ORDER BY 1, 2;
DROP TABLE active_fingerprints;
ALTER TABLE fingerprints RENAME TO active_fingerprints;
DROP INDEX active_alerts_by_logical_key;

-- How often an active alert that was there already has got another fingerprint: one row. A process that finds another
-- count than its own reads all names again, else only those of the alerts that are new.
CREATE TABLE name_changes (count INTEGER NOT NULL) STRICT;
INSERT INTO name_changes VALUES (0);
