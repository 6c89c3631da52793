-- The fingerprints of an alert that cannot be derived from its row. Without rows, an alert has only its first
-- fingerprint, which started with the alert and ended only if an end was reported. The rows are deleted once the alert
-- can no longer be reopened.
CREATE TABLE alert_fingerprints (
  alert_id    INTEGER NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  fingerprint TEXT    NOT NULL,
  severity    TEXT    NOT NULL,                                          -- critical, error, warning, info: in the newest item
  said        TEXT,                                                      -- the original severity, as sent
  labels      TEXT,                                                      -- JSON merge patch: the labels that differ from the alert's; null if none do
  generator   TEXT,                                                      -- the URL of the rule in the sender; null: the alert's link
  started_at  INTEGER NOT NULL,                                          -- the latest start; once ended, the end
  ended       INTEGER NOT NULL CHECK (ended IN (0, 1)),                  -- whether an end was reported
  seen_at     INTEGER NOT NULL,                                          -- when the newest item was received
  expires_at  INTEGER,                                                   -- endsAt of a firing item: when it ends unless it is repeated
  PRIMARY KEY (alert_id, fingerprint)
) STRICT, WITHOUT ROWID;

-- The severity and the labels of each fingerprint are in the newest event with this fingerprint, if it is still stored.
INSERT INTO alert_fingerprints
SELECT
  a.id,
  f.value ->> 0,
  COALESCE(e.severity, a.severity),
  CASE WHEN e.id IS NULL THEN a.said ELSE p.body ->> '$.labels.severity' END,
  (
    SELECT json_group_object(key, value) FROM (
      SELECT key, value FROM json_each(p.body, '$.labels') WHERE type = 'text'
      EXCEPT SELECT key, value FROM json_each(a.labels)
      UNION ALL
      SELECT key, NULL FROM json_each(a.labels) WHERE key NOT IN (SELECT key FROM json_each(p.body, '$.labels'))
    )
    WHERE e.id IS NOT NULL HAVING count(*) > 0
  ),
  p.body ->> '$.generatorURL',
  f.value ->> 1,
  f.value ->> 2,
  COALESCE(e.received_at, a.received_at),
  NULL
FROM alerts AS a
JOIN json_each(a.fingerprints) AS f
LEFT JOIN events AS e ON e.id = (
  SELECT max(events.id) FROM events JOIN payloads ON payloads.event_id = events.id
  WHERE events.alert_id = a.id AND payloads.body ->> '$.fingerprint' = f.value ->> 0
)
LEFT JOIN payloads AS p ON p.event_id = e.id
WHERE a.settled_at IS NULL AND a.fingerprints IS NOT NULL;

ALTER TABLE alerts DROP COLUMN fingerprints;
