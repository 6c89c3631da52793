/** Recognizes values that a sender's template left empty. */

import { cacheByName } from './memoize.ts'

/**
 * What Go templates, Grafana and expressions without a value write instead of a value. Such text anywhere in a value
 * makes the value useless.
 */
const ANYWHERE = /<no value>|\[no value\]|<nil>|\{\{.*\}\}|\$\{.*\}|^\$labels\.|^\$value/is
const WHOLE = new Set(['', 'null', 'undefined', 'n/a'])

/** Returns whether a value is empty, or a placeholder such as `<no value>` or `{{ $labels.pod }}`. */
export const isPlaceholder: (value: string) => boolean = cacheByName(
  (value) => WHOLE.has(value.trim().toLowerCase()) || ANYWHERE.test(value),
)
