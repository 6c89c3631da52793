/** Sends calls and makes the responses of Alertmanager and incmon comparable. */
import { eventually } from '../helpers/server.ts'
import type { Call } from './call.ts'

export type Answered = { readonly status: number; readonly body: unknown }

/** Sends the calls in order. A status of 0 means that the server closed the connection without a response. */
export async function answersOf(calls: readonly Call[], api: string, token = 'none'): Promise<Answered[]> {
  const ids = new Map<string, string>()
  const answers: Answered[] = []
  let isNew = false
  for (const call of calls) {
    if (isNew && call.method === 'GET' && call.path.startsWith('/alerts')) await processed(api, token)
    isNew = call.method === 'POST' && call.path === '/alerts' ? true : call.method === 'GET' ? false : isNew
    const { status, body } = await send(call, api, token, ids)
    if (call.as !== undefined) ids.set(call.as, (body as { silenceID: string }).silenceID)
    const names = new Map([...ids].map(([name, id]) => [id, name]))
    answers.push({ status, body: comparable(inOrder(call, body), names) })
  }
  return answers
}

async function send({ method, path, body, type }: Call, api: string, token: string, ids: ReadonlyMap<string, string>) {
  const url = api + path.replace(/\{(\w+)\}/g, (_, name: string) => ids.get(name) ?? name)
  const headers = { Authorization: `Bearer ${token}`, ...(type === undefined ? {} : { 'Content-Type': type }) }
  // Sent as bytes, so that fetch does not add a Content-Type.
  const init = { method, headers, ...(body === undefined ? {} : { body: Buffer.from(body) }) }
  const response = await fetch(url, init).catch(() => null)
  return { status: response?.status ?? 0, body: response ? parsed(await response.text()) : null }
}

function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text)
  } catch {
    return text
  }
}

/** Waits until Alertmanager has assigned all alerts to a receiver. It does that after the response. */
function processed(api: string, token: string): Promise<unknown> {
  const list = async () => (await fetch(`${api}/alerts`, { headers: { Authorization: `Bearer ${token}` } })).text()
  return eventually(list, (text) => !text.includes('"unprocessed"'))
}

/** Both list alerts by their fingerprints, which differ. */
function inOrder({ path }: Call, body: unknown): unknown {
  if (!/^\/alerts(\?|$)/.test(path) || !Array.isArray(body)) return body
  const keyed = body.map((one) => [JSON.stringify(Object.entries(one.labels ?? {}).sort()), one] as const)
  return keyed.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
/** Ids, and the fields that Alertmanager has since 0.26. */
const LEFT_OUT = new Set(['fingerprint', 'mutedBy', 'routeLabels'])

function comparable(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string')
    return names.get(value) ?? (TIME.test(value) ? 'TIME' : UUID.test(value) ? 'ID' : value)
  if (Array.isArray(value)) return value.map((one) => comparable(one, names))
  if (value === null || typeof value !== 'object') return value
  const fields = Object.entries(value).filter(
    ([name]) => !LEFT_OUT.has(name) && !(name === 'annotations' && 'matchers' in value),
  )
  const sorted = fields.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, comparable(one, names)])
  const own = Object.fromEntries(sorted)
  return Array.isArray(own.silencedBy) ? { ...own, silencedBy: own.silencedBy.sort() } : own
}
