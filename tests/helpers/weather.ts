/** Sends a storm or a calm day to a running server. */
import { MINUTE } from './factory.ts'
import { alert, alertmanager, type Body, build, crashLoop, pipeline } from './senders.ts'

const NAMESPACES = [
  'shop',
  'platform',
  'analytics',
  'search',
  'identity',
  'billing',
  'logistics',
  'edge',
  'media',
  'web',
]
const ROOT = { service: 'recommendation-engine-production-canary-v2-eu1', namespace: 'logistics' }
const LONG = 'ErrorBudgetBurningFastForTheCheckoutFlowInTheNorthAmericanRegionAndTheRestOfTheWorld'
const UNICODE = ['名前の長いサービス-決済-北米-本番環境', 'zahlungsübersicht-größe', 'مدفوعات']

function client(url: string, token: string) {
  return async (path: string, body: Body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-gitlab-token': token }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
}

/**
 * 500 services, 60 incidents, one with 600 alerts, long names, Unicode, a manual incident and a wobbling alert. Half of
 * the services call the one that failed first.
 */
export async function sendStorm(url: string, token: string): Promise<void> {
  const post = client(url, token)
  const send = (alerts: readonly Body[]) => post('/api/webhooks/metrics', alertmanager(alerts))
  const now = Date.now()
  const place = (n: number) => ({
    service: UNICODE[n - 10] ?? `${['api', 'cart', 'gateway', 'worker'][n % 4]}-${n}`,
    namespace: NAMESPACES[n % 10] ?? '',
  })
  const ended = { startsAt: now - 60 * MINUTE, endsAt: now - 58 * MINUTE }
  await send(Array.from({ length: 500 }, (_, n) => alert('Created', { ...place(n), severity: 'info' }, ended)))
  const jobs = [build('deploy', 'success', { environment: { name: 'production' } })]
  await post('/api/webhooks/ci', pipeline('success', `logistics/${ROOT.service}`, { at: now - 42 * MINUTE, jobs }))
  await send([alert('ServiceDown', { ...ROOT, severity: 'critical' }, { startsAt: now - 40 * MINUTE })])
  const storm = Array.from({ length: 600 }, (_, n) => ({
    ...ROOT,
    severity: n % 3 ? 'warning' : 'critical',
    route: `/r/${n}`,
  }))
  await send(
    storm.map((labels, n) => alert(['Errors', 'Slow', 'Full'][n % 3] ?? '', labels, { startsAt: now - 38 * MINUTE })),
  )
  for (let n = 0; n < 56; n += 1) {
    const labels = { ...place(n), severity: 'critical' }
    const more = n % 2 ? { summary: `connection to ${ROOT.service}.logistics.svc:443 refused` } : {}
    await send([alert(n % 3 ? 'ServiceDown' : LONG, labels, { startsAt: now - (36 - n / 2) * MINUTE, ...more })])
  }
  await send([alert('BackupFailed', { severity: 'critical', team: 'ops' }, { startsAt: now - 15 * MINUTE })])
  await send(
    Array.from({ length: 60 }, (_, n) =>
      alert('Slow', { ...place(100 + n), severity: 'warning' }, { startsAt: now - 9 * MINUTE }),
    ),
  )
  for (let n = 5; n >= 0; n -= 1) {
    const startsAt = now - (n * 2 + 1) * MINUTE
    const labels = { service: 'invoice', namespace: 'billing', severity: 'critical' }
    await send([alert('HighLatency', labels, { startsAt })])
    if (n > 0) await send([alert('HighLatency', labels, { startsAt, endsAt: startsAt + MINUTE })])
  }
  const services = await fetch(`${url}/api/services`, { headers: { authorization: `Bearer ${token}` } })
  const [first] = (await services.json()) as { id: string }[]
  await post('/api/incidents', {
    title: 'Invoices are empty, see https://status.example.com/a/long/path?with=query',
    severity: 'error',
    serviceId: first?.id,
  })
}

/** One incident with a likely cause, one that is resolved, and healthy services. */
export async function sendCalm(url: string, token: string): Promise<void> {
  const post = client(url, token)
  const now = Date.now()
  const jobs = [build('deploy', 'success', { environment: { name: 'production' } })]
  await post('/api/webhooks/ci', pipeline('success', 'shop/cart', { at: now - 10 * MINUTE, jobs }))
  await post('/api/webhooks/cluster', crashLoop('cart-6f8d7b9c5-x2kqp', { count: 9, at: now - 9 * MINUTE }))
  const labels = { service: 'cart', namespace: 'shop' }
  await post(
    '/api/webhooks/metrics',
    alertmanager([
      alert('KubeDeploymentReplicasMismatch', { ...labels, severity: 'critical' }, { startsAt: now - 9 * MINUTE }),
      ...['search', 'ledger', 'stock'].map((service) =>
        alert('Slow', { service, severity: 'warning' }, { startsAt: now - 90 * MINUTE, endsAt: now - 80 * MINUTE }),
      ),
    ]),
  )
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/incidents`, { headers })
  const { data } = (await answer.json()) as { data: { id: string }[] }
  const body = JSON.stringify({ status: 'resolved' })
  await fetch(`${url}/api/incidents/${data[0]?.id}`, { method: 'PATCH', headers, body })
}
