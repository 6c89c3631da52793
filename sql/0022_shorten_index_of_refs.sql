-- The index of what timelines refer to holds the last part of each UUID, which almost never occurs twice. Comparing the
-- whole reference follows.
DROP INDEX timeline_by_ref;
CREATE INDEX timeline_by_ref ON timeline (substr(ref, -12)) WHERE ref IS NOT NULL;
