-- Retention reads events by their own time, which is never later than their receipt, and has an index already.
DROP INDEX events_by_receipt;
