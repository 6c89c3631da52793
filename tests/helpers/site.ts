/** A browser without JavaScript: stores cookies, submits forms, and returns pages. */
import type { Hono } from 'hono'

const ORIGIN = 'http://localhost'

export type Shown = {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  readonly location: string
}

/** The fields of a form, by name or, if a name occurs several times, in order. */
type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[]

/** Creates a visitor. `headers` are sent with every request. */
export function makeBrowser(app: Hono, headers: Record<string, string> = {}) {
  const cookies = new Map<string, string>()
  const request = async (path: string, init: RequestInit): Promise<Shown> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sent = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...headers, ...init.headers }
    const response = await app.request(`${ORIGIN}${path}`, { ...init, headers: sent })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^(\w+)=([^;]*)/.exec(line) ?? []
      if (/Max-Age=0\b/.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    const { status, headers: answered } = response
    return { status, headers: answered, html: await response.text(), location: answered.get('location') ?? '' }
  }
  const get = (path: string, more: Record<string, string> = {}) => request(path, { headers: more })
  const post = (path: string, fields: Fields, more: Record<string, string> = {}) =>
    request(path, {
      method: 'POST',
      body: new URLSearchParams(pairsOf(fields)).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: ORIGIN, ...more },
    })
  const signIn = (token: string, person = '') => post('/sign-in', { token, person, stay: '1' })
  /** Returns the CSRF token from a form on the page. */
  const csrf = async (path = '/settings') => /name="csrf" value="([^"]+)"/.exec((await get(path)).html)?.[1] ?? ''
  /** Submits a form with its CSRF token. */
  const send = async (path: string, fields: Fields) => post(path, [['csrf', await csrf()], ...pairsOf(fields)])
  return { cookies, get, post, send, signIn, csrf }
}

function pairsOf(fields: Fields): [string, string][] {
  const pairs = Array.isArray(fields) ? fields : Object.entries(fields)
  return pairs.map(([name, value]) => [name, value])
}
