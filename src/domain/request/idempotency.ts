/** Idempotency keys. For each key, the responses (one per request body) are stored for 24 hours. */

const KEPT_MS = 24 * 3_600_000
/** Limits the row size for senders that reuse one key for all requests. The oldest responses are dropped first. */
const MAX_ANSWERS = 8

/** `answer` is null while the request is in progress. */
type Answer<Value> = { readonly bodyHash: string; readonly at: number; readonly answer: Value | null }

/**
 * `new`: the key is unknown. `repeated`: the key and the body are the same. `reused`: the key is the same, but the body
 * is different. `unfinished`: the same request is still in progress.
 */
export type KeyUse<Value> =
  | { readonly kind: 'new' | 'reused' | 'unfinished' }
  | { readonly kind: 'repeated'; readonly answer: Value }

/**
 * Returns how a request uses its key.
 * @param stored what `withAnswer` returned for this key; null if nothing is stored
 * @param bodyHash any text that is equal for equal bodies
 */
export function useOf<Value>(stored: string | null, bodyHash: string, now: number): KeyUse<Value> {
  const answers = readAnswers<Value>(stored, now)
  const same = answers.find((one) => one.bodyHash === bodyHash)
  if (same) return same.answer === null ? { kind: 'unfinished' } : { kind: 'repeated', answer: same.answer }
  return { kind: answers.length > 0 ? 'reused' : 'new' }
}

/** Returns the new value of the key's row. `answer` is null at the start of a request. */
export function withAnswer<Value>(stored: string | null, bodyHash: string, answer: Value | null, now: number): string {
  const others = readAnswers<Value>(stored, now).filter((one) => one.bodyHash !== bodyHash)
  return JSON.stringify([...others, { bodyHash, at: now, answer }].slice(-MAX_ANSWERS))
}

/**
 * Removes the response to a request that had no effect. Returns the new value of the key's row, or null if the row is
 * empty.
 */
export function withoutAnswer(stored: string | null, bodyHash: string, now: number): string | null {
  const others = readAnswers(stored, now).filter((one) => one.bodyHash !== bodyHash)
  return others.length > 0 ? JSON.stringify(others) : null
}

function readAnswers<Value>(stored: string | null, now: number): Answer<Value>[] {
  const answers: unknown = stored === null ? [] : JSON.parse(stored)
  return Array.isArray(answers) ? (answers as Answer<Value>[]).filter(({ at }) => at > now - KEPT_MS) : []
}
