-- SQLite before 3.45 reports json_valid(NULL) as a violated check. Senders without a clock have NULL.
ALTER TABLE senders ADD COLUMN measured TEXT CHECK (measured IS NULL OR json_valid(measured)); -- JSON {offset, candidate, count, since}: how the sender's clock differs from the server's
UPDATE senders SET measured = clock;
ALTER TABLE senders DROP COLUMN clock;
ALTER TABLE senders RENAME COLUMN measured TO clock;
