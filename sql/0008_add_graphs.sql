-- The graph of an incident's most severe alert, from Prometheus.
CREATE TABLE graphs (
  incident_id INTEGER PRIMARY KEY REFERENCES incidents (id) ON DELETE CASCADE,
  alert       TEXT,                                                       -- the UUID of the alert; null if no alert has an expression
  asked_at    INTEGER NOT NULL,                                           -- when Prometheus was asked last
  tries       INTEGER NOT NULL DEFAULT 0,                                 -- failed requests since the last success
  fault       TEXT,                                                       -- why the last request failed
  fetched_at  INTEGER,                                                    -- when the points were fetched
  graph       TEXT CHECK (graph IS NULL OR json_valid(graph))             -- the points; null until the first success
) STRICT;
