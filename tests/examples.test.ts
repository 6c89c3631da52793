/** Every file in examples/ works as its comments say. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseAllDocuments, parse as parseYaml } from 'yaml'

import { DEFAULTS, readConfig } from '../src/config.ts'
import { KEYS } from '../src/settings.ts'
import { CONNECTIONS } from '../src/web/sources/connections.ts'
import { call } from './helpers/cli.ts'
import { ROOT, skipExecutable } from './helpers/executable.ts'

import { startServer } from './helpers/server.ts'
import { temporaryDirectory } from './helpers/store.ts'

const folder = new URL('../examples/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
const path = (name: string) => fileURLToPath(new URL(name, folder))

const PAYLOADS = {
  'cluster-event.json': 'cluster',
  'alertmanager-notification.json': 'metrics',
  'grafana-notification.json': 'dashboard',
  'gitlab-pipeline.json': 'ci',
}
const USED = [
  ...Object.keys(PAYLOADS),
  ...['alertmanager.yml', 'grafana-contact-point.yaml', 'gitlab-webhook.sh', 'incmon.toml', 'walkthrough.sh'],
  ...['kubernetes-event-exporter.yaml', 'kubernetes-event-exporter-layout.yaml', 'prometheus.yml'],
  ...['incmon.service', 'Dockerfile', 'kubernetes.yaml'],
]

test('Every example has a test', () => {
  assert.deepEqual(readdirSync(folder).sort(), [...USED].sort())
})

test('The four payloads are accepted and belong to one service', async (t) => {
  const incmon = await startServer(t)
  for (const [file, source] of Object.entries(PAYLOADS)) {
    const headers = { 'X-Ci-Token': incmon.token }
    const { status, body } = await incmon.request('POST', `/api/webhooks/${source}`, read(file), headers)
    assert.deepEqual([status, body.received], [200, true], file)
  }
  const services = await incmon.get('/api/services')
  assert.deepEqual(
    services.map((one: Record<string, unknown>) => [one.namespace, one.name, one.status]),
    [['shop', 'checkout', 'critical']],
  )
  assert.equal((await incmon.get('/api/incidents')).pagination.total, 1)
})

test('The payloads contain no times, so their alerts start when they are sent', async (t) => {
  const incmon = await startServer(t)
  const before = Date.now()
  for (const [file, source] of Object.entries(PAYLOADS)) {
    assert.doesNotMatch(read(file), /\b20\d\d-/)
    await incmon.request('POST', `/api/webhooks/${source}`, read(file), { 'X-Ci-Token': incmon.token })
  }
  const { data } = await incmon.get('/api/alerts')
  assert.deepEqual(
    [data.length, data.filter((one: { startsAt: string }) => Date.parse(one.startsAt) < before)],
    [4, []],
  )
})

test('The secret in the pipeline’s variables is never shown', async (t) => {
  const incmon = await startServer(t)
  const headers = { 'X-Ci-Token': incmon.token }
  const { body } = await incmon.request('POST', '/api/webhooks/ci', read('gitlab-pipeline.json'), headers)
  const event = await incmon.get(`/api/events/${body.eventId}`)
  assert.equal(event.payload.object_attributes.variables[0].value, '[redacted]')
})

test('Alertmanager’s configuration has the settings from which the delivery interval is learned', () => {
  const { route, receivers } = parseYaml(read('alertmanager.yml'))
  const [first] = route.routes
  assert.deepEqual([first.receiver, first.continue, first.group_by], ['incmon', true, ['alertname', 'namespace']])
  assert.deepEqual([first.group_wait, first.group_interval, first.repeat_interval], ['10s', '30s', '2m'])
  assert.equal(receivers.at(-1).webhook_configs[0].send_resolved, true)
})

test('Alertmanager’s configuration leaves the alerts of the default receiver with this receiver', () => {
  const { route } = parseYaml(read('alertmanager.yml'))
  assert.deepEqual(route.routes.at(-1), { receiver: route.receiver })
  assert.notEqual(route.receiver, 'incmon')
})

test('The page that connects Alertmanager shows the same text as the example', () => {
  const shown = CONNECTIONS.metrics.text.replace('{url}', 'http://127.0.0.1:8080/api/webhooks/metrics')
  assert.ok(read('alertmanager.yml').endsWith(`\n${shown}\n`))
})

test('The Grafana contact point and both exporter receivers use a webhook with a bearer token', async (t) => {
  const incmon = await startServer(t)
  const grafana = parseYaml(read('grafana-contact-point.yaml')).contactPoints[0].receivers[0].settings
  const exporters = ['kubernetes-event-exporter.yaml', 'kubernetes-event-exporter-layout.yaml'].map(
    (file) => parseYaml(read(file)).receivers[0].webhook,
  )
  const targets = [
    [grafana.url, `${grafana.authorization_scheme} ${grafana.authorization_credentials}`, 'grafana-notification.json'],
    ...exporters.map(({ endpoint, headers }) => [endpoint, headers.Authorization, 'cluster-event.json']),
  ]
  for (const [url, authorization, file] of targets) {
    const Authorization = authorization.replace(/\$?INCMON_TOKEN/, incmon.token)
    const { status } = await incmon.request('POST', new URL(url).pathname, read(file), { Authorization })
    assert.equal(status, 200, url)
  }
})

test('The exporter’s layout renders to an event with all its facts', async (t) => {
  const incmon = await startServer(t)
  const { layout } = parseYaml(read('kubernetes-event-exporter-layout.yaml')).receivers[0].webhook
  const values: Record<string, string> = {
    '.InvolvedObject.Namespace': 'shop',
    '.InvolvedObject.Name': 'cart-5d4f8c7b9-x2kqp',
    '.InvolvedObject.Kind': 'Pod',
    '.Reason': 'BackOff',
    '.Message': 'Back-off restarting failed container cart in pod cart-5d4f8c7b9-x2kqp_shop(1)',
    '.Type': 'Warning',
    '.Count': '7',
    '.Source.Host': 'worker-1',
    '.FirstTimestamp': '2026-11-20 09:31:10 +0000 UTC',
    '.LastTimestamp': '2026-11-20 09:35:40 +0000 UTC',
    'toJson .InvolvedObject.Labels': '{"app.kubernetes.io/name":"cart"}',
  }
  const body = Object.fromEntries(
    Object.entries<string>(layout).map(([key, template]) => [
      key,
      values[template.replace(/^\{\{ | \}\}$/g, '')] ?? assert.fail(template),
    ]),
  )
  const answer = await incmon.request('POST', '/api/webhooks/cluster?dryRun=1', JSON.stringify(body))
  const [decision] = answer.body.decisions
  assert.deepEqual([decision.service.namespace, decision.service.name], ['shop', 'cart'])
  assert.deepEqual([decision.alert.name, decision.alert.severity], ['CrashLoopBackOff', 'critical'])
})

test('The GitLab script registers the webhook with its token', async (t) => {
  const seen: { url: string; body: string; token: string }[] = []
  const gitlab = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      seen.push({ url: String(request.url), body, token: String(request.headers['private-token']) })
      response.end('{}')
    })
  })
  await new Promise<void>((resolve) => gitlab.listen(0, '127.0.0.1', resolve))
  t.after(() => gitlab.close())
  const GITLAB_URL = `http://127.0.0.1:${(gitlab.address() as AddressInfo).port}`
  const env = {
    ...process.env,
    GITLAB_URL,
    GITLAB_TOKEN: 'g',
    INCMON_URL: 'https://incmon.example.com',
    INCMON_TOKEN: 't',
  }
  await promisify(execFile)(path('gitlab-webhook.sh'), ['shop/checkout'], { env })
  assert.equal(seen[0]?.url, '/api/v4/projects/shop%2Fcheckout/hooks')
  assert.equal(new URLSearchParams(seen[0]?.body).get('url'), 'https://incmon.example.com/api/webhooks/ci')
  assert.equal(new URLSearchParams(seen[0]?.body).get('token'), 't')
})

test('The GitLab script says which setting is missing', () => {
  const { status, stderr } = spawnSync(path('gitlab-webhook.sh'), ['shop/checkout'], {
    env: { PATH: process.env.PATH },
  })
  assert.notEqual(status, 0)
  assert.match(String(stderr), /set GITLAB_URL/)
})

test('The Prometheus configuration scrapes incmon, and its expressions use existing metrics', async (t) => {
  const incmon = await startServer(t)
  await incmon.request('POST', '/api/webhooks/metrics', read('alertmanager-notification.json'))
  const [job] = parseYaml(read('prometheus.yml')).scrape_configs
  assert.deepEqual([job.metrics_path, job.scheme, job.authorization.type], [undefined, undefined, undefined])
  const response = await fetch(`${incmon.url}/metrics`, { headers: { Authorization: `Bearer ${incmon.token}` } })
  const named = [...read('prometheus.yml').matchAll(/\bincmon_\w+/g)].map(([name]) => name)
  const text = await response.text()
  assert.deepEqual(
    named.filter((name) => !text.includes(`\n${name}{`)),
    [],
  )
})

test('The configuration file is accepted unchanged', () => {
  const result = readConfig({ flags: { config: 'incmon.toml' }, env: {}, readFile: () => read('incmon.toml') })
  assert.deepEqual(result, { config: DEFAULTS })
})

test('The configuration file contains every key', () => {
  for (const name of Object.keys(KEYS)) assert.match(read('incmon.toml'), new RegExp(`^(# )?${name} = `, 'm'))
})

test('The walkthrough goes from an empty database to a postmortem', async () => {
  const { stdout } = await promisify(execFile)(path('walkthrough.sh'), { timeout: 240_000 })
  assert.match(
    stdout,
    /SUSPECTS, a change that stands out first, then by score\n0\.\d\d {2}pipeline shop\/checkout#4711\n/,
  )
  assert.match(stdout, /^resolved incident 1 \(checkout: CrashLoopBackOff\) of shop\/checkout$/m)
  assert.match(stdout, /^# Postmortem: checkout: CrashLoopBackOff$/m)
  for (const line of stdout.split('\n')) assert.ok(line.length <= 120, line)
  assert.match(stdout, /== Done/)
})

/** systemd-analyze can check the unit even if systemd is not running. CI installs the package. */
const skipSystemd =
  spawnSync('systemd-analyze', ['--version']).error && !process.env.CI
    ? 'systemd-analyze is not installed: apt-get install systemd'
    : false

