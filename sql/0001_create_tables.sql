-- The data model of incmon.
--
-- Conventions of every table:
--   id    the row id: a small rising integer that clients never see
--   uuid  the UUID of the record: 16 bytes, version 7 if incmon made it
--   *_at  milliseconds since 1970, UTC
--   a text column that contains JSON says so
-- Every record of an organization has organization_id, and every query filters by it.
-- A running server keeps firing alerts and open incidents in memory. It loads them from these tables at the start.

CREATE TABLE organizations (
  id         INTEGER PRIMARY KEY,
  uuid       BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  name       TEXT    NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
  plan       TEXT    NOT NULL CHECK (plan IN ('Free', 'Team', 'Pro')),
  settings   TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(settings)),
  created_at INTEGER NOT NULL,
  last_incident INTEGER NOT NULL DEFAULT 0                               -- the number of its newest incident
) STRICT;

-- A token. Only its SHA-256 is stored, so that nobody can use a token from this file.
CREATE TABLE tokens (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  name            TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  hash            BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
  scopes          TEXT    NOT NULL CHECK (json_valid(scopes)),           -- JSON array of ingest, read, write, admin
  cluster         TEXT    NOT NULL DEFAULT '',                           -- everything that it sends belongs to this cluster
  created_at      INTEGER NOT NULL,
  expires_at      INTEGER,
  revoked_at      INTEGER,
  last_used_at    INTEGER                                                -- exact to the minute
) STRICT;
-- GET /api/tokens
CREATE INDEX tokens_by_organization ON tokens (organization_id, id);

-- A browser that somebody signed in with. Only the SHA-256 of its cookie is stored. token_id is null after a setup link.
CREATE TABLE sessions (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  token_id        INTEGER REFERENCES tokens (id),
  hash            BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
  person          TEXT    NOT NULL CHECK (length(person) <= 100),        -- the display name; if '', the name of the token is shown
  agent           TEXT    NOT NULL,                                      -- browser and system, such as 'Firefox on Linux'
  created_at      INTEGER NOT NULL,
  last_used_at    INTEGER NOT NULL,                                      -- exact to the minute
  expires_at      INTEGER NOT NULL
) STRICT;
-- the list of sessions in the settings
CREATE INDEX sessions_by_organization ON sessions (organization_id, id);
-- the sessions of a token
CREATE INDEX sessions_by_token ON sessions (token_id);
-- the sessions to delete because they are over
CREATE INDEX sessions_by_end ON sessions (expires_at);

-- A link that signs one person in, once. Only its SHA-256 is stored.
CREATE TABLE setup_links (
  hash            BLOB    PRIMARY KEY CHECK (length(hash) = 32),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  expires_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- the setup links to delete because they are too old
CREATE INDEX setup_links_by_end ON setup_links (expires_at);

-- A monitored workload, node or project. status, score and health store the last evaluation, so that a list of services reads no alert.
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
  healthy_since   INTEGER,                                               -- when its last alert ended; null while one fires
  suppressed      INTEGER NOT NULL DEFAULT 0 CHECK (suppressed IN (0, 1)), -- a person resolved an incident while alerts fired: none opens until the service is healthy
  last_alert_at   INTEGER,
  last_event_at   INTEGER,
  created_at      INTEGER NOT NULL,
  evaluate_at     INTEGER,                                               -- when the evaluation may change without an event
  UNIQUE (organization_id, cluster, namespace, name)
) STRICT;

-- How each service was: one row for each change of its status or score, valid until the next row.
CREATE TABLE service_states (
  service_id INTEGER NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  status     TEXT    NOT NULL CHECK (status IN ('healthy', 'degraded', 'critical')),
  score      INTEGER NOT NULL CHECK (score BETWEEN 0 AND 100),
  PRIMARY KEY (service_id, at)
) STRICT, WITHOUT ROWID;

-- A foreign name that a person mapped to a service.
CREATE TABLE aliases (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  kind            TEXT    NOT NULL CHECK (kind IN ('ci-project', 'image', 'label', 'workload')),
  value           TEXT    NOT NULL CHECK (length(value) > 0),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  PRIMARY KEY (organization_id, kind, value)
) STRICT, WITHOUT ROWID;
-- the aliases of a service
CREATE INDEX aliases_by_service ON aliases (service_id);

