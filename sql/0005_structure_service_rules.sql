-- The rule that chose an alert's service becomes a structure: {"by": "label", "label": "pod", "how": "deployment pod"}.
-- Until now it was a sentence, which code had to parse. A sentence that cannot be parsed is kept as
-- {"code": "text", "text": "…"}.
WITH sentences AS (
  SELECT id AS row_id,
         source,
         rules ->> '$.service'                                                   AS whole,
         instr(rules ->> '$.service', '; the only cluster with this service is ') AS only_at,
         instr(rules ->> '$.service', '; adopted into the cluster ')              AS adopted_at
    FROM alerts
   WHERE json_type(rules, '$.service') = 'text'
),
parts AS (
  SELECT row_id,
         source,
         whole,
         CASE WHEN only_at > 0 THEN substr(whole, 1, only_at - 1)
              WHEN adopted_at > 0 THEN substr(whole, 1, adopted_at - 1)
              ELSE whole END                                                      AS way,
         CASE WHEN only_at > 0 THEN json_object('by', 'only', 'name', substr(whole, only_at + 40))
              WHEN adopted_at > 0 THEN json_object('by', 'adopted', 'name', substr(whole, adopted_at + 27)) END AS cluster
    FROM sentences
),
ways AS (
  SELECT row_id,
         cluster,
         CASE
           WHEN way = 'unattributed' THEN json_object('by', 'none')
           WHEN way IN ('alias ci-project', 'alias image', 'alias workload')
             THEN json_object('by', 'alias', 'alias', substr(way, 7))
           WHEN way GLOB 'alias label ?*=*'
             THEN json_object('by', 'alias', 'alias', 'label', 'label', substr(way, 13, instr(way, '=') - 13),
                              'value', substr(way, instr(way, '=') + 1))
           WHEN source = 'ci' AND way IN ('image path', 'environment', 'namespace', 'slug', 'project')
             THEN json_object('by', 'project', 'how', way)
           WHEN source = 'cluster' AND whole <> '' THEN json_object('by', 'object', 'how', way)
           WHEN way GLOB 'label ?*: ?*'
             THEN json_object('by', 'label', 'label', substr(way, 7, instr(way, ': ') - 7),
                              'how', substr(way, instr(way, ': ') + 2))
           WHEN way GLOB 'label ?*' THEN json_object('by', 'label', 'label', substr(way, 7))
           WHEN way GLOB 'exporter label ?*: ?*'
             THEN json_object('by', 'exporter label', 'label', substr(way, 16, instr(way, ': ') - 16),
                              'how', substr(way, instr(way, ': ') + 2))
           WHEN way GLOB 'exporter label ?*' THEN json_object('by', 'exporter label', 'label', substr(way, 16))
           ELSE json_object('code', 'text', 'text', way)
         END AS rule
    FROM parts
)
UPDATE alerts
   SET rules = json_set(alerts.rules, '$.service',
                        json(CASE WHEN ways.cluster IS NULL THEN ways.rule
                                  ELSE json_set(ways.rule, '$.cluster', json(ways.cluster)) END))
  FROM ways
 WHERE ways.row_id = alerts.id;
