-- whether services of several namespaces have the same name, for each message
CREATE INDEX services_by_name ON services (organization_id, name, namespace);