-- The project paths of the images that a service pulled: they link a CI project to the services that run its images.
CREATE TABLE image_projects (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  project         TEXT    NOT NULL,
  service_id      INTEGER NOT NULL REFERENCES services (id),
  PRIMARY KEY (organization_id, project, service_id)
) STRICT, WITHOUT ROWID;
-- the project paths of a service
CREATE INDEX image_projects_by_service ON image_projects (service_id);

-- The images that a service pulled: they link the commit of a pipeline to the running image.
CREATE TABLE images (
  service_id INTEGER NOT NULL REFERENCES services (id),
  path       TEXT    NOT NULL,                                           -- without registry, tag and digest
  tag        TEXT    NOT NULL,                                           -- '' if the sender named none
  pulled_at  INTEGER NOT NULL,                                           -- when it was last pulled
  PRIMARY KEY (service_id, path, tag)
) STRICT, WITHOUT ROWID;

-- An incident of a service. People use its number, which increases within the organization and is never used again.
CREATE TABLE incidents (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  number          INTEGER NOT NULL DEFAULT 0,                            -- a trigger replaces 0 by the next number
  title           TEXT    NOT NULL CHECK (length(title) > 0),
  severity        TEXT    NOT NULL CHECK (severity IN ('critical', 'error', 'warning', 'info')),
  status          TEXT    NOT NULL CHECK (status IN ('open', 'investigating', 'identified', 'monitoring', 'resolved')),
  origin          TEXT    NOT NULL CHECK (origin IN ('manual', 'automatic')),
  cause           TEXT    NOT NULL DEFAULT 'service' CHECK (cause IN ('service', 'silence')), -- silence: a heartbeat is missing
  created_at      INTEGER NOT NULL,
  started_at      INTEGER NOT NULL,
  acknowledged_at INTEGER,
  resolved_at     INTEGER,
  touched_at      INTEGER,                                               -- the last change by a person
  alert_count     INTEGER NOT NULL DEFAULT 0,
  lowest_score    INTEGER CHECK (lowest_score BETWEEN 0 AND 100),        -- the lowest score of its service during the incident
  CHECK ((status = 'resolved') = (resolved_at IS NOT NULL))
) STRICT;
-- an incident by its number; 0 exists only until the trigger numbers the row
CREATE UNIQUE INDEX incidents_by_number ON incidents (organization_id, number);
-- GET /api/incidents, newest first
CREATE INDEX incidents_by_organization ON incidents (organization_id, created_at);
-- the incidents of a service
CREATE INDEX incidents_by_service ON incidents (service_id, created_at);
-- the incidents that were open at a time
CREATE INDEX incidents_by_span ON incidents (organization_id, started_at, resolved_at);
-- loaded at the start: the incidents that are not resolved
CREATE INDEX incidents_unresolved ON incidents (id) WHERE resolved_at IS NULL;
-- loaded at the start: the incidents that were resolved lately
CREATE INDEX incidents_by_end ON incidents (resolved_at) WHERE resolved_at IS NOT NULL;
-- Numbers a new incident.
CREATE TRIGGER incidents_numbered AFTER INSERT ON incidents WHEN new.number = 0 BEGIN
  UPDATE organizations SET last_incident = last_incident + 1 WHERE id = new.organization_id;
  UPDATE incidents SET number = (SELECT last_incident FROM organizations WHERE id = new.organization_id)
    WHERE id = new.id;
END;

