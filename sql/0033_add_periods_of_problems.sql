-- The times at which the conditions of an incident were critical replace the lengths. JSON as in src/domain/incident/problem.ts.
-- The lengths of an earlier version become periods that are as long: first what silences covered, then what was critical.
UPDATE incidents SET problem = json_set(
  json_remove(problem, '$.criticalMs', '$.mutedMs', '$.mutedSince', '$.raised', '$.ended', '$.reportedAt'),
  '$.periods', json((
    SELECT json_group_array(json(period)) FROM (
      SELECT json_object('name', CASE origin WHEN 'manual' THEN '' ELSE '…' END, 'to', problem ->> '$.endedAt',
        'from', (problem ->> '$.endedAt') - coalesce(problem ->> '$.criticalMs', 0) - coalesce(problem ->> '$.mutedMs', 0),
        'isGuess', json(CASE WHEN problem ->> '$.isGuess' THEN 'true' ELSE 'false' END)) AS period
      WHERE problem ->> '$.endedAt' IS NOT NULL AND coalesce(problem ->> '$.criticalMs', 0) > 0
      UNION ALL
      SELECT json_object('name', '', 'from', problem ->> '$.since', 'to', NULL)
      WHERE problem ->> '$.since' IS NOT NULL AND (origin = 'manual' OR cause = 'silence')
      UNION ALL
      SELECT json_object('name', value, 'from', coalesce(problem ->> '$.raised.at', problem ->> '$.since'), 'to', NULL)
      FROM json_each(problem, '$.firing') WHERE problem ->> '$.since' IS NOT NULL AND origin = 'manual'
      UNION ALL
      SELECT json_object('name', value, 'from', problem ->> '$.since', 'to', NULL)
      FROM json_each(problem, '$.firing') WHERE problem ->> '$.since' IS NOT NULL AND origin = 'automatic'
      UNION ALL
      SELECT json_object('name', '…', 'from', problem ->> '$.mutedSince', 'to', NULL)
      WHERE problem ->> '$.mutedSince' IS NOT NULL))),
  '$.silenced', json((
    SELECT json_group_array(json(period)) FROM (
      SELECT json_object('name', CASE origin WHEN 'manual' THEN '' ELSE '…' END,
        'from', (problem ->> '$.endedAt') - coalesce(problem ->> '$.criticalMs', 0) - (problem ->> '$.mutedMs'),
        'to', (problem ->> '$.endedAt') - coalesce(problem ->> '$.criticalMs', 0)) AS period
      WHERE problem ->> '$.endedAt' IS NOT NULL AND coalesce(problem ->> '$.mutedMs', 0) > 0
      UNION ALL
      SELECT json_object('name', '…', 'from', problem ->> '$.mutedSince', 'to', NULL)
      WHERE problem ->> '$.mutedSince' IS NOT NULL))),
  '$.ratings', json((
    -- Before a user changed the severity, it was mostly the one that the incident had for longest.
    SELECT json_group_array(json(rating)) FROM (
      SELECT json_object('until', problem ->> '$.raised.at', 'severity', (
        SELECT key FROM json_each(problem, '$.raised.earlier') ORDER BY key = incidents.severity, value DESC LIMIT 1)) AS rating
      WHERE problem ->> '$.raised.at' IS NOT NULL
        AND EXISTS (SELECT 1 FROM json_each(problem, '$.raised.earlier') WHERE key <> incidents.severity)
        AND (origin = 'automatic' OR NOT EXISTS (SELECT 1 FROM json_each(problem, '$.firing'))))))
);