test('systemd accepts the unit unchanged', { skip: skipSystemd }, (t) => {
  const unit = join(temporaryDirectory(t), 'incmon.service')
  writeFileSync(unit, read('incmon.service').replaceAll('/usr/local/bin/incmon', process.execPath))
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' })
  const ours = stderr.split('\n').filter((line) => line.includes('incmon.service'))
  assert.deepEqual([status, ours], [0, []])
})

test('The unit starts incmon again however often it has failed, and limits its memory', () => {
  const [, unit = '', service = ''] = read('incmon.service').split(/^\[(?:Unit|Service)\]$/m)
  assert.match(unit, /^StartLimitIntervalSec=0$/m)
  for (const line of [/^Restart=on-failure$/m, /^RestartSec=\d+$/m, /^MemoryMax=512M$/m]) assert.match(service, line)
  for (const file of ['incmon.service', 'Dockerfile'])
    assert.match(read(file), /^(ENV |Environment=)MALLOC_ARENA_MAX=1$/m)
})

test('The unit restricts what a compromised process can access', { skip: skipSystemd }, () => {
  const args = ['security', '--offline=true', '--no-pager', path('incmon.service')]
  const { stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
  const [, exposure] = /exposure level for incmon\.service: ([\d.]+)/.exec(stdout) ?? assert.fail(stdout)
  assert.ok(Number(exposure) <= 1.5, exposure)
})

test('The unit can write only to its own directory, which contains the database', () => {
  const lines = read('incmon.service').split('\n')
  const settings = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.split('=')[1])
  assert.deepEqual([settings('StateDirectory'), settings('ProtectSystem')], [['incmon'], ['strict']])
  assert.deepEqual([settings('DynamicUser'), settings('ReadWritePaths')], [['yes'], []])
  assert.ok(lines.includes('Environment=INCMON_DATABASE=%S/incmon/incmon.db'))
  assert.ok(lines.includes('ExecStartPost=/usr/local/bin/incmon health --wait'))
})