-- A condition of a service. Many events belong to one alert. Columns with a list of allowed values have no CHECK here and
-- in events, because CHECKs would take a third of the time of an insert. tests/store/checks.test.ts checks the values.
CREATE TABLE alerts (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  incident_id     INTEGER REFERENCES incidents (id),
  source          TEXT    NOT NULL,                                      -- cluster, metrics, dashboard, ci
  name            TEXT    NOT NULL,
  severity        TEXT    NOT NULL,                                      -- critical, error, warning, info
  said            TEXT,                                                  -- the severity in the words of the sender
  status          TEXT    NOT NULL,                                      -- firing, resolved
  resolution      TEXT,                                                  -- reported, inferred, expired, manual; null while firing
  summary         TEXT    NOT NULL,
  labels          TEXT    NOT NULL,                                      -- JSON
  annotations     TEXT    NOT NULL,                                      -- JSON
  links           TEXT    NOT NULL,                                      -- JSON
  fingerprint     TEXT    NOT NULL,                                      -- the fingerprint of its first event
  failure         TEXT,                                                  -- the kind of failure
  node            TEXT,                                                  -- the node that it concerns or runs on
  rules           TEXT    NOT NULL,                                      -- JSON {service, severity, identity}: the rule of each decision
  evidence        TEXT    NOT NULL,                                      -- JSON {seen, recovered, rollouts, helped}: decides repetition and end
  starts_at       INTEGER NOT NULL,
  ends_at         INTEGER,
  last_seen_at    INTEGER NOT NULL,
  occurrences     INTEGER NOT NULL CHECK (occurrences > 0),
  cluster         TEXT    NOT NULL DEFAULT '',                           -- of the token that sent it
  logical_key     TEXT    NOT NULL DEFAULT '',                           -- the second key by which a repeat is recognized
  fingerprints    TEXT,                                                  -- JSON [[fingerprint, startedAt, ended]]; null if it has only one
  group_id        INTEGER,                                               -- the group of the sender, which has the delivery interval
  received_at     INTEGER NOT NULL DEFAULT 0,                            -- when its last event was received
  end_received_at INTEGER,                                               -- when its end was received; null while firing
  last_event_id   INTEGER,                                               -- its last event, which may be pruned
  last_event_hash INTEGER NOT NULL DEFAULT 0,                            -- hash of the payload of the last event, to recognize a repeated notification
  settled_at      INTEGER,                                               -- retention counts from here; null while a repeat can reopen it
  CHECK ((status = 'firing') = (ends_at IS NULL)),
  CHECK ((status = 'firing') = (resolution IS NULL))
) STRICT;
-- GET /api/alerts, newest first
CREATE INDEX alerts_by_organization ON alerts (organization_id, starts_at);
-- the alerts of one service, newest first
CREATE INDEX alerts_by_service ON alerts (service_id, starts_at);
-- the alerts of an incident, which of them fire, and when the last one ended
CREATE INDEX alerts_by_incident ON alerts (incident_id, ends_at, source) WHERE incident_id IS NOT NULL;
-- GET /api/alerts with a severity or a source: the total and the pages are counted with this index
CREATE INDEX alerts_by_kind ON alerts (organization_id, severity, source, starts_at);
-- loaded at the start: the alerts that fire, or that a repeat can reopen
CREATE INDEX alerts_live ON alerts (id) WHERE settled_at IS NULL;
-- the alerts to prune, oldest first
CREATE INDEX alerts_by_age ON alerts (organization_id, settled_at) WHERE settled_at IS NOT NULL;

-- One accepted item of a webhook. It never changes, except for service_id if the event came before its service existed.
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
  count           INTEGER NOT NULL DEFAULT 1 CHECK (count > 0),          -- the count that the sender sent
  awaited         TEXT,                                                  -- 'cluster/namespace/name' of a service that does not exist yet
  first_seen_at   INTEGER CHECK (first_seen_at < at),                    -- the first of the counted occurrences; null if there is only one
  at              INTEGER NOT NULL,
  received_at     INTEGER NOT NULL
) STRICT;
-- GET /api/events, newest first
CREATE INDEX events_by_organization ON events (organization_id, at);
-- the events of one service, newest first
CREATE INDEX events_by_service ON events (service_id, at) WHERE service_id IS NOT NULL;
-- the newest events of an alert, and its events near a change
CREATE INDEX events_by_alert ON events (alert_id, at) WHERE alert_id IS NOT NULL;
-- the rollouts of one service
CREATE INDEX events_of_change_by_service ON events (service_id, at) WHERE kind = 'change';
-- the rollouts of an organization
CREATE INDEX events_of_change ON events (organization_id, at) WHERE kind = 'change';
-- the events that wait for their service
CREATE INDEX events_awaiting ON events (organization_id, awaited) WHERE awaited IS NOT NULL;
-- the events to prune, oldest receipt first: an event that came late is older than its receipt
CREATE INDEX events_by_receipt ON events (organization_id, received_at);
-- the Kubernetes events that the suspects of an incident are ranked with
CREATE INDEX events_of_trouble ON events (organization_id, at) WHERE source = 'cluster' AND kind = 'firing';

