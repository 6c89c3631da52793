-- The heartbeats of the sender, as a JSON array: the fingerprint and the cluster of each, when it ended or ends, and its
-- last gap. While one is missing, the ends of other alerts prove nothing.
ALTER TABLE senders ADD COLUMN heartbeats TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(heartbeats));
