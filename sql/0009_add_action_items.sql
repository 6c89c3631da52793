-- Action items that people added before the incident has a postmortem: JSON [{id, text, owner, due, state}]. Afterwards,
-- they are in the edits of the postmortem.
ALTER TABLE incidents ADD COLUMN actions TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(actions));
