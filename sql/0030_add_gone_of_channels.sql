-- 1 if incmon has disabled the channel, because its receiver does not exist any more
ALTER TABLE channels ADD COLUMN gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1));
UPDATE channels
   SET gone = 1
 WHERE enabled = 0 AND failing LIKE 'incmon has disabled the channel, because %';
