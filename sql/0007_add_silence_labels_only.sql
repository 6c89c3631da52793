-- Whether the matchers are compared only with the alert's labels, as in Alertmanager, and not with the alert's own
-- fields such as its service.
ALTER TABLE silences ADD COLUMN labels_only INTEGER NOT NULL DEFAULT 0 CHECK (labels_only IN (0, 1));
-- JSON {name: value}: the annotations that a client of Alertmanager's API added.
ALTER TABLE silences ADD COLUMN annotations TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(annotations));
