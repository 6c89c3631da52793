-- Retention: what is older than the limits of its organization is pruned in small steps, unless something kept cites it.

-- The time from which an alert's age counts: nothing can reopen it any more. Null while it stands in active_alerts.
ALTER TABLE alerts ADD COLUMN settled_at INTEGER;
UPDATE alerts SET settled_at = max(starts_at, last_seen_at, ends_at)
  WHERE status = 'resolved' AND id NOT IN (SELECT alert_id FROM active_alerts);
-- the alerts that are due for pruning, the oldest first
CREATE INDEX alerts_by_age ON alerts (organization_id, settled_at) WHERE settled_at IS NOT NULL;

-- the events that are due for pruning, the oldest receipt first: what is told late is older than it is known
CREATE INDEX events_by_receipt ON events (organization_id, received_at);
-- whether a payload is still referred to; without it SQLite would read all events for each payload that goes
CREATE INDEX events_by_payload ON events (payload_id);
-- how far back the events reach that the suspects of an incident are ranked from
CREATE INDEX events_of_trouble ON events (organization_id, at) WHERE source = 'cluster' AND kind = 'firing';

-- whether an event is cited; without them SQLite would read all pipelines and correlations for each event that goes
CREATE INDEX pipelines_by_event ON pipelines (event_id);
CREATE INDEX correlations_by_change_event ON correlations (change_event_id);
CREATE INDEX correlations_by_evidence_event ON correlations (evidence_event_id);
CREATE INDEX timeline_by_ref ON timeline (ref) WHERE ref IS NOT NULL;
-- the incidents that were under way at a time
CREATE INDEX incidents_by_span ON incidents (organization_id, started_at, resolved_at);

-- Every record that a postmortem names: 'event/<uuid>', 'alert/<uuid>'. Postmortems are kept, and what they name with them.
CREATE TABLE citations (
  ref           TEXT    NOT NULL,
  postmortem_id INTEGER NOT NULL REFERENCES postmortems (id) ON DELETE CASCADE,
  PRIMARY KEY (ref, postmortem_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX citations_by_postmortem ON citations (postmortem_id);

-- The document decides what it cites, whoever writes it.
CREATE TRIGGER cite_records AFTER INSERT ON postmortems BEGIN
  INSERT OR IGNORE INTO citations (ref, postmortem_id)
    SELECT atom, new.id FROM json_tree(new.document)
    WHERE type = 'text' AND (atom GLOB 'event/????????-*' OR atom GLOB 'alert/????????-*');
END;
INSERT OR IGNORE INTO citations (ref, postmortem_id)
  SELECT atom, postmortems.id FROM postmortems, json_tree(postmortems.document)
  WHERE type = 'text' AND (atom GLOB 'event/????????-*' OR atom GLOB 'alert/????????-*');

-- How far pruning has looked in each organization, so that what is cited is not looked at again for ever.
CREATE TABLE pruning (
  organization_id INTEGER PRIMARY KEY REFERENCES organizations (id),
  events_at       INTEGER NOT NULL DEFAULT 0,                            -- received_at and id of the last event looked at
  events_id       INTEGER NOT NULL DEFAULT 0,
  again_at        INTEGER NOT NULL DEFAULT 0,                            -- the same of those that were cited then, at the limit of alerts
  again_id        INTEGER NOT NULL DEFAULT 0,
  alerts_at       INTEGER NOT NULL DEFAULT 0,                            -- settled_at and id of the last alert looked at
  alerts_id       INTEGER NOT NULL DEFAULT 0,
  waiting         TEXT CHECK (waiting IS NULL OR json_valid(waiting))                       -- JSON of what is not deleted without a person's yes
) STRICT;

-- Times around incidents that are gone: the events that they alone had cited are looked at once more.
CREATE TABLE pruning_spans (
  id              INTEGER PRIMARY KEY,
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  from_at         INTEGER NOT NULL,                                      -- at and id of the last event looked at
  from_id         INTEGER NOT NULL DEFAULT 0,
  to_at           INTEGER NOT NULL
) STRICT;
CREATE INDEX pruning_spans_by_organization ON pruning_spans (organization_id);
