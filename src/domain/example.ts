/** The cluster of all example data. Example data can be recognized and removed by its cluster. */
export const EXAMPLE_CLUSTER = 'incmon-example'
