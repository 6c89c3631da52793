-- which incident affects most services, for each overview, and which incidents still have a live alert, for pruning
DROP INDEX live_alerts_by_incident;
CREATE INDEX live_alerts_by_incident ON alerts (incident_id, service_id) WHERE settled_at IS NULL;
