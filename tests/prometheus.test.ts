/** Runs a real Prometheus and amtool against incmon, with the configuration from the documentation. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createOrganization } from '../src/actions/organizations.ts'
import { createToken } from '../src/actions/tokens.ts'
import { systemDeps } from '../src/deps.ts'
import { findGraph } from '../src/store/incident/graphs.ts'
import { openStore } from '../src/store/sqlite/open.ts'
import { migrate } from '../src/store/sqlite/schema/migrate.ts'
import { codeBlocks, pageAt, shellBlocks } from './docs/pages.ts'
import { incmonServe, shell } from './helpers/cli.ts'
import { eventually, startServer } from './helpers/server.ts'
import { temporaryDirectory } from './helpers/store.ts'

const missing = spawnSync('prometheus', ['--version']).error !== undefined
const skip = missing && !process.env.CI ? 'prometheus is not installed: apt-get install prometheus' : false
const PAGE = pageAt('docs/alertmanager.md')
const RULES = `groups:
- name: shop
  rules:
  - alert: KubePodNotReady
    expr: up{job="cart"} == 0
    labels: {severity: critical, namespace: shop, service: cart}
    annotations: {summary: The cart is down}
`

/** Returns the YAML block of the documentation that contains `key`, for this server. */
function documented(key: string, { url, token }: { url: string; token: string }): string {
  const block = codeBlocks(PAGE, 'yaml').find((text) => text.includes(key)) ?? assert.fail(`no block with ${key}`)
  return block.replaceAll('127.0.0.1:8080', new URL(url).host).replace('API_TOKEN', token)
}

type Incmon = Pick<Awaited<ReturnType<typeof startServer>>, 'url' | 'token' | 'get'>

/** Starts Prometheus. It scrapes the cart, which is down, every second. */
async function startPrometheus(
  t: TestContext,
  incmon: Incmon,
  target: string,
  { replica = 'a', port = 0, directory = temporaryDirectory(t) } = {},
) {
  const config = `global: {scrape_interval: 1s, evaluation_interval: 1s, external_labels: {prometheus_replica: ${replica}}}
rule_files: [rules.yml]
scrape_configs: [{job_name: cart, static_configs: [{targets: ['${target}']}]}]
${documented('alertmanagers:', incmon)}`
  for (const [name, text] of [
    ['prometheus.yml', config],
    ['rules.yml', RULES],
    ['incmon-token', incmon.token],
  ] as const)
    writeFileSync(join(directory, name), text)
  const options = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', '--rules.alert.resend-delay=1s']
  const prometheus = spawn('prometheus', [...options, `--web.listen-address=127.0.0.1:${port}`], { cwd: directory })
  t.after(() => stop(prometheus))
  return prometheus
}

async function stop(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return
  program.kill('SIGKILL')
  await once(program, 'exit')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Returns an address at which nothing answers until `up` is called. */
async function makeTarget(t: TestContext) {
  const port = await freePort()
  const listen = () =>
    new Promise<Server>((resolve) => {
      const server = createServer((_, response) => response.end('')).listen(port, '127.0.0.1', () => resolve(server))
    })
  const up = async () => {
    const server = await listen()
    t.after(() => server.close())
  }
  return { target: `127.0.0.1:${port}`, up }
}

const firing = (incmon: Incmon) =>
  eventually(
    () => incmon.get('/api/alerts'),
    ({ data }) => data[0]?.status === 'firing',
  )

/** A server in a process of its own, which can be ended and started again at the same address. */
async function startProcess(t: TestContext) {
  const directory = temporaryDirectory(t)
  const db = openStore(join(directory, 'incmon.db'))
  migrate(db, 0)
  const deps = systemDeps(db)
  const { rowId } = createOrganization(deps, { name: 'Acme', plan: 'Team' })
  const { token } = createToken(deps, { organizationId: rowId, name: 'test', scopes: ['ingest', 'read'] })
  db.close()
  let { url, stop } = await incmonServe(t, directory)
  const get = async (path: string) =>
    (await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } })).json() as ReturnType<Incmon['get']>
  const restart = async (signal: NodeJS.Signals) => {
    await stop(signal)
    ;({ url, stop } = await incmonServe(t, directory, {}, new URL(url).port))
  }
  return { url, token, get, restart }
}

