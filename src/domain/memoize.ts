/** Caches the results of functions, and copies texts that stay in memory. */

/** Limits on the number of cached names and their length. Senders use a few hundred names. */
const MAX_ENTRIES = 1_000
const MAX_LENGTH = 64

/**
 * Returns a copy of a text. V8 keeps a whole text in memory as long as a part of it is kept, so what the live state
 * keeps of a text that can be long must be a copy.
 */
export function copyOf(text: string): string {
  // V8 joins the two texts in a new one before it takes a part of it.
  return ` ${text}`.slice(1)
}

/** Returns a function that calls `make` once and returns that value every time. */
export function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Caches only the most recent result of `find`. */
export function cacheLast<Asked extends object, Answer>(find: (asked: Asked) => Answer): (asked: Asked) => Answer {
  let last: { readonly asked: Asked; readonly answer: Answer } | null = null
  return (asked) => {
    if (last?.asked !== asked) last = { asked, answer: find(asked) }
    return last.answer
  }
}

/** Caches every result of `find` by a key of what is asked. For a few results that are dropped soon. */
export function cacheByKey<Asked, Key, Answer>(keyOf: (asked: Asked) => Key, find: (asked: Asked) => Answer) {
  const answers = new Map<Key, Answer>()
  return (asked: Asked): Answer => {
    const key = keyOf(asked)
    const answer = answers.get(key) ?? find(asked)
    answers.set(key, answer)
    return answer
  }
}

/**
 * Returns a function that maps equal values to the first such value, so that records share one object in memory. Values
 * are equal if `textOf` returns the same string.
 */
export function shareEqual<Value>(textOf: (value: Value) => string): (value: Value) => Value {
  const shared = new Map<string, Value>()
  return (value) => {
    const text = textOf(value)
    const known = shared.get(text)
    if (known !== undefined) return known
    if (shared.size >= MAX_ENTRIES) shared.clear()
    shared.set(text, value)
    return value
  }
}

/**
 * Caches the results of `find` for names that occur in every alert. With other limits, it caches the results for texts
 * that are read again and again.
 */
export function cacheByName<Answer>(
  find: (name: string) => Answer,
  { entries = MAX_ENTRIES, length = MAX_LENGTH } = {},
): (name: string) => Answer {
  const answers = new Map<string, Answer>()
  return (name) => {
    const known = answers.get(name)
    if (known !== undefined || answers.has(name)) return known as Answer
    const answer = find(name)
    if (name.length > length) return answer
    if (answers.size >= entries) answers.clear()
    answers.set(copyOf(name), answer)
    return answer
  }
}
