-- The data model of incmon.
--
-- Conventions of every table:
--   id    the row's key inside this file: a small rising integer that clients never see
--   uuid  the record's UUID: 16 bytes, version 7 if incmon made it
--   *_at  milliseconds since 1970, UTC
--   text columns that contain JSON say so
-- Every record of an organization has organization_id, and every query names it.
-- A running server keeps what fires in memory. These tables are the history, and what the memory is loaded from.

CREATE TABLE organizations (
  id         INTEGER PRIMARY KEY,
  uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  name       TEXT    NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
  plan       TEXT    NOT NULL CHECK (plan IN ('Free', 'Team', 'Pro')),
  settings   TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
  created_at INTEGER NOT NULL
) STRICT;

-- A token is known by its SHA-256 alone: reading this file gives nobody access.
CREATE TABLE tokens (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  name            TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  hash            BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
  scopes          TEXT    NOT NULL CHECK (json_valid(scopes)),           -- JSON array out of ingest, read, write, admin
  cluster         TEXT    NOT NULL DEFAULT '',                           -- what it ingests belongs to this cluster
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER,
  revoked_at      INTEGER,
  last_used_at    INTEGER                                                -- exact to the minute
) STRICT;
-- GET /api/tokens
CREATE INDEX tokens_by_organization ON tokens (organization_id, id);

-- A monitored workload, node or project. status, score and health are the last evaluation, so that a list reads no alert.
CREATE TABLE services (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  cluster         TEXT    NOT NULL,
  namespace       TEXT    NOT NULL,
  name            TEXT    NOT NULL CHECK (length(name) > 0),
  status          TEXT    NOT NULL DEFAULT 'healthy' CHECK (status IN ('healthy', 'degraded', 'critical')),
  score           INTEGER NOT NULL DEFAULT 100 CHECK (score BETWEEN 0 AND 100),
  health          TEXT    NOT NULL DEFAULT '[]' CHECK (json_valid(health)),  -- JSON [{alertId, reason, penalty}]
  healthy_since   INTEGER,                                               -- when its last condition ended; null while one fires
  suppressed      INTEGER NOT NULL DEFAULT 0 CHECK (suppressed IN (0, 1)), -- a person resolved while the condition fired: nothing opens until it has cleared
  last_alert_at   INTEGER,
  last_event_at   INTEGER,
  created_at      INTEGER NOT NULL,
  evaluate_at     INTEGER,                                               -- when time alone may change the evaluation
  UNIQUE (organization_id, cluster, namespace, name)
) STRICT;

