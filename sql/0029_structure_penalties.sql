-- Why an alert has its penalty becomes a rule beside the alert's name. Until now, both were one sentence.
WITH ending (words, rule) AS (
  VALUES (': an event and an alert agree', '{"code":"agreement"}'), (': warning for 15 minutes', '{"code":"lasting"}')
  UNION ALL
  SELECT ': ' || value, json_object('code', 'severity', 'severity', value)
    FROM json_each('["critical", "error", "warning", "info"]')
  UNION ALL
  SELECT ': ' || value || ', ended in the last 30 min', json_object('code', 'ended', 'severity', value)
    FROM json_each('["critical", "error", "warning", "info"]')
)
UPDATE services
   SET health = (
         SELECT json_group_array(json_object(
                  'alertId', alert,
                  'name', CASE WHEN words IS NOT NULL THEN substr(reason, 1, length(reason) - length(words))
                               ELSE substr(reason, 1, max(0, instr(reason, ': unavailable, ') - 1)) END,
                  'rule', json(CASE WHEN words IS NOT NULL THEN rule
                                    WHEN instr(reason, ': unavailable, ') > 0 THEN json_object(
                                      'code', 'unavailable', 'why', substr(reason, instr(reason, ': unavailable, ') + 15))
                                    ELSE json_object('code', 'text', 'text', reason) END),
                  'penalty', penalty) ORDER BY position)
           FROM (SELECT key AS position, value ->> '$.alertId' AS alert, value ->> '$.reason' AS reason,
                        value ->> '$.penalty' AS penalty
                   FROM json_each(health))
           LEFT JOIN ending ON substr(reason, -length(words)) = words)
 WHERE health LIKE '%"reason":%';