test('an alert of Prometheus stays one alert while incmon is killed and restarted, until its end is reported', {
  skip,
}, async (t) => {
  const incmon = await startProcess(t)
  const { target, up } = await makeTarget(t)
  await startPrometheus(t, incmon, target)
  const repeated = (than: number) =>
    eventually(
      () => incmon.get('/api/alerts'),
      ({ data }) => data[0]?.status === 'firing' && data[0].occurrences > than,
    )
  let before = await repeated(2)
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    await incmon.restart(signal)
    before = await repeated(before.data[0].occurrences)
    assert.equal(before.data.length, 1)
  }
  await up()
  const { data } = await eventually(
    () => incmon.get('/api/alerts'),
    (one) => one.data[0].status === 'resolved',
  )
  assert.deepEqual([data.length, data[0].resolution, data[0].name], [1, 'reported', 'KubePodNotReady'])
  assert.match(data[0].links.generator, /graph\?g0\.expr=up/)
})

test('the incident of an alert shows its graph', { skip }, async (t) => {
  const incmon = await startServer(t, { 'notify-allow': ['127.0.0.1'] })
  const port = await freePort()
  const settings = JSON.stringify({ settings: { 'prometheus-url': `http://127.0.0.1:${port}` } })
  await incmon.request('PATCH', '/api/organization', settings, { 'Content-Type': 'application/json' })
  const { target } = await makeTarget(t)
  await startPrometheus(t, incmon, target, { port })
  const [{ id }] = (
    await eventually(
      () => incmon.get('/api/incidents'),
      ({ data }) => data.length > 0,
    )
  ).data
  const { graph, fault } = await eventually(
    async () => findGraph(incmon.db, incmon.organization.rowId, id) ?? { graph: null, fault: null },
    (found) => found.graph !== null || found.fault !== null,
  )
  assert.equal(fault, null)
  assert.deepEqual([graph?.rule, graph?.expression], ['up{job="cart"} == 0', 'up{job="cart"}'])
  assert.ok(graph?.series[0]?.points.some(([, value]) => value === 0))
})

test('the alert of two Prometheus replicas is one alert', { skip }, async (t) => {
  const incmon = await startServer(t)
  const { target } = await makeTarget(t)
  for (const replica of ['a', 'b']) await startPrometheus(t, incmon, target, { replica })
  await firing(incmon)
  const { data } = await eventually(
    () => incmon.get('/api/alerts'),
    (one) => one.data[0].occurrences > 6,
  )
  assert.equal(data.length, 1)
})

test('an alert ends when Prometheus is killed and does not send it again, and goes on after a restart', {
  skip,
}, async (t) => {
  const incmon = await startServer(t)
  const { target } = await makeTarget(t)
  const directory = temporaryDirectory(t)
  const prometheus = await startPrometheus(t, incmon, target, { directory })
  await firing(incmon)
  await stop(prometheus)
  const { data } = await eventually(
    () => incmon.get('/api/alerts'),
    (one) => one.data[0].status === 'resolved',
  )
  assert.deepEqual([data.length, data[0].resolution], [1, 'inferred'])
  await startPrometheus(t, incmon, target, { directory })
  const again = await eventually(
    () => incmon.get('/api/alerts'),
    (one) => one.data[0].status === 'firing',
  )
  assert.equal(again.data.length, 1)
})