test('The image contains only the executable and a health check', () => {
  const lines = read('Dockerfile').split('\n')
  const all = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1))
  assert.deepEqual(all('FROM'), ['gcr.io/distroless/cc-debian12:nonroot'])
  assert.deepEqual([all('ARG'), all('RUN'), all('ADD')], [['EXECUTABLE=dist/incmon'], [], []])
  assert.match(all('COPY').join(), /^--chmod=0755 \$\{EXECUTABLE\} \/incmon$/)
  assert.deepEqual([all('ENTRYPOINT'), all('CMD')], [['["/incmon"]'], ['["serve"]']])
  assert.match(all('HEALTHCHECK')[0] ?? '', / CMD \["\/incmon", "health"\]$/)
})

test('The image copies a file that the build creates', { skip: skipExecutable }, () => {
  const [, copied = ''] = /^ARG EXECUTABLE=(.+)$/m.exec(read('Dockerfile')) ?? []
  assert.ok(statSync(join(ROOT, copied)).mode & 0o111, copied)
})

test('the Kubernetes manifest runs one server, and its parts refer to each other', () => {
  const documents = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS())
  const [claim, deployment, service] = documents
  const { template, replicas, strategy } = deployment.spec
  const [container] = template.spec.containers
  assert.deepEqual([documents.length, replicas, strategy.type], [3, 1, 'Recreate'])
  assert.equal(template.spec.volumes[0].persistentVolumeClaim.claimName, claim.metadata.name)
  assert.deepEqual(service.spec.selector, template.metadata.labels)
  assert.deepEqual([container.ports[0].containerPort, service.spec.ports[0].targetPort], [DEFAULTS.port, 'http'])
  const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe]
  assert.deepEqual(
    probes.map(({ httpGet }) => httpGet.path),
    ['/healthz', '/healthz', '/readyz'],
  )
})

