-- Payloads that are saved together become one compressed row under the row id of their first event: lines of an event's
-- row id, a space and its payload, compressed with DEFLATE. A payload that is saved alone is text, as before.
CREATE TABLE payloads_by_first_event (
  event_id INTEGER PRIMARY KEY,
  body     ANY     NOT NULL                                              -- JSON, or compressed lines
) STRICT;
INSERT INTO payloads_by_first_event SELECT event_id, body FROM payloads;
DROP TABLE payloads;
ALTER TABLE payloads_by_first_event RENAME TO payloads;
-- An alert without evidence has the empty text instead of empty lists.
UPDATE alerts SET evidence = '' WHERE evidence = '{"seen":[],"recovered":[],"gone":[],"rollouts":[],"helped":[]}';
-- The rule of an alert's identity becomes a code. A sentence of an older version that is not listed stays as it is.
WITH identities (code, text) AS (
  VALUES ('object', 'service, reason and container'),
         ('labels', 'the sender’s fingerprint, or the labels that survive a restart if no alert has this fingerprint'),
         ('fingerprint', 'the sender’s fingerprint'),
         ('environment', 'project and environment'),
         ('ref', 'project and ref')
)
UPDATE alerts
   SET rules = json_set(alerts.rules, '$.identity', identities.code)
  FROM identities
 WHERE alerts.rules ->> '$.identity' = identities.text;
