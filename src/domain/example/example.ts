/** The cluster of all example data. The program uses this cluster name to recognize and remove example data. */
export const EXAMPLE_CLUSTER = 'incmon-example'
