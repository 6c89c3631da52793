-- The names of the tokens with which the sender delivered, newest first, as a JSON array. Two Alertmanagers often have
-- the same receiver, and only their tokens tell them apart.
ALTER TABLE senders ADD COLUMN tokens TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tokens));