-- A foreign name that a person mapped to a service.
CREATE TABLE aliases (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  kind            TEXT    NOT NULL CHECK (kind IN ('ci-project', 'image', 'label', 'workload')),
  value           TEXT    NOT NULL CHECK (length(value) > 0),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  PRIMARY KEY (organization_id, kind, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_by_service ON aliases (service_id);

-- Project paths under which a service's pulled images can be found: joins a CI project to the service that runs its image.
CREATE TABLE image_projects (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  project         TEXT    NOT NULL,
  service_id      INTEGER NOT NULL REFERENCES services (id),
  PRIMARY KEY (organization_id, project, service_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX image_projects_by_service ON image_projects (service_id);

-- The images that a service has pulled, each once: ties a pipeline's commit to what runs.
CREATE TABLE images (
  service_id INTEGER NOT NULL REFERENCES services (id),
  path       TEXT    NOT NULL,                                           -- without registry, tag and digest
  tag        TEXT    NOT NULL,                                           -- '' where none was written
  pulled_at  INTEGER NOT NULL,                                           -- the last time
  PRIMARY KEY (service_id, path, tag)
) STRICT, WITHOUT ROWID;

-- What people work on.
CREATE TABLE incidents (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  title           TEXT    NOT NULL CHECK (length(title) > 0),
  severity        TEXT    NOT NULL CHECK (severity IN ('critical', 'error', 'warning', 'info')),
  status          TEXT    NOT NULL CHECK (status IN ('open', 'investigating', 'identified', 'monitoring', 'resolved')),
  origin          TEXT    NOT NULL CHECK (origin IN ('manual', 'automatic')),
  cause           TEXT    NOT NULL DEFAULT 'service' CHECK (cause IN ('service', 'silence')), -- silence: a heartbeat stopped
  created_at      INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  acknowledged_at INTEGER,
  resolved_at     INTEGER,
  touched_at      INTEGER,                                               -- the last act of a person
  alert_count     INTEGER NOT NULL DEFAULT 0,
  lowest_score    INTEGER CHECK (lowest_score BETWEEN 0 AND 100),        -- of its service while it lasted
  CHECK ((status = 'resolved') = (resolved_at IS NOT NULL))
) STRICT;
-- GET /api/incidents, newest first
CREATE INDEX incidents_by_organization ON incidents (organization_id, created_at);
-- the incidents of a service
CREATE INDEX incidents_by_service ON incidents (service_id, created_at);
-- the incidents that were under way at a time
CREATE INDEX incidents_by_span ON incidents (organization_id, started_at, resolved_at);
-- what is loaded at the start: the incidents that are not resolved, or were lately
CREATE INDEX incidents_unresolved ON incidents (id) WHERE resolved_at IS NULL;
CREATE INDEX incidents_by_end ON incidents (resolved_at) WHERE resolved_at IS NOT NULL;

-- A condition of a service: many events, one alert. Lists of allowed values have no CHECK here and in events: they would
-- take a third of the time of an insert. tests/store/checks.test.ts checks what the program writes.
CREATE TABLE alerts (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  incident_id     INTEGER REFERENCES incidents (id),
  source          TEXT    NOT NULL,                                      -- cluster, metrics, dashboard, ci
  name            TEXT    NOT NULL,
  severity        TEXT    NOT NULL,                                      -- critical, error, warning, info
  said            TEXT,                                                  -- the sender's own word for the severity
  status          TEXT    NOT NULL,                                      -- firing, resolved
  resolution      TEXT,                                                  -- reported, inferred, expired, manual; null while firing
  summary         TEXT    NOT NULL,
  labels          TEXT    NOT NULL,                                      -- JSON
  annotations     TEXT    NOT NULL,                                      -- JSON
  links           TEXT    NOT NULL,                                      -- JSON
  fingerprint     TEXT    NOT NULL,                                      -- its first one
  failure         TEXT,                                                  -- the kind of failure
  node            TEXT,                                                  -- the node that it concerns or runs on
  rules           TEXT    NOT NULL,                                      -- JSON {service, severity, identity}: the rule of each decision
  evidence        TEXT    NOT NULL,                                      -- JSON {seen, recovered, rollouts, helped}: decides repetition and end
  starts_at       INTEGER NOT NULL,
  ends_at         INTEGER,
  last_seen_at    INTEGER NOT NULL,
  occurrences     INTEGER NOT NULL CHECK (occurrences > 0),
  cluster         TEXT    NOT NULL DEFAULT '',                           -- of the token that sent it
  logical_key     TEXT    NOT NULL DEFAULT '',                           -- identity, second layer
  fingerprints    TEXT,                                                  -- JSON [[fingerprint, startedAt, ended]]; null while it has only its first
  group_id        INTEGER,                                               -- the sender's group, for its delivery interval
  received_at     INTEGER NOT NULL DEFAULT 0,                            -- receipt of its last event
  end_received_at INTEGER,                                               -- receipt of its end; null while firing
  last_event_id   INTEGER,                                               -- its last event; it may have been pruned
  last_event_hash INTEGER NOT NULL DEFAULT 0,                            -- of that event's payload: tells whether a notification repeats it
  settled_at      INTEGER,                                               -- its age counts from here; null while a repeat can reopen it
  CHECK ((status = 'firing') = (ends_at IS NULL)),
  CHECK ((status = 'firing') = (resolution IS NULL))
) STRICT;
-- GET /api/alerts, newest first
CREATE INDEX alerts_by_organization ON alerts (organization_id, starts_at);
-- the same of one service, and its recent alerts
CREATE INDEX alerts_by_service ON alerts (service_id, starts_at);
-- the alerts of an incident; which of them fire, and when the last one ended
CREATE INDEX alerts_by_incident ON alerts (incident_id, ends_at, source) WHERE incident_id IS NOT NULL;
-- GET /api/alerts of a severity or a source: their number and pages are counted along this index
CREATE INDEX alerts_by_kind ON alerts (organization_id, severity, source, starts_at);
-- what is loaded at the start: the alerts that fire, or that a repeat can reopen
CREATE INDEX alerts_live ON alerts (id) WHERE settled_at IS NULL;
-- the alerts that are due for pruning, the oldest first
CREATE INDEX alerts_by_age ON alerts (organization_id, settled_at) WHERE settled_at IS NOT NULL;

-- One accepted webhook item. It never changes, except for the service of an event that came before its service existed.
CREATE TABLE events (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER REFERENCES services (id),
  alert_id        INTEGER REFERENCES alerts (id),
  source          TEXT    NOT NULL,                                      -- cluster, metrics, dashboard, ci
  kind            TEXT    NOT NULL,                                      -- firing, resolved, heartbeat, test, info, change, success, failure, pipeline, job, other
  name            TEXT    NOT NULL,                                      -- the reason, the alert's name, the project's path
  object          TEXT    NOT NULL,                                      -- 'Pod/cart-1', 'Ref/main'; '' if the sender names none
  severity        TEXT    NOT NULL,                                      -- critical, error, warning, info
  text            TEXT    NOT NULL,                                      -- one line for a person
  count           INTEGER NOT NULL DEFAULT 1 CHECK (count > 0),          -- how often the sender itself had counted it
  awaited         TEXT,                                                  -- 'cluster/namespace/name' of a service that does not exist yet
  first_seen_at   INTEGER CHECK (first_seen_at < at),                    -- the first of the occurrences that it counts; null if it counts one
  at              INTEGER NOT NULL,
  received_at     INTEGER NOT NULL
) STRICT;
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

-- The payload of an event as received, secrets replaced. It is deleted with its event.
CREATE TABLE payloads (
  event_id INTEGER PRIMARY KEY REFERENCES events (id) ON DELETE CASCADE,
  body     TEXT    NOT NULL                                              -- JSON
) STRICT;

-- What happened in an incident, by the machine or by people.
CREATE TABLE timeline (
  id          INTEGER PRIMARY KEY,
  incident_id INTEGER NOT NULL REFERENCES incidents (id),
  at          INTEGER NOT NULL,
  kind        TEXT    NOT NULL,                                          -- opened, status, alert, ended, severity, note, edited
  text        TEXT    NOT NULL,
  actor       TEXT,                                                      -- the token's name; null for the machine
  ref         TEXT                                                       -- 'alert/<uuid>', 'event/<uuid>'
) STRICT;
CREATE INDEX timeline_by_incident ON timeline (incident_id, at);
-- whether a record is referred to
CREATE INDEX timeline_by_ref ON timeline (ref) WHERE ref IS NOT NULL;

-- A pipeline, out of all its notifications: a change that may have caused trouble.
CREATE TABLE pipelines (
  id              INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  ref             TEXT    NOT NULL,                                      -- 'group/project#31'
  event_id        INTEGER NOT NULL REFERENCES events (id),               -- the newest of its events
  facts           TEXT    NOT NULL CHECK (json_valid(facts)),            -- JSON: project, branch, sha, status, jobs, …
  starts_at       INTEGER NOT NULL,                                      -- when it touched what runs
  ends_at         INTEGER NOT NULL,                                      -- of one under way: the newest that was heard of it
  UNIQUE (organization_id, ref)
) STRICT;
-- the pipelines near a condition of the same service
CREATE INDEX pipelines_by_service ON pipelines (service_id, starts_at);
-- the pipelines of a whole organization near an incident
CREATE INDEX pipelines_by_organization ON pipelines (organization_id, starts_at);
-- whether an event is referred to
CREATE INDEX pipelines_by_event ON pipelines (event_id);

-- A suspected link between a change and a condition of the same service.
CREATE TABLE correlations (
  id                INTEGER PRIMARY KEY,
  uuid              BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id   INTEGER NOT NULL REFERENCES organizations (id),
  service_id        INTEGER NOT NULL REFERENCES services (id),
  change_kind       TEXT    NOT NULL CHECK (change_kind IN ('pipeline', 'rollout')),
  change_ref        TEXT    NOT NULL,
  change_event_id   INTEGER NOT NULL REFERENCES events (id),
  alert_id          INTEGER NOT NULL REFERENCES alerts (id),
  evidence_event_id INTEGER NOT NULL REFERENCES events (id),
  evidence_count    INTEGER NOT NULL CHECK (evidence_count > 0),
  score             REAL    NOT NULL CHECK (score BETWEEN 0 AND 1),
  band              TEXT    NOT NULL CHECK (band IN ('strong', 'probable', 'possible')),
  reasons           TEXT    NOT NULL CHECK (json_valid(reasons)),        -- JSON [{code, text}]
  lag_seconds       INTEGER NOT NULL,
  verdict           TEXT    CHECK (verdict IN ('confirmed', 'rejected')),
  created_at        INTEGER NOT NULL,
  UNIQUE (alert_id, change_kind, change_ref)
) STRICT;
-- GET /api/correlations, newest first
CREATE INDEX correlations_by_organization ON correlations (organization_id, created_at);
CREATE INDEX correlations_by_service ON correlations (service_id, created_at);
-- the links of a change, when more is heard of it
CREATE INDEX correlations_by_change ON correlations (service_id, change_ref);
-- whether an event is referred to
CREATE INDEX correlations_by_change_event ON correlations (change_event_id);
CREATE INDEX correlations_by_evidence_event ON correlations (evidence_event_id);

-- The document of a resolved incident; a new revision for each resolution.
CREATE TABLE postmortems (
  id           INTEGER PRIMARY KEY,
  uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  incident_id  INTEGER NOT NULL REFERENCES incidents (id),
  revision     INTEGER NOT NULL CHECK (revision > 0),
  state        TEXT    NOT NULL CHECK (state IN ('draft', 'final')),
  document     TEXT    NOT NULL CHECK (json_valid(document)),            -- what the machine found
  edits        TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(edits)),  -- what people wrote
  generated_at INTEGER NOT NULL,
  UNIQUE (incident_id, revision)
) STRICT;

-- Items that could not be used, kept with the reason so that nothing is lost.
CREATE TABLE rejections (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  source          TEXT    NOT NULL CHECK (source IN ('cluster', 'metrics', 'dashboard', 'ci')),
  item            INTEGER NOT NULL,                                      -- its place in the request
  error           TEXT    NOT NULL,
  payload         TEXT    NOT NULL,                                      -- as received, secrets replaced, cut at 64 kB
  received_at     INTEGER NOT NULL
) STRICT;
-- GET /api/rejections, newest first
CREATE INDEX rejections_by_organization ON rejections (organization_id, received_at);

-- Answers already given under an Idempotency-Key, for 24 hours.
CREATE TABLE deliveries (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  source          TEXT    NOT NULL,
  key             TEXT    NOT NULL,
  answer          TEXT    NOT NULL CHECK (json_valid(answer)),
  received_at     INTEGER NOT NULL,
  PRIMARY KEY (organization_id, source, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_by_age ON deliveries (received_at);

-- Who sends: one row for each source, cluster and receiver.
CREATE TABLE senders (
  id              INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  source          TEXT    NOT NULL CHECK (source IN ('cluster', 'metrics', 'dashboard', 'ci')),
  cluster         TEXT    NOT NULL,
  receiver        TEXT    NOT NULL,                                      -- Alertmanager's or Grafana's receiver; '' elsewhere
  events          INTEGER NOT NULL DEFAULT 0,
  rejections      INTEGER NOT NULL DEFAULT 0,
  last_event_at   INTEGER,
  last_rejection_at INTEGER,
  reports_ends    INTEGER NOT NULL DEFAULT 0 CHECK (reports_ends IN (0, 1)), -- has ever sent a resolved item
  longest_gap     INTEGER NOT NULL DEFAULT 0,                            -- of all its groups, milliseconds
  gaps            INTEGER NOT NULL DEFAULT 0,
  heartbeat_at    INTEGER,                                               -- the last heartbeat; null before the first
  heartbeat_gap   INTEGER NOT NULL DEFAULT 0,                            -- the longest usual pause between heartbeats
  heartbeat_due_at INTEGER,                                              -- when its silence becomes an incident; null while silent or never heard
  UNIQUE (organization_id, source, cluster, receiver)
) STRICT;

-- An Alertmanager or Grafana group and its rhythm.
CREATE TABLE groups (
  id           INTEGER PRIMARY KEY,
  sender_id    INTEGER NOT NULL REFERENCES senders (id),
  key          TEXT    NOT NULL,                                         -- digest of the sender's group key
  members      TEXT    NOT NULL,                                         -- digest of the members in the last delivery
  delivered_at INTEGER NOT NULL,
  longest_gap  INTEGER NOT NULL DEFAULT 0,                               -- between deliveries of the same members, milliseconds
  gaps         INTEGER NOT NULL DEFAULT 0,
  UNIQUE (sender_id, key)
) STRICT;

-- How many alerts began when, so that any page of a long history is found by adding a few hundred numbers, and its total
-- with it. The program counts new
-- alerts, once for each batch. Triggers count what is moved or deleted.

-- Of an organization. part: which five minutes (level 0) or which day (level 1) since 1970, UTC.
CREATE TABLE alert_counts (
  organization_id INTEGER NOT NULL,
  level           INTEGER NOT NULL CHECK (level IN (0, 1)),
  part            INTEGER NOT NULL,
  alerts          INTEGER NOT NULL CHECK (alerts > 0),
  PRIMARY KEY (organization_id, level, part)
) STRICT, WITHOUT ROWID;

-- Of a service. The part comes before the service, so that all that happens now is written to the same few pages; which
-- parts to look for, alert_counts knows.
CREATE TABLE service_alert_counts (
  level      INTEGER NOT NULL CHECK (level IN (0, 1)),
  part       INTEGER NOT NULL,
  service_id INTEGER NOT NULL,
  alerts     INTEGER NOT NULL CHECK (alerts > 0),
  PRIMARY KEY (level, part, service_id)
) STRICT, WITHOUT ROWID;

-- The last of a part takes its row along.
CREATE TRIGGER alerts_deleted AFTER DELETE ON alerts BEGIN
  DELETE FROM alert_counts
  WHERE organization_id = old.organization_id AND level = 0 AND part = old.starts_at / 300000 AND alerts = 1;
  UPDATE alert_counts SET alerts = alerts - 1
  WHERE organization_id = old.organization_id AND level = 0 AND part = old.starts_at / 300000;
  DELETE FROM alert_counts
  WHERE organization_id = old.organization_id AND level = 1 AND part = old.starts_at / 86400000 AND alerts = 1;
  UPDATE alert_counts SET alerts = alerts - 1
  WHERE organization_id = old.organization_id AND level = 1 AND part = old.starts_at / 86400000;
  DELETE FROM service_alert_counts
  WHERE level = 0 AND part = old.starts_at / 300000 AND service_id = old.service_id AND alerts = 1;
  UPDATE service_alert_counts SET alerts = alerts - 1
  WHERE level = 0 AND part = old.starts_at / 300000 AND service_id = old.service_id;
  DELETE FROM service_alert_counts
  WHERE level = 1 AND part = old.starts_at / 86400000 AND service_id = old.service_id AND alerts = 1;
  UPDATE service_alert_counts SET alerts = alerts - 1
  WHERE level = 1 AND part = old.starts_at / 86400000 AND service_id = old.service_id;
END;

-- An earlier start learned, or another service: counted where it was no more, and where it is now.
CREATE TRIGGER alerts_moved AFTER UPDATE OF starts_at, service_id, organization_id ON alerts
WHEN new.starts_at <> old.starts_at OR new.service_id <> old.service_id OR new.organization_id <> old.organization_id
BEGIN
  DELETE FROM alert_counts
  WHERE organization_id = old.organization_id AND level = 0 AND part = old.starts_at / 300000 AND alerts = 1;
  UPDATE alert_counts SET alerts = alerts - 1
  WHERE organization_id = old.organization_id AND level = 0 AND part = old.starts_at / 300000;
  DELETE FROM alert_counts
  WHERE organization_id = old.organization_id AND level = 1 AND part = old.starts_at / 86400000 AND alerts = 1;
  UPDATE alert_counts SET alerts = alerts - 1
  WHERE organization_id = old.organization_id AND level = 1 AND part = old.starts_at / 86400000;
  DELETE FROM service_alert_counts
  WHERE level = 0 AND part = old.starts_at / 300000 AND service_id = old.service_id AND alerts = 1;
  UPDATE service_alert_counts SET alerts = alerts - 1
  WHERE level = 0 AND part = old.starts_at / 300000 AND service_id = old.service_id;
  DELETE FROM service_alert_counts
  WHERE level = 1 AND part = old.starts_at / 86400000 AND service_id = old.service_id AND alerts = 1;
  UPDATE service_alert_counts SET alerts = alerts - 1
  WHERE level = 1 AND part = old.starts_at / 86400000 AND service_id = old.service_id;
  INSERT INTO alert_counts VALUES (new.organization_id, 0, new.starts_at / 300000, 1)
  ON CONFLICT DO UPDATE SET alerts = alerts + 1;
  INSERT INTO alert_counts VALUES (new.organization_id, 1, new.starts_at / 86400000, 1)
  ON CONFLICT DO UPDATE SET alerts = alerts + 1;
  INSERT INTO service_alert_counts VALUES (0, new.starts_at / 300000, new.service_id, 1)
  ON CONFLICT DO UPDATE SET alerts = alerts + 1;
  INSERT INTO service_alert_counts VALUES (1, new.starts_at / 86400000, new.service_id, 1)
  ON CONFLICT DO UPDATE SET alerts = alerts + 1;
END;

-- Every record that a postmortem names: 'event/<uuid>', 'alert/<uuid>'. Postmortems are kept, and what they name with them.
CREATE TABLE citations (
  ref           TEXT    NOT NULL,
  postmortem_id INTEGER NOT NULL REFERENCES postmortems (id) ON DELETE CASCADE,
  PRIMARY KEY (ref, postmortem_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX citations_by_postmortem ON citations (postmortem_id);

-- The document decides what it cites, whoever writes it.
CREATE TRIGGER cite_records AFTER INSERT ON postmortems BEGIN
  INSERT OR IGNORE INTO citations (ref, postmortem_id)
    SELECT atom, new.id FROM json_tree(new.document)
    WHERE type = 'text' AND (atom GLOB 'event/????????-*' OR atom GLOB 'alert/????????-*');
END;

-- How far pruning has looked in each organization, so that what is cited is not looked at again for ever.
CREATE TABLE pruning (
  organization_id INTEGER PRIMARY KEY REFERENCES organizations (id),
  events_at       INTEGER NOT NULL DEFAULT 0,                            -- received_at and id of the last event looked at
  events_id       INTEGER NOT NULL DEFAULT 0,
  again_at        INTEGER NOT NULL DEFAULT 0,                            -- the same of those that were cited then, at the limit of alerts
  again_id        INTEGER NOT NULL DEFAULT 0,
  alerts_at       INTEGER NOT NULL DEFAULT 0,                            -- settled_at and id of the last alert looked at
  alerts_id       INTEGER NOT NULL DEFAULT 0,
  waiting         TEXT CHECK (waiting IS NULL OR json_valid(waiting))                       -- JSON of what is not deleted without a person's yes
) STRICT;

-- Times around incidents that are gone: the events that they alone had cited are looked at once more.
CREATE TABLE pruning_spans (
  id              INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  from_at         INTEGER NOT NULL,                                      -- at and id of the last event looked at
  from_id         INTEGER NOT NULL DEFAULT 0,
  to_at           INTEGER NOT NULL
) STRICT;
CREATE INDEX pruning_spans_by_organization ON pruning_spans (organization_id);
