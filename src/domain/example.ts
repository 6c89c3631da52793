/** The cluster of all example data. It makes example data easy to tell apart from real data, and easy to remove. */
export const EXAMPLE_CLUSTER = 'incmon-example'
