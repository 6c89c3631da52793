-- A pruning run checks all expired records, so nothing has to be remembered between runs.
DROP TABLE pruning_spans;
ALTER TABLE pruning DROP COLUMN events_at;
ALTER TABLE pruning DROP COLUMN events_id;
ALTER TABLE pruning DROP COLUMN again_at;
ALTER TABLE pruning DROP COLUMN again_id;
ALTER TABLE pruning DROP COLUMN alerts_at;
ALTER TABLE pruning DROP COLUMN alerts_id;
