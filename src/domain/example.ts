/** The cluster of all example data, which makes it easy to tell apart from real data and to remove. */
export const EXAMPLE_CLUSTER = 'incmon-example'
