-- A silence: alerts that it matches are stored and counted, but open no incident and notify nobody.
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
  changes_at      INTEGER                                                         -- when it next begins or stops to silence; null: never
) STRICT;
-- GET /api/silences and the silences that an evaluation needs
CREATE INDEX silences_by_organization ON silences (organization_id, ends_at);
-- the silences that begin or stop now
CREATE INDEX silences_due ON silences (changes_at) WHERE changes_at IS NOT NULL;

-- Which silence silences a firing alert, or silenced it when it ended.
CREATE TABLE silenced_alerts (
  alert_id   INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  silence_id INTEGER NOT NULL REFERENCES silences (id),
  PRIMARY KEY (alert_id, silence_id)
) STRICT, WITHOUT ROWID;
-- the alerts of one silence
CREATE INDEX silenced_alerts_by_silence ON silenced_alerts (silence_id);

-- Where messages about incidents are sent.
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

-- The secrets of a channel. Nothing but the sender reads this table.
CREATE TABLE channel_secrets (
  channel_id     INTEGER PRIMARY KEY REFERENCES channels (id) ON DELETE CASCADE,
  target         TEXT    NOT NULL,                                       -- the whole address
  signing        TEXT,                                                   -- whsec_… of a webhook
  earlier        TEXT,                                                   -- the signing secret before the last rotation
  earlier_until  INTEGER                                                 -- until when messages are also signed with it
) STRICT;

-- News for a channel, written in the commit that made it. What is sent together has the same leader.
CREATE TABLE outbox (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),     -- of a leader: the webhook-id of its message
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  channel_id      INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
  incident_id     INTEGER REFERENCES incidents (id) ON DELETE CASCADE,
  kind            TEXT    NOT NULL,                                      -- opened, resolved, reminder, …
  actor           TEXT,                                                  -- who did it; null: incmon
  severity_before TEXT,                                                  -- before the severity was raised
  status          TEXT    NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed')),
  leader_id       INTEGER REFERENCES outbox (id) ON DELETE CASCADE,      -- null until it is first sent
  attempts        INTEGER NOT NULL DEFAULT 0,
  created_at      INTEGER NOT NULL,
  due_at          INTEGER NOT NULL,                                      -- when it is sent, or tried again
  expires_at      INTEGER NOT NULL,                                      -- when it is given up
  ended_at        INTEGER,                                               -- when it was delivered or given up
  answer_status   INTEGER,                                               -- the HTTP status of the last answer
  detail          TEXT,                                                  -- why the last attempt failed
  remote_id       TEXT                                                   -- the receiver's name for the message, to reply to
) STRICT;
-- what a sender sends next
CREATE INDEX outbox_pending ON outbox (channel_id, due_at) WHERE status = 'pending';
-- what waits for one channel
CREATE INDEX outbox_by_channel ON outbox (channel_id, status, id);
-- GET /api/deliveries
CREATE INDEX outbox_by_organization ON outbox (organization_id, id);
-- reminders and replies of one incident
CREATE INDEX outbox_by_incident ON outbox (incident_id, channel_id);
-- the news of one message
CREATE INDEX outbox_by_leader ON outbox (leader_id);
-- messages that ended long ago
CREATE INDEX outbox_ended ON outbox (ended_at) WHERE ended_at IS NOT NULL;
