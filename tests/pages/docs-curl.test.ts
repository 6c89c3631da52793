/** Runs every curl command on /docs in a real shell against a real server. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { ROUTES } from '../../src/app.ts'
import { assertDocumented } from '../helpers/openapi.ts'
import { startServer } from '../helpers/server.ts'

const run = promisify(execFile)
const example = (name: string) => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8')

test('Every curl command on /docs runs unchanged and gets the documented response', async (t) => {
  const { url, token, request, shell } = await acmesShell(t)
  const lines = linesOf(await (await fetch(`${url}/docs`)).text())
  assert.ok(lines.length > ROUTES.length, `only ${lines.length} lines`)
  let ids = await freshIds(request)
  for (const line of lines) {
    const { status, type, body } = await shell(line, { INCMON_TOKEN: token, ...ids })
    assert.ok(status >= 200 && status < 300, `${status} ${body}\n${line}`)
    const [, method = 'GET', path = ''] = /^curl (?:-X (\w+) |-i )?"http:\/\/[^/]+([^?"]+)/.exec(line) ?? []
    const said = type.includes('json') && !line.startsWith('curl -i') ? JSON.parse(body) : body
    const named = path.replace(/\$(\w+)/, (_, name) => ids[name] ?? assert.fail(name))
    if (!line.startsWith('curl -i')) assertDocumented(method, named, status, type, said)
    if (method !== 'GET' && /\$\w*(_ID|INTO)/.test(line)) ids = await freshIds(request)
  }
  t.diagnostic(`${lines.length} curl lines`)
})

test('Every operation has a curl command', async (t) => {
  const { url } = await startServer(t)
  const lines = linesOf(await (await fetch(`${url}/docs`)).text())
  for (const { method, path } of ROUTES) {
    const start = `curl ${method === 'GET' ? '' : `-X ${method} `}"${url}${path.replaceAll(/:\w+/g, '$')}`
    assert.ok(
      lines.some((line) => line.replaceAll(/\$\w+/g, '$').startsWith(`${start}"`)),
      start,
    )
  }
})

test('A command without its id is refused and changes nothing', async (t) => {
  const { url, token, request, shell } = await acmesShell(t)
  const lines = linesOf(await (await fetch(`${url}/docs`)).text()).filter((line) => line.includes('$INTO'))
  const { SERVICE_ID = '' } = await freshIds(request)
  const { status, body } = await shell(lines[0] ?? assert.fail('no merge'), { INCMON_TOKEN: token, SERVICE_ID })
  assert.deepEqual([status, JSON.parse(body).errors[0].path], [400, 'into'])
})

test('The command for the organization changes nothing, and the one for an incident changes only its status', async (t) => {
  const { url, token, request, shell } = await acmesShell(t)
  const lines = linesOf(await (await fetch(`${url}/docs`)).text())
  const ids = await freshIds(request)
  for (const [path, changed] of [
    ['/api/organization', {}],
    [
      `/api/incidents/${ids.INCIDENT_ID}`,
      { status: 'investigating', resolvedAt: null, problem: 'on', acknowledgedBy: 'test' },
    ],
  ] as const) {
    const { alerts: _, correlations: __, timeline: ___, ...before } = (await request('GET', path)).body
    const start = `curl -X PATCH "${url}${path.replace(ids.INCIDENT_ID ?? '', '$INCIDENT_ID')}"`
    const line = lines.find((one) => one.startsWith(start)) ?? assert.fail(start)
    const { body } = await shell(line, { INCMON_TOKEN: token, ...ids })
    const { acknowledgedAt, ...after } = JSON.parse(body)
    assert.equal(typeof acknowledgedAt, path.includes('incidents') ? 'string' : 'undefined')
    const { acknowledgedAt: ____, ...rest } = before
    assert.deepEqual(after, { ...rest, ...changed })
  }
})

/**
 * Starts a server with a failed deploy and its alerts, and a shell whose curl also prints the status and content type.
 */
async function acmesShell(t: TestContext) {
  const server = await startServer(t, { 'notify-allow': ['localhost'] })
  const home = mkdtempSync(join(tmpdir(), 'incmon-curl-'))
  t.after(() => rmSync(home, { recursive: true }))
  writeFileSync(join(home, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n%{http_code} %{content_type}"\n')
  await server.request('POST', '/api/webhooks/cluster', example('cluster-event.json'))
  await server.request('POST', '/api/webhooks/ci', example('gitlab-pipeline.json'), { 'X-Ci-Token': server.token })
  const shell = async (line: string, variables: Record<string, string>) => {
    const { OTHER_INCIDENT_ID: INTO = '' } = variables
    // In both kinds of merges, the other record is called INTO.
    const other = line.includes('$INCIDENT_ID/merge') ? { INTO } : {}
    const env = { PATH: process.env.PATH ?? '', CURL_HOME: home, ...variables, ...other }
    const { stdout } = await run('sh', ['-c', line], { env })
    const [, body = '', status, type = ''] = /^(.*)\n(\d{3}) ?(.*)$/s.exec(stdout) ?? []
    return { status: Number(status), type, body }
  }
  return { ...server, shell }
}

const JSON_BODY = { 'Content-Type': 'application/json' }
let made = 0

/** Returns the id of a record of each kind. Records that a command can change or delete are created anew. */
async function freshIds(request: Awaited<ReturnType<typeof startServer>>['request']): Promise<Record<string, string>> {
  const first = async (path: string) => (await request('GET', path)).body.data[0]?.id as string
  const make = async (path: string, body: object) => {
    const answer = await request('POST', path, JSON.stringify(body), JSON_BODY)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.id as string
  }
  made += 2
  const SERVICE_ID = await make('/api/services', { name: `one-${made}`, namespace: 'made' })
  const INTO = await make('/api/services', { name: `two-${made}`, namespace: 'made' })
  const INCIDENT_ID = await make('/api/incidents', { title: 'slow', serviceId: SERVICE_ID, severity: 'error' })
  await request('PATCH', `/api/incidents/${INCIDENT_ID}`, '{"status":"resolved"}', JSON_BODY)
  const OTHER_INCIDENT_ID = await make('/api/incidents', { title: 'down', serviceId: INTO, severity: 'error' })
  const ACTION_ID = await make(`/api/incidents/${INCIDENT_ID}/actions`, { text: 'Add a limit' })
  const TOKEN_ID = await make('/api/tokens', { name: 'spare', scopes: ['read'] })
  const SILENCE_ID = await make('/api/silences', {
    matchers: [{ name: 'service', op: '=', value: 'made' }],
    endsAt: '2036-11-21T02:00:00Z',
    comment: 'upgrade',
  })
  const CHANNEL_ID = await make('/api/channels', {
    name: `channel ${made}`,
    kind: 'webhook',
    url: 'http://127.0.0.1:9/',
  })
  const [ALERT_ID = '', EVENT_ID = '', CORRELATION_ID = ''] = await Promise.all(
    ['/api/alerts', '/api/events', '/api/correlations'].map(first),
  )
  const incidents = { INCIDENT_ID, OTHER_INCIDENT_ID, ACTION_ID }
  return { ...incidents, CHANNEL_ID, SERVICE_ID, INTO, TOKEN_ID, SILENCE_ID, ALERT_ID, EVENT_ID, CORRELATION_ID }
}

/** Returns the commands, except the one that follows a stream without an end. */
function linesOf(page: string): string[] {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return [...page.matchAll(/<pre class="shell"[^>]*><code>(.*?)<\/code>/gs)]
    .map(([, text = '']) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? ''))
    .filter((line) => !line.startsWith('curl -N '))
}
