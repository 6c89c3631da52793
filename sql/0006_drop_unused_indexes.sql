-- No query uses these indexes: the sweep finds due silences in memory, and a session is found by its cookie.
DROP INDEX silences_due;
DROP INDEX sessions_by_token;
