-- Which incidents still have a live alert: pruning keeps these incidents, because the live state refers to them.
CREATE INDEX live_alerts_by_incident ON alerts (incident_id, settled_at) WHERE settled_at IS NULL;
