-- When the severity of a firing fingerprint last changed; null if it has had one severity since it started.
ALTER TABLE alert_fingerprints ADD COLUMN changed_at INTEGER;
-- The timeline of the incident that leads a group: the messages about the group.
CREATE INDEX outbox_by_group ON outbox (sent ->> '$.leader') WHERE kind = 'group' AND sent IS NOT NULL;
