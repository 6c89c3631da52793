-- A long history, written straight into the tables: :rows alerts and as many events over 400 days before :now, 2,000
-- services, 95 of 100 alerts in one organization, 2 of 100 of its first service; all over.
-- Statements that name :first and :last are run in chunks of rows.

INSERT INTO organizations (id, uuid, name, plan, created_at)
VALUES (2, unhex('01900000000070008000000000000002'), 'Basil', 'Free', :now - 400 * 86400000);

-- The history is older than the default retention. Pruning would disturb the measurements.
UPDATE organizations SET settings = '{"retention-events-days":3650,"retention-alerts-days":3650}';

INSERT INTO services (id, uuid, organization_id, cluster, namespace, name, last_alert_at, last_event_at, created_at)
WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 2000)
SELECT i, unhex(printf('0190000000017%03x8%015x', i % 4096, i)), iif(i <= 1900, 1, 2), '',
  'team-' || (i % 40), printf('svc-%04d', i), :now, :now, :now - 400 * 86400000
FROM number;

INSERT INTO senders (organization_id, source, cluster, receiver, events, last_event_at)
WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < 40)
SELECT 1, 'metrics', 'cluster-' || i, 'incmon', :rows / 40, :now - i * 60000 FROM number;

INSERT INTO incidents (id, uuid, organization_id, service_id, title, severity, status, origin, created_at, started_at,
  resolved_at, alert_count, lowest_score)
WITH RECURSIVE number (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i <= :rows / 2000)
SELECT i, unhex(printf('0190000000027%03x8%015x', i % 4096, i)), 1, 1 + i % 1900, printf('svc-%04d: pods crash', 1 + i % 1900),
  'critical', 'resolved', 'automatic', at, at, at + 3600000, 50, 20
FROM (SELECT i, CAST(:now - 400 * 86400000 + 400 * 86400000.0 * min(i * 2000, :rows) / :rows AS INTEGER) - 3600000 AS at FROM number);

INSERT INTO alerts (id, uuid, organization_id, service_id, incident_id, source, name, severity, said, status, resolution,
  summary, labels, annotations, links, fingerprint, rules, evidence, starts_at, ends_at, last_seen_at, settled_at, occurrences)
WITH RECURSIVE
  number (i) AS (SELECT :first UNION ALL SELECT i + 1 FROM number WHERE i < :last),
  -- Two draws that look like chance, and are the same in every run.
  drawn AS (
    SELECT i, (i * 2654435761) % 4294967296 / 4294967296.0 AS u, (i * 2246822519) % 4294967296 / 4294967296.0 AS v,
      CAST(:now - 400 * 86400000 + 400 * 86400000.0 * i / :rows AS INTEGER) AS heard_at
    FROM number
  ),
  placed AS (
    SELECT i, u, v, heard_at, heard_at - CAST(v * 3600000 AS INTEGER) AS starts_at,
      CASE WHEN u < 0.02 THEN 1 WHEN u < 0.95 THEN 2 + CAST(v * v * 1898 AS INTEGER) ELSE 1901 + CAST(v * 99 AS INTEGER) END AS service
    FROM drawn
  )
SELECT i, unhex(printf('%012x7%03x8%015x', heard_at, i % 4096, i)), iif(service <= 1900, 1, 2), service,
  iif(i % 40 = 0 AND service <= 1900, 1 + i / 2000, NULL), 'metrics',
  CASE i % 5 WHEN 0 THEN 'HighLatency' WHEN 1 THEN 'HighErrorRate' WHEN 2 THEN 'QueueGrows' WHEN 3 THEN 'CacheMisses' ELSE 'SlowQueries' END,
  iif(u < 0.1, 'critical', 'warning'), 'warning', 'resolved', 'reported',
  'p99 latency is high',
  printf('{"alertname":"HighLatency","instance":"10.%d.%d.%d:8080","job":"shop","namespace":"team-%d","service":"svc-%04d","severity":"warning","team":"checkout"}',
    i / 65536 % 256, i / 256 % 256, i % 256, service % 40, service),
  printf('{"description":"The 99th percentile of request %d was above one second for five minutes.","runbook_url":"https://runbooks.example/latency","summary":"p99 latency is high"}', i),
  '{"generator":"http://prometheus.example:9090/graph?g0.expr=latency%3E1&g0.tab=1","runbook":"https://runbooks.example/latency"}',
  printf('%08x%08x', (i * 2654435761) % 4294967296, (i * 2246822519) % 4294967296),
  '{"service":"label service","severity":"label severity","identity":"labels"}',
  '{"seen":[],"recovered":[],"rollouts":[],"helped":[]}',
  starts_at, heard_at + 600000, heard_at, heard_at + 600000, 1
FROM placed;

INSERT INTO alert_counts
SELECT organization_id, 0, starts_at / 300000, count(*) FROM alerts GROUP BY 1, 3;
INSERT INTO alert_counts
SELECT organization_id, 1, part / 288, sum(alerts) FROM alert_counts WHERE level = 0 GROUP BY 1, 3;
INSERT INTO service_alert_counts
SELECT 0, starts_at / 300000, service_id, count(*) FROM alerts GROUP BY 2, 3;
INSERT INTO service_alert_counts
SELECT 1, part / 288, service_id, sum(alerts) FROM service_alert_counts WHERE level = 0 GROUP BY 2, 3;

INSERT INTO events (id, uuid, organization_id, service_id, alert_id, source, kind, name, object, severity, text, at, received_at)
SELECT id, unhex(printf('%012x7%03x9%015x', last_seen_at, id % 4096, id)), organization_id, service_id, id,
  source, 'firing', name, '', severity, summary, starts_at, last_seen_at
FROM alerts WHERE id BETWEEN :first AND :last;

INSERT INTO payloads (event_id, body)
SELECT id,
  printf('{"status":"firing","labels":%s,"annotations":%s,"startsAt":"2026-11-21T08:00:00Z","endsAt":"0001-01-01T00:00:00Z","fingerprint":"%s"}', labels, annotations, fingerprint)
FROM alerts WHERE id BETWEEN :first AND :last;