-- The payload of an event as received, secrets replaced. It is deleted with its event.
CREATE TABLE payloads (
  event_id INTEGER PRIMARY KEY REFERENCES events (id) ON DELETE CASCADE,
  body     TEXT    NOT NULL                                              -- JSON
) STRICT;

-- The timeline of an incident: changes by incmon and by people.
CREATE TABLE timeline (
  id          INTEGER PRIMARY KEY,
  incident_id INTEGER NOT NULL REFERENCES incidents (id),
  at          INTEGER NOT NULL,
  kind        TEXT    NOT NULL,                                          -- opened, reopened, status, alert, ended, note, edited, merged, silence
  text        TEXT    NOT NULL,
  actor       TEXT,                                                      -- the name of the person or token; null for incmon
  ref         TEXT                                                       -- 'alert/<uuid>', 'event/<uuid>'
) STRICT;
-- the timeline of an incident
CREATE INDEX timeline_by_incident ON timeline (incident_id, at);
-- how often an incident was reopened
CREATE INDEX timeline_reopened ON timeline (incident_id) WHERE kind = 'reopened';
-- whether an alert or event is referenced
CREATE INDEX timeline_by_ref ON timeline (ref) WHERE ref IS NOT NULL;

-- A pipeline, merged from all its notifications: a change that may have caused an incident.
CREATE TABLE pipelines (
  id              INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  ref             TEXT    NOT NULL,                                      -- 'group/project#31'
  event_id        INTEGER NOT NULL REFERENCES events (id),               -- its newest event
  facts           TEXT    NOT NULL CHECK (json_valid(facts)),            -- JSON: project, branch, sha, status, jobs, …
  starts_at       INTEGER NOT NULL,                                      -- the start of its deployment
  ends_at         INTEGER NOT NULL,                                      -- the end, or the newest notification while it runs
  UNIQUE (organization_id, ref)
) STRICT;
-- the pipelines of a service near an alert
CREATE INDEX pipelines_by_service ON pipelines (service_id, starts_at);
-- the pipelines of an organization near an incident
CREATE INDEX pipelines_by_organization ON pipelines (organization_id, starts_at);
-- whether an event is referenced
CREATE INDEX pipelines_by_event ON pipelines (event_id);

-- A suspected link between a change and an alert of the same service.
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
-- the links of one service, newest first
CREATE INDEX correlations_by_service ON correlations (service_id, created_at);
-- the links of a change, to update them after a new notification
CREATE INDEX correlations_by_change ON correlations (service_id, change_ref);
-- whether an event is referenced as the change
CREATE INDEX correlations_by_change_event ON correlations (change_event_id);
-- whether an event is referenced as the evidence
CREATE INDEX correlations_by_evidence_event ON correlations (evidence_event_id);

-- The postmortem of an incident. Each time the incident is resolved, a new revision is generated.
CREATE TABLE postmortems (
  id           INTEGER PRIMARY KEY,
  uuid         BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  incident_id  INTEGER NOT NULL REFERENCES incidents (id),
  revision     INTEGER NOT NULL CHECK (revision > 0),
  state        TEXT    NOT NULL CHECK (state IN ('draft', 'final')),
  document     TEXT    NOT NULL CHECK (json_valid(document)),            -- JSON: the generated sections
  edits        TEXT    NOT NULL DEFAULT '{}' CHECK (json_valid(edits)),  -- JSON: the texts of people
  generated_at INTEGER NOT NULL,
  UNIQUE (incident_id, revision)
) STRICT;

