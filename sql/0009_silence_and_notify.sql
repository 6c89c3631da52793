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
