/** Recognizes values that a sender's template left empty. */

/**
 * What Go templates, Grafana, Falco and expressions without a value write instead of a value. Such text anywhere in a value
 * makes the value useless.
 */
const ANYWHERE = /<no value>|\[no value\]|<nil>|<NA>|\{\{.*\}\}|\$\{.*\}|^\$labels\.|^\$value/is
const SUSPICIOUS = /[<[{$]/
const WHOLE = /^\s*(?:null|undefined|n\/a)?\s*$/i
const MAX_WHOLE = 20

/** Returns whether a value contains a placeholder such as `<no value>` or `{{ $labels.pod }}`. */
export function hasPlaceholder(value: string): boolean {
  return SUSPICIOUS.test(value) && ANYWHERE.test(value)
}

/** Returns whether a value is empty, or a placeholder such as `<no value>` or `{{ $labels.pod }}`. */
export function isPlaceholder(value: string): boolean {
  // Nearly all values are neither short nor suspicious, and each label of each alert is checked.
  if (hasPlaceholder(value)) return true
  return value.length <= MAX_WHOLE ? WHOLE.test(value) : value.trim() === ''
}
