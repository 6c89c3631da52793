/** Carries out the actions of people in the demo through the API. */
import type { PersonAction } from './troubles.ts'

type Json = Record<string, unknown>

/** Returns a function that performs an action. It ignores an action on an incident that did not open. */
export function createActor(url: string, people: ReadonlyMap<string, string>): (act: PersonAction) => Promise<void> {
  return async ({ person, service, do: what }) => {
    const call = (method: string, path: string, body?: unknown) =>
      request(url, people.get(person) ?? '', method, path, body)
    const services = (await call('GET', '/api/services?archived=1')) as Json[]
    const wanted = services.find(({ namespace, name }) => name === service || `${namespace}/${name}` === service)
    if (!wanted) return
    const { data } = (await call('GET', `/api/incidents?serviceId=${wanted.id}&limit=1`)) as { data: Json[] }
    const [incident] = data
    if (!incident) return
    const path = `/api/incidents/${incident.id}`
    if ('status' in what) await call('PATCH', path, { status: what.status })
    else if ('note' in what) await call('POST', `${path}/notes`, { text: what.note })
    else if ('postmortem' in what) await call('PATCH', `${path}/postmortem`, what.postmortem)
    else await confirm(call, path, what.confirm)
  }
}

async function confirm(
  call: (method: string, path: string, body?: unknown) => Promise<unknown>,
  path: string,
  ref: string,
): Promise<void> {
  const { correlations } = (await call('GET', path)) as { correlations: { id: string; change: { ref: string } }[] }
  for (const { id, change } of correlations) {
    if (change.ref === ref) await call('PATCH', `/api/correlations/${id}`, { verdict: 'confirmed' })
  }
}

async function request(url: string, token: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(`${url}${path}`, { method, headers, ...sent })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the demo could not ${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}
