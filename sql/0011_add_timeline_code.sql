-- The new status of an incident, and how an alert ended, become a code. Until now, both were part of the sentence in
-- `text`, which code had to parse. A sentence that cannot be parsed keeps its text and has no code.
ALTER TABLE timeline ADD COLUMN code TEXT;                                     -- a status, or how an alert ended; null for other kinds
UPDATE timeline
   SET code = CASE instr(text, ': ') WHEN 0 THEN text ELSE substr(text, 1, instr(text, ': ') - 1) END,
       text = CASE instr(text, ': ') WHEN 0 THEN '' ELSE substr(text, instr(text, ': ') + 2) END
 WHERE kind IN ('status', 'reopened')
   AND CASE instr(text, ': ') WHEN 0 THEN text ELSE substr(text, 1, instr(text, ': ') - 1) END
       IN ('open', 'investigating', 'identified', 'monitoring', 'resolved');
UPDATE timeline
   SET code = replace(replace(ways.ending, ' ended (', ''), ')', ''),
       text = substr(timeline.text, 1, length(timeline.text) - length(ways.ending))
  FROM (SELECT ' ended (reported)' AS ending UNION ALL SELECT ' ended (inferred)' UNION ALL
        SELECT ' ended (expired)' UNION ALL SELECT ' ended (manual)') AS ways
 WHERE kind = 'ended' AND substr(timeline.text, -length(ways.ending)) = ways.ending;
