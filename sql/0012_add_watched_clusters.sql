-- What incmon remembers of the objects of the Kubernetes clusters that it watches. It is saved in the transaction of the
-- observations, so that a restart resumes exactly there.

-- The last known version of an object. Of an event, only its existence is remembered.
CREATE TABLE kubernetes_objects (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  cluster         TEXT    NOT NULL,
  uid             TEXT    NOT NULL,
  kind            TEXT    NOT NULL,                                      -- Pod, Deployment, Node, …
  namespace       TEXT    NOT NULL,
  name            TEXT    NOT NULL,
  version         TEXT    NOT NULL,                                      -- the resource version
  owner           TEXT,                                                  -- the controller: 'ReplicaSet/cart-5d4f8c7b9'; null if none
  facts           TEXT    NOT NULL CHECK (json_valid(facts)),            -- JSON: what the rules read, by kind
  PRIMARY KEY (uid, cluster, organization_id)
) STRICT, WITHOUT ROWID;
-- all objects of a cluster at startup
CREATE INDEX kubernetes_objects_by_cluster ON kubernetes_objects (organization_id, cluster);

-- The resource version up to which everything of a resource is stored.
CREATE TABLE kubernetes_positions (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  cluster         TEXT    NOT NULL,
  resource        TEXT    NOT NULL,                                      -- pods, events, …
  version         TEXT    NOT NULL,
  at              INTEGER NOT NULL,
  PRIMARY KEY (organization_id, cluster, resource)
) STRICT, WITHOUT ROWID;

-- A period of which the API server had already forgotten the changes when incmon asked for them.
CREATE TABLE kubernetes_gaps (
  organization_id INTEGER NOT NULL REFERENCES organizations (id),
  cluster         TEXT    NOT NULL,
  starts_at       INTEGER NOT NULL,
  ends_at         INTEGER NOT NULL,
  PRIMARY KEY (organization_id, cluster, starts_at)
) STRICT, WITHOUT ROWID;
