/**
 * Splits the JSON text of a list into its items while it arrives. Parsing one item at a time blocks no other request,
 * and leaves nothing large for the garbage collector.
 */
import { BUDGETS } from '../domain/budgets.ts'
import { cutJson, LABEL_LIMIT } from '../intake/json.ts'

const MOST = { text: BUDGETS['object-text'].value, items: BUDGETS['object-items'].value, fields: LABEL_LIMIT, from: 0 }

/** Shortens the JSON text of a large object before it is parsed, so that no object takes long to read. */
export function shortened(text: string): string {
  return cutJson(text, MOST)
}

const QUOTE = 34
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
