-- When the newest firing item ends unless it is repeated; null if the sender did not say. An alert with a single
-- fingerprint therefore needs no row in alert_fingerprints.
ALTER TABLE alerts ADD COLUMN expires_at INTEGER;