-- A rejected item of a webhook, with the error, so that no data is lost.
CREATE TABLE rejections (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  source          TEXT    NOT NULL CHECK (source IN ('cluster', 'metrics', 'dashboard', 'ci')),
  item            INTEGER NOT NULL,                                      -- its index in the request
  error           TEXT    NOT NULL,
  payload         TEXT    NOT NULL,                                      -- as received, secrets replaced, at most 64 kB
  received_at     INTEGER NOT NULL
) STRICT;
-- GET /api/rejections, newest first
CREATE INDEX rejections_by_organization ON rejections (organization_id, received_at);

-- The answer to a request with an Idempotency-Key, stored for 24 hours.
CREATE TABLE idempotency_keys (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  route           TEXT    NOT NULL,                                      -- the source of a webhook, or 'POST /api/incidents'
  key             TEXT    NOT NULL,
  answer          TEXT    NOT NULL CHECK (json_valid(answer)),
  received_at     INTEGER NOT NULL,
  PRIMARY KEY (organization_id, route, key)
) STRICT, WITHOUT ROWID;
-- the keys that are older than 24 hours
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (received_at);

-- A sender: one row for each source, cluster and receiver.
CREATE TABLE senders (
  id              INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  source          TEXT    NOT NULL CHECK (source IN ('cluster', 'metrics', 'dashboard', 'ci')),
  cluster         TEXT    NOT NULL,
  receiver        TEXT    NOT NULL,                                      -- the receiver of Alertmanager or Grafana, otherwise ''
  events          INTEGER NOT NULL DEFAULT 0,
  rejections      INTEGER NOT NULL DEFAULT 0,
  last_event_at   INTEGER,
  last_rejection_at INTEGER,
  reports_ends    INTEGER NOT NULL DEFAULT 0 CHECK (reports_ends IN (0, 1)), -- whether it has ever sent a resolved item
  reports_repeats INTEGER NOT NULL DEFAULT 0 CHECK (reports_repeats IN (0, 1)), -- whether it has ever sent an event with a count above 1
  lag             INTEGER CHECK (lag >= 0),                              -- the shortest time from an event to its receipt, milliseconds
  lag_at          INTEGER,                                               -- when this lag was last seen
  clock           TEXT CHECK (json_valid(clock)),                        -- JSON {offset, candidate, count, since} of a clock that differs from ours
  names_cluster   INTEGER CHECK (names_cluster IN (0, 1)),               -- whether its items or its token name a cluster; null before the first
  longest_gap     INTEGER NOT NULL DEFAULT 0,                            -- the longest delivery interval of its groups, milliseconds
  gaps            INTEGER NOT NULL DEFAULT 0,                            -- the number of measured intervals
  hours           TEXT    NOT NULL DEFAULT '{"last":0,"counts":[]}' CHECK (json_valid(hours)), -- JSON: events in each of the last 24 hours, and which hour is the last
  heartbeat_at    INTEGER,                                               -- the last heartbeat; null before the first
  heartbeat_gap   INTEGER NOT NULL DEFAULT 0,                            -- the longest usual interval between heartbeats, milliseconds
  heartbeat_due_at INTEGER,                                              -- when a missing heartbeat opens an incident; null before the first heartbeat and while it is missing
  UNIQUE (organization_id, source, cluster, receiver)
) STRICT;

-- A group of Alertmanager or Grafana with its delivery interval.
CREATE TABLE groups (
  id           INTEGER PRIMARY KEY,
  sender_id    INTEGER NOT NULL REFERENCES senders (id),
  key          TEXT    NOT NULL,                                         -- digest of the group key of the sender
  members      TEXT    NOT NULL,                                         -- digest of the alerts in the last request
  delivered_at INTEGER NOT NULL,
  longest_gap  INTEGER NOT NULL DEFAULT 0,                               -- the longest interval between requests with the same alerts, milliseconds
  gaps         INTEGER NOT NULL DEFAULT 0,                               -- the number of measured intervals
  UNIQUE (sender_id, key)
) STRICT;

-- The number of alerts by start, for pagination: any page of a long history and its total are found by adding a few hundred
-- numbers. The program counts new alerts once for each batch. Triggers count alerts that are moved or deleted.

