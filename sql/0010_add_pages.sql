-- What the pages need: who is signed in, numbers that people can say aloud, and how each service was.

-- A browser that somebody signed in with. Only the SHA-256 of its cookie is stored. token_id is null after a setup link.
CREATE TABLE sessions (
  id              INTEGER PRIMARY KEY,
  uuid            BLOB    NOT NULL UNIQUE CHECK (length(uuid) = 16),
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  token_id        INTEGER REFERENCES tokens (id),
  hash            BLOB    NOT NULL UNIQUE CHECK (length(hash) = 32),
  person          TEXT    NOT NULL CHECK (length(person) <= 100),        -- the display name; '' shows the name of the token
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

-- How each service was: one row for each change of its status or score, valid until the next row.
CREATE TABLE service_states (
  service_id INTEGER NOT NULL REFERENCES services (id) ON DELETE CASCADE,
  at         INTEGER NOT NULL,
  status     TEXT    NOT NULL CHECK (status IN ('healthy', 'degraded', 'critical')),
  score      INTEGER NOT NULL CHECK (score BETWEEN 0 AND 100),
  PRIMARY KEY (service_id, at)
) STRICT, WITHOUT ROWID;
INSERT INTO service_states (service_id, at, status, score)
  SELECT id, coalesce(last_event_at, created_at), status, score FROM services WHERE score < 100;

-- Each incident has a number within its organization that people can say aloud. Numbers rise and are never used twice.
ALTER TABLE organizations ADD COLUMN last_incident INTEGER NOT NULL DEFAULT 0;
ALTER TABLE incidents ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
UPDATE incidents SET number = (
  SELECT count(*) FROM incidents AS other WHERE other.organization_id = incidents.organization_id AND other.id <= incidents.id);
UPDATE organizations SET last_incident = (
  SELECT coalesce(max(number), 0) FROM incidents WHERE incidents.organization_id = organizations.id);
-- an incident by its number
CREATE UNIQUE INDEX incidents_by_number ON incidents (organization_id, number);
-- Numbers a new incident, whoever inserts it.
CREATE TRIGGER incidents_numbered AFTER INSERT ON incidents WHEN new.number = 0 BEGIN
  UPDATE organizations SET last_incident = last_incident + 1 WHERE id = new.organization_id;
  UPDATE incidents SET number = (SELECT last_incident FROM organizations WHERE id = new.organization_id)
    WHERE id = new.id;
END;
