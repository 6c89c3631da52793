/** Replies: what a route answers, as plain values; `watch.ts` alone makes them the answers of the server. */

export type Reply = {
  readonly status: number
  /** Names in lower case: one that is named again takes the other's place. */
  readonly headers: Readonly<Record<string, string>>
  /** Null: there is none. */
  readonly body: string | null
  /** What a refused caller is told, for the log. */
  readonly detail?: string
}

/** What has no answer beyond that it is done. */
export const DONE: Reply = { status: 204, headers: {}, body: null }

export function json(value: unknown, status: 200 | 201 = 200, headers: Reply['headers'] = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(value) }
}

export function text(body: string, type: string, headers: Reply['headers'] = {}): Reply {
  return { status: 200, headers: { 'content-type': type, ...headers }, body }
}