-- The alerts of an organization. part: the number of the five minutes (level 0) or of the day (level 1) since 1970, UTC.
CREATE TABLE alert_counts (
  organization_id INTEGER NOT NULL,
  level           INTEGER NOT NULL CHECK (level IN (0, 1)),
  part            INTEGER NOT NULL,
  alerts          INTEGER NOT NULL CHECK (alerts > 0),
  PRIMARY KEY (organization_id, level, part)
) STRICT, WITHOUT ROWID;

-- The alerts of a service. The key begins with the part, so that new alerts are written to the same few pages.
CREATE TABLE service_alert_counts (
  level      INTEGER NOT NULL CHECK (level IN (0, 1)),
  part       INTEGER NOT NULL,
  service_id INTEGER NOT NULL,
  alerts     INTEGER NOT NULL CHECK (alerts > 0),
  PRIMARY KEY (level, part, service_id)
) STRICT, WITHOUT ROWID;

-- Counts a deleted alert. A count that becomes 0 is deleted.
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

-- Counts an alert whose start or service changes.
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

-- The alerts and events that a postmortem references: 'event/<uuid>', 'alert/<uuid>'. They are not pruned.
CREATE TABLE postmortem_references (
  ref           TEXT    NOT NULL,
  postmortem_id INTEGER NOT NULL REFERENCES postmortems (id) ON DELETE CASCADE,
  PRIMARY KEY (ref, postmortem_id)
) STRICT, WITHOUT ROWID;
-- the references of a postmortem
CREATE INDEX postmortem_references_by_postmortem ON postmortem_references (postmortem_id);

-- Stores the references of a new postmortem.
CREATE TRIGGER postmortems_referencing AFTER INSERT ON postmortems BEGIN
  INSERT OR IGNORE INTO postmortem_references (ref, postmortem_id)
    SELECT atom, new.id FROM json_tree(new.document)
    WHERE type = 'text' AND (atom GLOB 'event/????????-*' OR atom GLOB 'alert/????????-*');
END;

-- The position of pruning in each organization, so that referenced records are not checked again and again.
CREATE TABLE pruning (
  organization_id INTEGER PRIMARY KEY REFERENCES organizations (id),
  events_at       INTEGER NOT NULL DEFAULT 0,                            -- received_at and id of the last checked event
  events_id       INTEGER NOT NULL DEFAULT 0,
  again_at        INTEGER NOT NULL DEFAULT 0,                            -- the same for the second check of referenced events, at the limit of alerts
  again_id        INTEGER NOT NULL DEFAULT 0,
  alerts_at       INTEGER NOT NULL DEFAULT 0,                            -- settled_at and id of the last checked alert
  alerts_id       INTEGER NOT NULL DEFAULT 0,
  waiting         TEXT    CHECK (waiting IS NULL OR json_valid(waiting))  -- JSON: the shares that a person must confirm before they are deleted
) STRICT;

-- Periods around deleted incidents: events that only they referenced are checked again.
CREATE TABLE pruning_spans (
  id              INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  from_at         INTEGER NOT NULL,                                      -- at and id of the last checked event
  from_id         INTEGER NOT NULL DEFAULT 0,
  to_at           INTEGER NOT NULL
) STRICT;
-- the periods of an organization
CREATE INDEX pruning_spans_by_organization ON pruning_spans (organization_id);

-- A silence. Alerts that it matches are stored and counted, but open no incident and notify nobody.
CREATE TABLE silences (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  matchers        TEXT    NOT NULL CHECK (json_valid(matchers)),                  -- JSON [{name, op, value}]
  starts_at       INTEGER NOT NULL,
  ends_at         INTEGER NOT NULL,
  schedule        TEXT    CHECK (schedule IS NULL OR json_valid(schedule)),       -- JSON {weekday, from, to, timeZone}; null: all the time
  comment         TEXT    NOT NULL CHECK (length(comment) > 0),
  created_by      TEXT    NOT NULL CHECK (length(created_by) > 0),                -- name of the token that created it
  created_at      INTEGER NOT NULL,
  revision        INTEGER NOT NULL DEFAULT 1 CHECK (revision > 0),                -- counts the changes, so that two editors notice each other
  changes_at      INTEGER                                                         -- when it next begins or ends; null: never
) STRICT;
-- GET /api/silences, and the silences that are loaded at the start
CREATE INDEX silences_by_organization ON silences (organization_id, ends_at);
-- the silences that begin or end now
CREATE INDEX silences_due ON silences (changes_at) WHERE changes_at IS NOT NULL;

