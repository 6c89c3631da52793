/** Shortens the JSON text of a large object before it is parsed, so that no object takes long to read. */
import { BUDGETS } from '../domain/budgets.ts'
import { endOfString, LABEL_LIMIT, MAX_DEPTH } from '../intake/json-limits.ts'

const MOST_TEXT = BUDGETS['object-text'].value
const MOST_ITEMS = BUDGETS['object-items'].value

const QUOTE = 0x22
const COMMA = 0x2c
const [OPEN_ARRAY, CLOSE_ARRAY] = [0x5b, 0x5d] as const
const [OPEN_OBJECT, CLOSE_OBJECT] = [0x7b, 0x7d] as const

/**
 * Returns the same JSON with the first items of each list, the first fields of each object and the beginning of each
 * text. Returns the same text if nothing is beyond these limits. Nothing is left out below `MAX_DEPTH` levels.
 */
export function shortened(text: string): string {
  /** The commas of each open list or object, and the most that are kept. */
  const [commas, most] = [new Int32Array(MAX_DEPTH + 1), new Int32Array(MAX_DEPTH + 1)]
  const kept: string[] = []
  let [depth, from] = [0, 0]
  /** The list or object whose rest is left out, which starts at `at`. */
  let cut: { readonly at: number; readonly depth: number } | null = null
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) {
      const start = i + 1
      i = endOfString(text, start)
      if (cut || i - start <= MOST_TEXT) continue
      kept.push(text.slice(from, beforeEscape(text, start, start + MOST_TEXT)))
      from = i
    } else if (unit === OPEN_ARRAY || unit === OPEN_OBJECT) {
      depth += 1
      commas[depth] = 0
      most[depth] = unit === OPEN_ARRAY ? MOST_ITEMS : LABEL_LIMIT
    } else if (unit === COMMA) {
      const count = (commas[depth] ?? 0) + 1
      commas[depth] = count
      if (!cut && count === most[depth]) cut = { at: i, depth }
    } else if (unit === CLOSE_ARRAY || unit === CLOSE_OBJECT) {
      if (cut?.depth === depth) {
        kept.push(text.slice(from, cut.at))
        from = i
        cut = null
      }
      depth -= 1
    }
  }
  return kept.length === 0 ? text : [...kept, text.slice(from)].join('')
}

/** Returns the last index up to `end` that is not inside an escape of the string that starts at `start`. */
function beforeEscape(text: string, start: number, end: number): number {
  // An escape has at most six characters. A backslash that follows an odd number of them starts none.
  const [open] = /\\(?:u[\da-f]{0,3})?$/i.exec(text.slice(Math.max(start, end - 5), end)) ?? ['']
  const at = end - open.length
  let before = 0
  while (at - before > start && text[at - 1 - before] === '\\') before += 1
  return before % 2 === 1 ? end : at
}

// Splits the JSON text of a list into its items while it arrives. Parsing one item at a time blocks no other request,
// and leaves nothing large for the garbage collector.

const BACKSLASH = 92
const [ARRAY, OBJECT, ARRAY_END, OBJECT_END] = [91, 123, 93, 125] as const
/** The depth at which the items are: in an array, in the list. */
const INSIDE = 2

type Splitter = {
  /** Takes the next part of the text. Returns the items that it completes. */
  readonly take: (chunk: string) => string[]
  /** Returns the text of the list with null for each item. */
  readonly rest: () => string
  /** Returns the length of the text that is kept. */
  readonly kept: () => number
}

export function createSplitter(): Splitter {
  let [depth, isString, isEscaped, isList] = [0, false, false, false]
  const rest: string[] = []
  const item: string[] = []
  let kept = 0
  const keep = (parts: string[], text: string) => {
    parts.push(text)
    kept += text.length
  }
  const take = (chunk: string): string[] => {
    const items: string[] = []
    let start = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const code = chunk.charCodeAt(at)
      if (isString) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isString = false
      } else if (code === QUOTE) isString = true
      else if (code === OBJECT || code === ARRAY) {
        if (depth === INSIDE - 1) isList = code === ARRAY
        if (depth === INSIDE && isList) {
          keep(rest, `${chunk.slice(start, at)}null`)
          start = at
        }
        depth += 1
      } else if (code === OBJECT_END || code === ARRAY_END) {
        depth -= 1
        if (depth !== INSIDE || !isList) continue
        items.push(item.length === 0 ? chunk.slice(start, at + 1) : item.join('') + chunk.slice(start, at + 1))
        for (const part of item.splice(0)) kept -= part.length
        start = at + 1
      }
    }
    keep(depth > INSIDE && isList ? item : rest, chunk.slice(start))
    return items
  }
  return { take, rest: () => rest.join(''), kept: () => kept }
}
