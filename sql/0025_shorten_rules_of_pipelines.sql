-- The rule that matched a pipeline to its service becomes a code. Until now, an alias was a sentence about its kind.
UPDATE pipelines
   SET facts = json_set(facts, '$.rule', 'alias')
 WHERE facts ->> '$.rule' LIKE 'alias %';
