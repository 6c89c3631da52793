/** Example data: everything in it belongs to one cluster, so that it can be told from real data and be removed. */
export const EXAMPLE_CLUSTER = 'incmon-example'
