-- The data model of incmon.
--
-- Conventions of every table:
--   id    the row's key inside this file: small, rising, never shown
--   uuid  the record's public name (16 bytes, version 7 where we make it)
--   *_at  milliseconds since 1970, UTC
--   text columns that hold JSON say so and are checked
-- What belongs to a tenant bears organization_id, and every query names it.

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
  healthy_since   INTEGER,                                               -- null while not healthy
  believed        INTEGER NOT NULL DEFAULT 0 CHECK (believed IN (0, 1)), -- a person resolved during trouble: nothing opens until it cleared
  last_alert_at   INTEGER,
  last_event_at   INTEGER,
  created_at      INTEGER NOT NULL,
  evaluate_at     INTEGER,                                               -- when time alone may change the evaluation
  UNIQUE (organization_id, cluster, namespace, name)
) STRICT;
-- the lookup of known workloads by name alone, for joining CI projects
CREATE INDEX services_by_name ON services (organization_id, name);
-- the sweeper's queue
CREATE INDEX services_due ON services (evaluate_at) WHERE evaluate_at IS NOT NULL;

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

-- Bodies as received, secrets replaced, each different one once.
CREATE TABLE payloads (
  id   INTEGER PRIMARY KEY,
  hash INTEGER NOT NULL,                                                 -- 48 bits of SHA-256: narrow; the body decides
  body TEXT    NOT NULL CHECK (json_valid(body))
) STRICT;
-- "is this body stored already?"
CREATE INDEX payloads_by_hash ON payloads (hash);

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
-- the open and the last incident of a service
CREATE INDEX incidents_by_service ON incidents (service_id, created_at);

-- A condition of a service: many events, one alert.
CREATE TABLE alerts (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER NOT NULL REFERENCES services (id),
  incident_id     INTEGER REFERENCES incidents (id),
  source          TEXT    NOT NULL CHECK (source IN ('cluster', 'metrics', 'dashboard', 'ci')),
  name            TEXT    NOT NULL,
  severity        TEXT    NOT NULL CHECK (severity IN ('critical', 'error', 'warning', 'info')),
  said            TEXT,                                                  -- the sender's own word for the severity
  status          TEXT    NOT NULL CHECK (status IN ('firing', 'resolved')),
  resolution      TEXT    CHECK (resolution IN ('reported', 'inferred', 'expired', 'manual')),
  summary         TEXT    NOT NULL,
  labels          TEXT    NOT NULL CHECK (json_valid(labels)),
  annotations     TEXT    NOT NULL CHECK (json_valid(annotations)),
  links           TEXT    NOT NULL CHECK (json_valid(links)),
  fingerprint     TEXT    NOT NULL,                                      -- its first one
  failure         TEXT,                                                  -- what kind of failure it speaks of
  node            TEXT,                                                  -- the node that it concerns or runs on
  rules           TEXT    NOT NULL CHECK (json_valid(rules)),            -- JSON {service, severity, identity}: the rule of each decision
  evidence        TEXT    NOT NULL CHECK (json_valid(evidence)),         -- JSON {seen, recovered, rollouts}: what decides its repetition and end
  starts_at       INTEGER NOT NULL,
  ends_at         INTEGER,
  last_seen_at    INTEGER NOT NULL,
  occurrences     INTEGER NOT NULL CHECK (occurrences > 0),
  CHECK ((status = 'firing') = (ends_at IS NULL)),
  CHECK ((status = 'firing') = (resolution IS NULL))
) STRICT;
-- GET /api/alerts, newest first
CREATE INDEX alerts_by_organization ON alerts (organization_id, starts_at);
-- the same of one service, and its recent alerts
CREATE INDEX alerts_by_service ON alerts (service_id, starts_at);
-- the alerts of an incident
CREATE INDEX alerts_by_incident ON alerts (incident_id) WHERE incident_id IS NOT NULL;

-- Alerts that fire, or ended so lately that they may be reopened: a small table, so that identity is never looked up in history.
CREATE TABLE active_alerts (
  alert_id        INTEGER PRIMARY KEY REFERENCES alerts (id),
  organization_id INTEGER NOT NULL,
  service_id      INTEGER NOT NULL,
  source          TEXT    NOT NULL,
  name            TEXT    NOT NULL,
  severity        TEXT    NOT NULL,
  logical_key     TEXT    NOT NULL,
  group_id        INTEGER,                                               -- the sender's group, for its rhythm
  heard_at        INTEGER NOT NULL,                                      -- receipt of its last event
  ended_at        INTEGER,                                               -- receipt of its end; null while firing
  due_at          INTEGER NOT NULL                                       -- when the sweeper must look at it
) STRICT;
-- identity, second layer
CREATE INDEX active_alerts_by_logical_key ON active_alerts (organization_id, source, logical_key);
-- what health is made of, and whether a condition is there already
CREATE INDEX active_alerts_by_service ON active_alerts (service_id, source, name);
-- the alerts of a group, when its rhythm is learned
CREATE INDEX active_alerts_by_group ON active_alerts (group_id) WHERE group_id IS NOT NULL;
-- the sweeper's queue
CREATE INDEX active_alerts_due ON active_alerts (due_at);

-- Identity, first layer: every fingerprint under which an active alert was seen.
CREATE TABLE active_fingerprints (
  organization_id INTEGER NOT NULL,
  source          TEXT    NOT NULL,
  fingerprint     TEXT    NOT NULL,
  alert_id        INTEGER NOT NULL REFERENCES active_alerts (alert_id) ON DELETE CASCADE,
  started_at      INTEGER NOT NULL,                                      -- the latest start that was seen
  ended           INTEGER NOT NULL DEFAULT 0 CHECK (ended IN (0, 1)),
  PRIMARY KEY (organization_id, source, fingerprint)
) STRICT, WITHOUT ROWID;
CREATE INDEX active_fingerprints_by_alert ON active_fingerprints (alert_id);

-- One accepted webhook item; never changed, but for the service of an event that came before its service existed.
CREATE TABLE events (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  service_id      INTEGER REFERENCES services (id),
  alert_id        INTEGER REFERENCES alerts (id),
  payload_id      INTEGER NOT NULL REFERENCES payloads (id),
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
-- the sweeper's queue
CREATE INDEX senders_due ON senders (heartbeat_due_at) WHERE heartbeat_due_at IS NOT NULL;

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
