/**
 * A pager beside a real Prometheus and Alertmanager: an alert fires, somebody acknowledges it, it heals, it fires again,
 * and another one joins. Only incmon's clock is moved, so that nobody waits for the settle time or for missed repeats.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startAlertmanager, withoutAlertmanager } from '../helpers/alertmanager.ts'
import { MINUTE } from '../helpers/factory.ts'
import { eventually, startServer } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { startReceiver } from './receiver.ts'

const withoutPrometheus = spawnSync('prometheus', ['--version']).error !== undefined && !process.env.CI
const skip =
  withoutAlertmanager || (withoutPrometheus ? 'prometheus is not installed: apt-get install prometheus' : false)

const rule = (name: string, job: string) =>
  `  - {alert: ${name}, expr: 'up{job="${job}"} == 0', labels: {severity: critical, service: cart}}`
const RULES = ['groups:', '- name: cart', '  rules:', rule('CartDown', 'cart'), rule('CartSlow', 'till')].join('\n')

/** A target that Prometheus can scrape only while it is up. */
async function makeTarget(t: TestContext) {
  let server: Server | null = null
  let port = 0
  const up = async () => {
    server = createServer((_, response) => response.end('')).listen(port, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  }
  const down = async () => {
    server?.closeAllConnections()
    await new Promise((resolve) => server?.close(resolve))
  }
  await up()
  t.after(() => {
    server?.closeAllConnections()
    server?.close()
  })
  return { address: `127.0.0.1:${port}`, up, down }
}

async function startAll(t: TestContext, resolved: boolean) {
  const clock = { ahead: 0 }
  const incmon = await startServer(t, { 'notify-allow': ['127.0.0.0/8'] }, () => Date.now() + clock.ahead)
  const { url, received } = await startReceiver(t)
  const channel = JSON.stringify({ name: 'pager', kind: 'webhook', url })
  await incmon.request('POST', '/api/channels', channel, { 'Content-Type': 'application/json' })
  const directory = temporaryDirectory(t)
  const hook = `{url: '${incmon.url}/api/webhooks/metrics', send_resolved: ${resolved}, http_config: {authorization: {credentials: ${incmon.token}}}}`
  const times = 'group_by: [alertname], group_wait: 200ms, group_interval: 500ms, repeat_interval: 1s'
  const config = `route: {receiver: incmon, ${times}}\nreceivers: [{name: incmon, webhook_configs: [${hook}]}]\n`
  const alertmanager = await startAlertmanager(t, directory, config)
  const [cart, till] = [await makeTarget(t), await makeTarget(t)]
  const job = (name: string, address: string) => `{job_name: ${name}, static_configs: [{targets: ['${address}']}]}`
  const { host } = new URL(alertmanager.url)
  const prometheus = `global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs: [${job('cart', cart.address)}, ${job('till', till.address)}]
alerting: {alertmanagers: [{static_configs: [{targets: ['${host}']}]}]}
`
  writeFileSync(join(directory, 'rules.yml'), RULES)
  writeFileSync(join(directory, 'prometheus.yml'), prometheus)
  // Alertmanager ends an alert that Prometheus has not sent again for four times this delay, also if the machine is busy.
  const options = ['--config.file=prometheus.yml', '--storage.tsdb.path=tsdb', '--rules.alert.resend-delay=30s']
  const program = spawn('prometheus', [...options, '--web.listen-address=127.0.0.1:0'], { cwd: directory })
  t.after(async () => {
    program.kill('SIGKILL')
    await once(program, 'exit')
  })
  const occurrences = async () => (await incmon.get('/api/alerts')).data[0].occurrences as number
  /** Repeats the alert every half a minute. From shorter intervals, incmon does not learn when a repeat is missing. */
  const repeats = async () => {
    for (let times = 0; times < 3; times += 1) {
      const before = await occurrences()
      clock.ahead += 31_000
      await eventually(occurrences, (count) => count > before + 1)
    }
  }
  const active = async () => (await (await fetch(`${alertmanager.url}/api/v2/alerts`)).json()) as unknown[]
  // A message whose response came too late is sent again with the same id.
  const messages = () => [...new Map(received.map((one) => [one.headers['webhook-id'], one])).values()]
  const kinds = () => messages().map(({ text }) => JSON.parse(text).type.replace('incident.', '') as string)
  const told = (kind: string) =>
    eventually(
      async () => kinds(),
      (all) => all.includes(kind),
    )
  const last = () => JSON.parse(received.at(-1)?.text ?? '{}').data
  return { clock, incmon, cart, till, active, repeats, told, kinds, last }
}

for (const [resolved, wait] of [
  [true, 61_000],
  [false, 6 * MINUTE],
] as const) {
  test(`with send_resolved: ${resolved}, each turn of a real alert is one true message`, { skip }, async (t) => {
    const { clock, incmon, cart, till, active, repeats, told, kinds, last } = await startAll(t, resolved)
    await cart.down()
    await told('opened')
    assert.match(last().message.title, /^cart has been critical since/)
    const [{ id }] = (await incmon.get('/api/incidents')).data
    const change = JSON.stringify({ status: 'investigating' })
    await incmon.request('PATCH', `/api/incidents/${id}`, change, { 'Content-Type': 'application/json' })
    await told('acknowledged')
    await repeats()
    await cart.up()
    await eventually(active, (alerts) => alerts.length === 0)
    const isOver = ({ data }: { data: { status: string }[] }) => !resolved || data[0]?.status === 'resolved'
    await eventually(() => incmon.get('/api/alerts'), isOver)
    clock.ahead += wait
    await told('recovered')
    await cart.down()
    await told('again')
    // Seen from incmon's moved clock, the new start can lie before an inferred end.
    assert.match(last().message.title, resolved ? /^cart is critical again/ : /^(cart is critical again|The all-clear)/)
    assert.equal((await incmon.get(`/api/incidents/${id}`)).acknowledgedBy, null)
    await till.down()
    await told('worse')
    assert.deepEqual(last().conditions, ['CartSlow'])
    assert.deepEqual(kinds(), ['opened', 'acknowledged', 'recovered', 'again', 'worse'])
  })
}
