-- Whether the sender has ever reported a repeat: an event with a count above 1. The silence of one that never does says
-- nothing about a condition that lasts.
ALTER TABLE senders ADD COLUMN reports_repeats INTEGER NOT NULL DEFAULT 0 CHECK (reports_repeats IN (0, 1));
-- The smallest time from an event to its receipt in milliseconds, and when it was last seen. NULL before the first event.
ALTER TABLE senders ADD COLUMN lag INTEGER CHECK (lag >= 0);
ALTER TABLE senders ADD COLUMN lag_at INTEGER;
