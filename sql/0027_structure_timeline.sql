-- What became of an alert becomes a code, with the alert's name as text. Until now, only the sentence said it.
UPDATE timeline
   SET code = 'again', text = substr(text, 1, length(text) - length(' is firing again'))
 WHERE kind = 'alert' AND code IS NULL AND text LIKE '_% is firing again';
UPDATE timeline
   SET code = 'doubt',
       text = substr(text, 1, instr(text, ' was reported as ended, but so was the heartbeat: the end does not count yet') - 1)
 WHERE kind = 'alert' AND code IS NULL
   AND text LIKE '_% was reported as ended, but so was the heartbeat: the end does not count yet';

-- The severities of a change become facts.
UPDATE timeline
   SET code  = 'severity',
       text  = substr(text, 13, length(text) - 12 - length(change.words)),
       facts = json_object('code', 'severity', 'from', change.before, 'to', change.after)
  FROM (WITH level (name) AS (VALUES ('critical'), ('error'), ('warning'), ('info'))
        SELECT b.name AS before, a.name AS after, ' changed from ' || b.name || ' to ' || a.name AS words
          FROM level AS b, level AS a
        UNION ALL
        SELECT NULL, name, ' changed to ' || name FROM level) AS change
 WHERE kind = 'alert' AND text LIKE 'severity of _%'
   AND substr(text, -length(change.words)) = change.words;

-- That a user resolved an incident while alerts were firing becomes a fact. The sentence remains: names can contain commas.
UPDATE timeline
   SET facts = json_object('code', 'firing', 'alerts', json_array())
 WHERE kind = 'status' AND code = 'resolved' AND actor IS NOT NULL
   AND (text LIKE 'while % was still firing' OR text LIKE 'while % were still firing');
