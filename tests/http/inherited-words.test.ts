/** Words of senders that every JavaScript object inherits, such as `constructor`, are words like any other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { alert, alertmanager, build, grafana, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const WORDS = ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']

const CALM = alert('Slow', { service: 'cart', env: 'prod' }, { endsAt: 0, summary: 'slow' })
const GRAFANA = { ...CALM, annotations: { grafana_state_reason: 'NoData' } }

for (const [sender, webhook, body] of [
  ['Kubernetes', 'cluster', kubernetesEvent('BackOff', 'cart-7d9c5b8f6-x2x7l')],
  ['kubewatch', 'cluster', { eventmeta: { kind: 'backoff', name: 'shop/cart', namespace: 'shop', reason: 'Updated' } }],
  ['Alertmanager', 'metrics', alertmanager([alert('Down', { service: 'cart', severity: 'critical' }), CALM])],
  ['Grafana', 'dashboard', grafana([alert('Down', { service: 'cart' }), GRAFANA])],
  ['a pipeline', 'ci', pipeline('failed')],
  ['a job', 'ci', build('deploy', 'failed')],
] as const)
  for (const word of WORDS)
    test(`${word} in any field of ${sender} is no fault of incmon`, async (t) => {
      const { acme, request } = makeWorld(t)
      for (const changed of variants(body, word)) {
        const path = `/api/webhooks/${webhook}`
        const { status, text } = await request('POST', path, { token: acme.token, body: changed as object })
        assert.ok(status < 500, `${JSON.stringify(changed)}: ${status} ${text}`)
      }
      for (const path of ['/api/alerts', '/api/services', '/api/incidents', '/api/events'])
        assert.equal((await request('GET', path, { token: acme.token })).status, 200)
    })

/** Returns the value once for each text and each name in it, with the word instead of that one. */
function variants(value: unknown, word: string): unknown[] {
  if (typeof value === 'string') return [word]
  if (Array.isArray(value)) return value.flatMap((one, at) => variants(one, word).map((other) => value.with(at, other)))
  if (typeof value !== 'object' || value === null) return []
  const entries = Object.entries(value)
  return entries.flatMap(([name, one]) => {
    const rest = entries.filter(([other]) => other !== name)
    const named = JSON.parse(`{${JSON.stringify(word)}: ${JSON.stringify(one) ?? 'null'}}`)
    return [
      ...variants(one, word).map((other) => ({ ...value, [name]: other })),
      { ...Object.fromEntries(rest), ...named },
    ]
  })
}
