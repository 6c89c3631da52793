-- The starts of kubelets and kube-proxies: the suspects of an incident count how often a node's component starts.
CREATE INDEX events_of_starts ON events (organization_id, at) WHERE source = 'cluster' AND name = 'Starting';