/** Returns a function that runs a command line with the configuration of amtool from the documentation. */
function makeAmtool(t: TestContext, incmon: Incmon) {
  const home = temporaryDirectory(t)
  // Debian's amtool reads another file.
  for (const path of ['amtool/config.yml', 'prometheus/amtool.yml']) {
    mkdirSync(dirname(join(home, '.config', path)), { recursive: true })
    writeFileSync(join(home, '.config', path), documented('alertmanager.url:', incmon))
  }
  return async (line: string) => {
    const { code, out, err } = await shell(home, `export HOME='${home}'\n${line}`)
    assert.equal(code, 0, `${line}\n${err}`)
    return out
  }
}

test('without an Alertmanager, an alert fires, is silenced by amtool, has a graph and resolves', {
  skip,
}, async (t) => {
  const incmon = await startServer(t, { 'notify-allow': ['127.0.0.1'] })
  const port = await freePort()
  const settings = JSON.stringify({ settings: { 'prometheus-url': `http://127.0.0.1:${port}` } })
  await incmon.request('PATCH', '/api/organization', settings, { 'Content-Type': 'application/json' })
  const { target, up } = await makeTarget(t)
  await startPrometheus(t, incmon, target, { port })
  const amtool = makeAmtool(t, incmon)
  await firing(incmon)
  await amtool('amtool silence add --author=me --comment=Upgrade alertname=KubePodNotReady')
  await eventually(
    () => amtool('amtool alert query --silenced'),
    (text) => /KubePodNotReady .* suppressed/.test(text),
  )
  const [{ id }] = (await incmon.get('/api/incidents')).data
  const drawn = (found: ReturnType<typeof findGraph>) => (found?.graph?.series.length ?? 0) > 0
  await eventually(async () => findGraph(incmon.db, incmon.organization.rowId, id), drawn)
  await up()
  const isOver = ({ data }: { data: { status: string; resolution: string }[] }) => data[0]?.status === 'resolved'
  const { data } = await eventually(() => incmon.get('/api/alerts'), isOver)
  assert.deepEqual([data.length, data[0]?.resolution], [1, 'reported'])
  assert.doesNotMatch(await amtool('amtool alert query --silenced --inhibited'), /KubePodNotReady/)
})

test('amtool lists, silences and routes as in the documentation', { skip }, async (t) => {
  const incmon = await startServer(t)
  const { target } = await makeTarget(t)
  await startPrometheus(t, incmon, target)
  await firing(incmon)
  const amtool = makeAmtool(t, incmon)
  const [block = ''] = shellBlocks(PAGE).filter((one) => one.includes('amtool silence expire'))
  const out: string[] = []
  for (const line of block.trim().split('\n')) out.push(await amtool(line))
  assert.match(out[0] ?? '', /KubePodNotReady +.* The cart is down +active/)
  assert.match(out[2] ?? '', /alertname="KubePodNotReady" .* me +Upgrade/)
  assert.match(out[4] ?? '', /default-route +receiver: incmon/)
  const add = 'amtool silence add --author=me --comment=Again alertname=KubePodNotReady'
  const id = (await amtool(add)).trim()
  assert.doesNotMatch(await amtool('amtool alert query'), /KubePodNotReady/)
  await eventually(
    () => amtool('amtool alert query --silenced'),
    (text) => /KubePodNotReady .* suppressed/.test(text),
  )
  await amtool('amtool silence query -o json > silences.json')
  await amtool(`amtool silence expire ${id}`)
  assert.match(await amtool('amtool silence query --expired'), new RegExp(id))
  assert.notEqual((await amtool('amtool silence import silences.json')).trim(), id)
  const [current = ''] = (await amtool('amtool silence query --quiet')).trim().split('\n')
  assert.match(
    await amtool(`amtool silence update --duration=3h --comment=Longer ${current}`),
    new RegExp(`${current}.*Longer`),
  )
  assert.match(await amtool('amtool config routes test severity=critical'), /incmon/)
  assert.match(await amtool('amtool cluster show'), /disabled/)
})
