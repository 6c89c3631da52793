/** Recognizes values that a sender's template left empty. */

/**
 * What Go templates, Grafana, Falco and expressions without a value write instead of a value. Such text anywhere in a value
 * makes the value useless.
 */
const ANYWHERE = /<no value>|\[no value\]|<nil>|<NA>|^\$labels\.|^\$value/i
/** The beginnings and ends of template actions. A regular expression would look for the end from each beginning. */
const ACTIONS = [
  ['{{', '}}'],
  ['${', '}'],
] as const
const SUSPICIOUS = /[<[{$]/
const WHOLE = /^\s*(?:null|undefined|n\/a)?\s*$/i
const MAX_WHOLE = 20

/** Returns whether a value contains a placeholder such as `<no value>` or `{{ $labels.pod }}`. */
export function hasPlaceholder(value: string): boolean {
  return (
    SUSPICIOUS.test(value) && (ANYWHERE.test(value) || ACTIONS.some(([begin, end]) => hasAction(value, begin, end)))
  )
}

/** Returns whether a value is empty, or a placeholder such as `<no value>` or `{{ $labels.pod }}`. */
export function isPlaceholder(value: string): boolean {
  // Nearly all values are neither short nor suspicious, and each label of each alert is checked.
  if (hasPlaceholder(value)) return true
  return value.length <= MAX_WHOLE ? WHOLE.test(value) : value.trim() === ''
}

function hasAction(value: string, begin: string, end: string): boolean {
  const from = value.indexOf(begin)
  return from >= 0 && value.includes(end, from + begin.length)
}
