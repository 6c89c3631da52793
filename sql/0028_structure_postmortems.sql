-- How a deploy ended becomes the code of its row. Until now, only the sentence said it.
UPDATE postmortems
   SET document = json_set(document, '$.timeline', json((
         SELECT json_group_array(json(CASE
                  WHEN value ->> '$.kind' <> 'pipeline' OR value ->> '$.text' NOT LIKE 'deploy of pipeline %' THEN value
                  WHEN value ->> '$.text' LIKE '%; it succeeded' THEN json_set(value, '$.code', 'deployed')
                  WHEN value ->> '$.text' LIKE '%; it failed' OR value ->> '$.text' LIKE '%; it failed (%)'
                    THEN json_set(value, '$.code', 'deploy failed')
                  ELSE value
                END))
           FROM json_each(document, '$.timeline'))))
 WHERE document LIKE '%deploy of pipeline %' AND json_type(document, '$.timeline') = 'array';

-- A definition no longer begins with the name of its figure.
UPDATE postmortems
   SET document = json_set(document, '$.metrics.ttd.definition', substr(document ->> '$.metrics.ttd.definition', 17))
 WHERE document ->> '$.metrics.ttd.definition' LIKE 'time to detect: %';
UPDATE postmortems
   SET document = json_set(document, '$.metrics.tta.definition', substr(document ->> '$.metrics.tta.definition', 22))
 WHERE document ->> '$.metrics.tta.definition' LIKE 'time to acknowledge: %';
UPDATE postmortems
   SET document = json_set(document, '$.metrics.ttr.definition', substr(document ->> '$.metrics.ttr.definition', 18))
 WHERE document ->> '$.metrics.ttr.definition' LIKE 'time to resolve: %';
