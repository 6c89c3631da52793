/** Runs a real Alertmanager with our example configuration against incmon. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { pageAt, shellBlocks } from './docs/pages.ts'
import { startAlertmanager, withoutAlertmanager } from './helpers/alertmanager.ts'
import { shell } from './helpers/cli.ts'
import { eventually, startServer } from './helpers/server.ts'
import { temporaryDirectory } from './helpers/store.ts'

const skip = withoutAlertmanager

/** Starts Alertmanager with the example configuration, the test server's URL, and short intervals. */
async function startExample(t: TestContext, incmon: { url: string; token: string }, more: { resolved: boolean }) {
  const directory = temporaryDirectory(t)
  const example = readFileSync(new URL('../examples/alertmanager.yml', import.meta.url), 'utf8')
  const config = example
    .replace('http://127.0.0.1:8080', incmon.url)
    .replace('group_wait: 10s', 'group_wait: 200ms')
    .replace('group_interval: 30s', 'group_interval: 500ms')
    .replace('repeat_interval: 2m', 'repeat_interval: 1s')
    .replace('send_resolved: true\n', `send_resolved: ${more.resolved}\n`)
  writeFileSync(join(directory, 'incmon-token'), incmon.token)
  const { url } = await startAlertmanager(t, directory, config)
  const api = `${url}/api/v2/alerts`
  const push = async (alerts: object[]) => {
    const headers = { 'Content-Type': 'application/json' }
    const response = await fetch(api, { method: 'POST', headers, body: JSON.stringify(alerts) })
    assert.equal(response.status, 200)
  }
  return { push, directory, url }
}

function alert(pod: string, more: object = {}) {
  const labels = {
    alertname: 'KubePodNotReady',
    namespace: 'shop',
    job: 'kube-state-metrics',
    severity: 'warning',
    pod,
  }
  return { labels, annotations: { summary: `${pod} is not ready` }, ...more }
}

test('Alertmanager’s alerts are grouped by their own identity, and repeats do not create new alerts', {
  skip,
}, async (t) => {
  const incmon = await startServer(t)
  const { push } = await startExample(t, incmon, { resolved: false })
  await push([alert('cart-5d4f8c7b9-x2kqp'), alert('cart-5d4f8c7b9-zt6vw')])
  const list = () => incmon.get('/api/alerts')
  const seen = await eventually(list, ({ data }) => data.length === 2 && data[0].occurrences >= 2)
  assert.equal(seen.pagination.total, 2)
  const services = await incmon.get('/api/services')
  assert.deepEqual(
    services.map(({ namespace, name, status }: Record<string, string>) => ({ namespace, name, status })),
    [{ namespace: 'shop', name: 'cart', status: 'degraded' }],
  )
  const [source] = (await incmon.get('/api/sources')).data
  assert.deepEqual([source.source, source.receiver, source.rejections], ['metrics', 'incmon', 0])
})

test('A resolved notification from Alertmanager ends the alert as reported', { skip }, async (t) => {
  const incmon = await startServer(t)
  const { push } = await startExample(t, incmon, { resolved: true })
  const startsAt = new Date(Date.now() - 60_000).toISOString()
  await push([alert('cart-5d4f8c7b9-x2kqp', { startsAt })])
  const list = () => incmon.get('/api/alerts')
  await eventually(list, ({ data }) => data[0]?.status === 'firing')
  await push([alert('cart-5d4f8c7b9-x2kqp', { startsAt, endsAt: new Date().toISOString() })])
  const { data } = await eventually(list, ({ data }) => data[0]?.status === 'resolved')
  assert.equal(data.length, 1)
  assert.equal(data[0].resolution, 'reported')
  assert.equal(data[0].startsAt, startsAt)
})

test('A wrong token is rejected and nothing is stored', { skip }, async (t) => {
  const incmon = await startServer(t)
  const { push } = await startExample(t, { ...incmon, token: 'incmon_wrong' }, { resolved: false })
  await push([alert('cart-5d4f8c7b9-x2kqp')])
  await eventually(
    async () => incmon.lines.join(''),
    (log) => log.includes('unknown token; check'),
  )
  assert.deepEqual(await incmon.get('/api/services'), [])
})

test('The commands in the documentation check the configuration', { skip }, async (t) => {
  const server = await startServer(t)
  const { push, directory, url } = await startExample(t, server, { resolved: false })
  await push([alert('cart-5d4f8c7b9-x2kqp')])
  const lines = shellBlocks(pageAt('docs/alertmanager.md')).flatMap((block) => block.split('\n'))
  for (const line of lines.filter((one) => one.startsWith('amtool '))) {
    const { code, err } = await shell(
      directory,
      `amtool() { command amtool --alertmanager.url='${url}' "$@"; }\n${line}`,
    )
    assert.equal(code, 0, `${line}\n${err}`)
  }
})
