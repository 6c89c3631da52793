/** What is sent to a server that is about to fail: deliveries to all four webhooks, and manual incidents. */
import { alert, alertmanager, type Body, crashLoop, grafana, pipeline } from '../helpers/senders.ts'

export type Target = { readonly url: string; readonly token: string }
export type Answer = {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they were answered
  readonly body: any
}

/** Returns the delivery with this number. Each creates an event and an alert of its own. */
export function delivery(number: number): { readonly path: string; readonly body: Body } {
  const [name, labels] = [`Slow${number}`, { deployment: `shop-${number % 7}`, severity: 'warning' }]
  switch (number % 4) {
    case 0:
      return { path: '/api/webhooks/cluster', body: crashLoop(`cart${number}-5d4f8c7b9-x2kqp`) }
    case 1:
      return { path: '/api/webhooks/metrics', body: alertmanager([alert(name, labels)]) }
    case 2:
      return { path: '/api/webhooks/dashboard', body: grafana([alert(name, labels)]) }
    default:
      return { path: '/api/webhooks/ci', body: pipeline('failed', `shop/job${number}`, { id: number }) }
  }
}

/** Sends the delivery with this number. Rejects if there is no response. */
export function deliver(target: Target, number: number, headers: Record<string, string> = {}): Promise<Answer> {
  const { path, body } = delivery(number)
  return request(target, 'POST', path, body, headers)
}

/** Returns the ids of the events that a response acknowledges. */
export function acknowledged({ status, body }: Pick<Answer, 'status' | 'body'>): string[] {
  if (status !== 200) return []
  return body.eventIds ?? [body.eventId]
}

export async function request(
  { url, token }: Target,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'X-Ci-Token': token, 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

/**
 * Opens an incident manually, updates it and resolves it. Returns the responses; if one is an error, it is the last.
 */
export async function handleIncident(target: Target, serviceId: string): Promise<Answer[]> {
  const opened = await request(target, 'POST', '/api/incidents', { title: 'Slow', serviceId, severity: 'warning' })
  const answers = [opened]
  for (const status of ['identified', 'resolved']) {
    if ((answers.at(-1)?.status ?? 0) >= 300) break
    answers.push(await request(target, 'PATCH', `/api/incidents/${opened.body.id}`, { status }))
  }
  return answers
}

/** Processes the numbers from `first` on, `clients` at a time. */
export async function fromClients(
  clients: number,
  count: number,
  work: (number: number) => Promise<unknown>,
  first = 0,
) {
  let next = first
  const client = async () => {
    while (next < first + count) {
      next += 1
      await work(next - 1)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}