-- The silences of a firing alert, and the silences of an ended alert at its end.
CREATE TABLE silenced_alerts (
  alert_id   INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  silence_id INTEGER NOT NULL REFERENCES silences (id),
  PRIMARY KEY (alert_id, silence_id)
) STRICT, WITHOUT ROWID;
-- the alerts of one silence
CREATE INDEX silenced_alerts_by_silence ON silenced_alerts (silence_id);

-- A channel: the receiver of messages about incidents.
CREATE TABLE channels (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  name            TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  kind            TEXT    NOT NULL CHECK (kind IN ('slack', 'discord', 'teams', 'telegram', 'webhook', 'ntfy', 'mail')),
  target          TEXT    NOT NULL,                                      -- the address with its secret parts replaced
  enabled         INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  settings        TEXT    NOT NULL CHECK (json_valid(settings)),         -- JSON {rules, timeZone, remindAfter, remindEvery, escalateAfter}
  failing         TEXT,                                                  -- why the last attempt failed; null if it succeeded
  failing_since   INTEGER,
  delivered_at    INTEGER,                                               -- when a message was last delivered
  created_at      INTEGER NOT NULL,
  UNIQUE (organization_id, name)
) STRICT;

-- The secrets of a channel. Only the code that sends messages reads this table.
CREATE TABLE channel_secrets (
  channel_id     INTEGER PRIMARY KEY REFERENCES channels (id) ON DELETE CASCADE,
  target         TEXT    NOT NULL,                                       -- the whole address
  acknowledging  TEXT    NOT NULL,                                       -- signs links that acknowledge; never leaves the server
  signing        TEXT,                                                   -- whsec_… of a webhook; null for other kinds
  earlier        TEXT,                                                   -- the signing secret before the last rotation
  earlier_until  INTEGER                                                 -- until when messages are also signed with it
) STRICT;

-- Notifications for a channel, stored in the transaction of their cause. Those sent in one message have the same leader.
CREATE TABLE outbox (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL CHECK (length(uuid) = 16),            -- the webhook-id of the message, if this row is the leader
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  channel_id      INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  incident_id     INTEGER REFERENCES incidents (id) ON DELETE SET NULL,  -- null if the incident was deleted
  kind            TEXT    NOT NULL,                                      -- opened, resolved, reminder, …
  actor           TEXT,                                                  -- who did it; null: incmon
  severity_before TEXT,                                                  -- before the severity was raised
  status          TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  leader_id       INTEGER REFERENCES outbox (id) ON DELETE CASCADE,      -- this row or another one; null until it is first sent
  attempts        INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  due_at          INTEGER NOT NULL,                                      -- when it is sent, or tried again
  expires_at      INTEGER NOT NULL,                                      -- when sending is given up
  ended_at        INTEGER,                                               -- when it was delivered or given up
  answer_status   INTEGER,                                               -- the HTTP status of the last answer
  detail          TEXT,                                                  -- why the last attempt failed
  remote_id       TEXT                                                   -- the id of the message at the receiver, for replies
) STRICT;
-- the message that a channel has begun to send, found without reading the pending notifications after it
CREATE INDEX outbox_begun ON outbox (channel_id, status) WHERE status = 'pending' AND leader_id IS NOT NULL;
-- the notifications to send next, and the messages of one channel
CREATE INDEX outbox_by_channel ON outbox (channel_id, status, due_at);
-- GET /api/deliveries
CREATE INDEX outbox_by_organization ON outbox (organization_id, id);
-- reminders and replies of one incident
CREATE INDEX outbox_by_incident ON outbox (incident_id, channel_id);
-- the notifications of one message
CREATE INDEX outbox_by_leader ON outbox (leader_id) WHERE leader_id IS NOT NULL;
-- messages that ended long ago
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL;
