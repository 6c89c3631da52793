/** All example data belongs to one cluster, so that it can be distinguished from real data and removed. */
export const EXAMPLE_CLUSTER = 'incmon-example'
