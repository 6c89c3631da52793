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