test('the Kubernetes manifest keeps the database on the volume and runs without privileges', () => {
  const [, deployment] = parseAllDocuments(read('kubernetes.yaml')).map((one) => one.toJS())
  const { securityContext: pod, containers } = deployment.spec.template.spec
  const [{ securityContext, volumeMounts, env }] = containers
  const [, directory] = /^ENV INCMON_DATABASE=(.+)\/incmon\.db$/m.exec(read('Dockerfile')) ?? []
  assert.equal(volumeMounts[0].mountPath, directory)
  assert.deepEqual([pod.runAsNonRoot, securityContext.readOnlyRootFilesystem], [true, true])
  assert.deepEqual(securityContext.capabilities.drop, ['ALL'])
  const variables = Object.fromEntries(env.map(({ name, value }: Record<string, string>) => [name, value]))
  assert.ok('config' in readConfig({ flags: {}, env: variables, readFile: () => '' }))
})

test('the Kubernetes manifest says how the server watches its own cluster', async () => {
  const { out } = await call(ROOT, ['kubernetes', 'manifest'])
  const account = parseAllDocuments(out)
    .map((one) => one.toJS())
    .find(({ kind }) => kind === 'ServiceAccount')
  const text = read('kubernetes.yaml')
  const [, replaced = ''] = /# "(serviceAccountName: .+)"\. Also/.exec(text) ?? []
  const [, deployment] = parseAllDocuments(text.replace('automountServiceAccountToken: false', replaced))
  assert.equal(deployment?.toJS().spec.template.spec.serviceAccountName, account.metadata.name)
  assert.match(text, new RegExp(`kubectl apply -n ${account.metadata.namespace} `))
  const [, name = '', value = ''] = /variable (INCMON_\w+) with the value "(.+)"/.exec(text) ?? []
  assert.ok('config' in readConfig({ flags: {}, env: { [name]: value }, readFile: () => '' }), name)
})

test('The settings of the image and of the unit are accepted unchanged', () => {
  const set = [
    ...`${read('Dockerfile')}\n${read('incmon.service')}`.matchAll(/^(?:ENV |Environment=)(INCMON_\w+)=(.+)$/gm),
  ]
  for (const [, name = '', value = ''] of set) {
    const options = { flags: {}, env: { [name]: value }, readFile: () => '' }
    assert.ok('config' in readConfig(options), name)
  }
  assert.equal(set.length, 3)
})
