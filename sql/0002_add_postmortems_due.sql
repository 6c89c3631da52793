-- A resolution whose postmortem has not been written yet. The commit that resolves an incident inserts the row, and the
-- commit that writes the postmortem deletes it.
CREATE TABLE postmortems_due (
  id          INTEGER PRIMARY KEY,
  incident_id INTEGER NOT NULL REFERENCES incidents (id) ON DELETE CASCADE,
  resolved_at INTEGER NOT NULL,
  due_at      INTEGER NOT NULL                          -- the postmortem covers the time until then
) STRICT;
CREATE INDEX postmortems_due_by_incident ON postmortems_due (incident_id);
