/** Runs every curl command on /docs in a real shell against a real server. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'
import { ROUTES } from '../../src/app.ts'
import { assertDocumented } from '../helpers/openapi.ts'
import { startServer } from '../helpers/server.ts'

const run = promisify(execFile)
const example = (name: string) => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8')

suite('On /docs', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  let acme: Awaited<ReturnType<typeof startShell>>
  let lines: string[]
  before(async () => {
    acme = await startShell({ after: (work) => void cleanings.unshift(work) })
    lines = linesOf(await (await fetch(`${acme.url}/docs`)).text())
  })
  after(async () => {
    for (const clean of cleanings) await clean()
  })

  test('every curl command runs unchanged and gets the documented response', async (t) => {
    assert.ok(lines.length > ROUTES.length, `only ${lines.length} lines`)
    for (const line of lines) {
      const ids = await freshIds(acme.request, line)
      const { status, type, body } = await acme.shell(line, ids)
      assert.ok(status >= 200 && status < 300, `${status} ${body}\n${line}`)
      const [, method = 'GET', path = ''] = /^curl (?:-X (\w+) |-i )?"http:\/\/[^/]+([^?"]+)/.exec(line) ?? []
      const said = type.includes('json') && !line.startsWith('curl -i') ? JSON.parse(body) : body
      const named = path.replace(/\$(\w+)/, (_, name) => ids[name] ?? assert.fail(name))
      if (!line.startsWith('curl -i')) assertDocumented(method, named, status, type, said)
    }
    t.diagnostic(`${lines.length} curl lines`)
  })

  test('every operation has a curl command', () => {
    for (const { method, path } of ROUTES) {
      const start = `curl ${method === 'GET' ? '' : `-X ${method} `}"${acme.url}${path.replaceAll(/:\w+/g, '$')}`
      assert.ok(
        lines.some((line) => line.replaceAll(/\$\w+/g, '$').startsWith(`${start}"`)),
        start,
      )
    }
  })

  test('a command without its id is refused and changes nothing', async () => {
    const line = lines.find((one) => one.includes('$INTO')) ?? assert.fail('no merge')
    const { INTO: _, ...ids } = await freshIds(acme.request, line)
    const { status, body } = await acme.shell(line, ids)
    assert.deepEqual([status, JSON.parse(body).errors[0].path], [400, 'into'])
  })

  test('the command for the organization changes nothing, and the one for an incident changes only its status', async () => {
    for (const [path, changed] of [
      ['/api/organization', {}],
      [
        '/api/incidents/$INCIDENT_ID',
        { status: 'investigating', resolvedAt: null, acknowledgedBy: 'test', problem: 'on', problemState: 'on' },
      ],
    ] as const) {
      const start = `curl -X PATCH "${acme.url}${path}"`
      const line = lines.find((one) => one.startsWith(start)) ?? assert.fail(start)
      const ids = await freshIds(acme.request, line)
      const named = path.replace('$INCIDENT_ID', ids.INCIDENT_ID ?? '')
      const { alerts: _, correlations: __, timeline: ___, ...before } = (await acme.request('GET', named)).body
      const { body } = await acme.shell(line, ids)
      const { acknowledgedAt, ...after } = JSON.parse(body)
      assert.equal(typeof acknowledgedAt, path.includes('incidents') ? 'string' : 'undefined')
      const { acknowledgedAt: ____, ...rest } = before
      assert.deepEqual(after, { ...rest, ...changed })
    }
  })
})

/**
 * Starts a server with a failed deploy and its alerts, and a shell whose curl also prints the status and content type.
 */
async function startShell(t: Parameters<typeof startServer>[0]) {
  const server = await startServer(t, { 'notify-allow': ['localhost'] })
  const home = mkdtempSync(join(tmpdir(), 'incmon-curl-'))
  t.after(() => rmSync(home, { recursive: true }))
  writeFileSync(join(home, '.curlrc'), 'silent\nshow-error\nwrite-out = "\\n%{http_code} %{content_type}"\n')
  await server.request('POST', '/api/webhooks/cluster', example('cluster-event.json'))
  await server.request('POST', '/api/webhooks/ci', example('gitlab-pipeline.json'), { 'X-Ci-Token': server.token })
  const shell = async (line: string, variables: Record<string, string>) => {
    const env = { PATH: process.env.PATH ?? '', CURL_HOME: home, INCMON_TOKEN: server.token, ...variables }
    const { stdout } = await run('sh', ['-c', line], { env })
    const [, body = '', status, type = ''] = /^(.*)\n(\d{3}) ?(.*)$/s.exec(stdout) ?? []
    return { status: Number(status), type, body }
  }
  return { ...server, shell }
}

const JSON_BODY = { 'Content-Type': 'application/json' }
let made = 0

/** Returns ids of records for the variables in a command. A record that the command can change or delete is new. */
async function freshIds(
  request: Awaited<ReturnType<typeof startServer>>['request'],
  line: string,
): Promise<Record<string, string>> {
  const first = async (path: string) => (await request('GET', path)).body.data[0]?.id as string
  const make = async (path: string, body: object) => {
    const answer = await request('POST', path, JSON.stringify(body), JSON_BODY)
    assert.equal(answer.status, 201, JSON.stringify(answer.body))
    return answer.body.id as string
  }
  const service = () => {
    made += 1
    return make('/api/services', { name: `service-${made}`, namespace: 'made' })
  }
  const incident = async () => make('/api/incidents', { title: 'slow', serviceId: await service(), severity: 'error' })
  const ids: Record<string, string> = {}
  for (const [name, work] of Object.entries<() => Promise<string>>({
    SERVICE_ID: service,
    INCIDENT_ID: async () => {
      const id = await incident()
      await request('PATCH', `/api/incidents/${id}`, '{"status":"resolved"}', JSON_BODY)
      return id
    },
    INTO: () => (line.includes('$INCIDENT_ID') ? incident() : service()),
    ACTION_ID: () => make(`/api/incidents/${ids.INCIDENT_ID}/actions`, { text: 'Add a limit' }),
    TOKEN_ID: () => make('/api/tokens', { name: 'spare', scopes: ['read'] }),
    SILENCE_ID: () => {
      const matchers = [{ name: 'service', op: '=', value: 'made' }]
      return make('/api/silences', { matchers, endsAt: '2036-11-21T02:00:00Z', comment: 'upgrade' })
    },
    CHANNEL_ID: () => {
      made += 1
      return make('/api/channels', { name: `channel ${made}`, kind: 'webhook', url: 'http://127.0.0.1:9/' })
    },
    ALERT_ID: () => first('/api/alerts'),
    EVENT_ID: () => first('/api/events'),
    CORRELATION_ID: () => first('/api/correlations'),
  })) {
    if (new RegExp(`\\$${name}\\b`).test(line)) ids[name] = await work()
  }
  return ids
}

/** Returns the commands, except the one that follows a stream without an end. */
function linesOf(page: string): string[] {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return [...page.matchAll(/<pre class="shell"[^>]*><code>(.*?)<\/code>/gs)]
    .map(([, text = '']) => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => entities[name] ?? ''))
    .filter((line) => !line.startsWith('curl -N '))
}
