/** A request to Alertmanager's API. */
export type Call = {
  readonly method: string
  /** The path below `/api/v2`. `{name}` is the id of the silence that the call `name` created. */
  readonly path: string
  readonly body?: string
  readonly type?: string
  /** The name under which the id of a created silence can be used later. */
  readonly as?: string
}

export type At = (minutes: number) => string

export function post(path: string, body: string): Call {
  return { method: 'POST', path, body, type: 'application/json' }
}

export function get(path: string, query: Readonly<Record<string, string | readonly string[]>>): Call {
  const parts = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}=${encodeURIComponent(value)}`),
  )
  return { method: 'GET', path: `${path}?${parts.join('&')}` }
}
