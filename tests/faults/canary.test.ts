/** Secrets that senders and callers reveal by accident never appear in files, logs or responses. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { signIn } from '../../src/actions/sessions.ts'
import { systemDeps } from '../../src/deps.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alert, alertmanager, crashLoop, grafana, pipeline } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { request } from './load.ts'
import { makeDatabase, PROGRAM_LINE, startServer } from './server.ts'

// Assembled here so that secret scanners do not report the tests.
const SECRETS = [
  `gl${'pat'}-${'x1Y2'.repeat(5)}`,
  `AK${'IA'}${'Q7'.repeat(8)}`,
  `ey${'JhbGciOi'}.ey${'JzdWIiOi'}.sig-nature-9`,
  'hunter2-of-the-canary',
  `gh${'o_'}${'z8W7'.repeat(9)}`,
]
const [GITLAB = '', AWS = '', JWT = '', PASSWORD = '', GITHUB = ''] = SECRETS
const PATHS = ['alerts', 'events', 'services', 'incidents', 'correlations', 'rejections', 'sources', 'tokens'].map(
  (list) => `/api/${list}`,
)
/** Paths that are rejected or not found. */
const ERRORS = [`/${GITLAB}`, `/api/${GITLAB}`, `/api/alerts?from=${JWT}`, `/api/alerts?q=${PASSWORD}`]
const PAGES = ['/', '/alerts', '/incidents', '/sources', '/sign-in', '/nowhere']
const COMMANDS = [
  ['doctor', '--full'],
  ['service', 'list'],
  ['incident', 'list'],
  ['alert', 'list'],
  ['token', 'list'],
  ['check-config'],
  ['config'],
]

/** Payloads of each kind that contain secrets, and an invalid body. */
function payloads() {
  const told = `clone https://bot:${PASSWORD}@git.example/x with ${GITLAB}, key ${AWS}, jwt ${JWT}, ${GITHUB}`
  const labels = { deployment: 'shop', severity: 'critical', password: PASSWORD }
  return [
    ['cluster', crashLoop('cart-5d4f8c7b9-x2kqp', { message: told })],
    ['metrics', alertmanager([alert('Down', labels, { summary: told })])],
    ['dashboard', grafana([alert('Down', labels, { summary: told })])],
    ['ci', pipeline('failed', 'shop/cart', { id: 7, ref: GITLAB })],
    ['metrics', { alerts: [{ labels: told }] }],
  ] as const
}

/** Creates a token for an organization and a session signed in with it. Returns the session. */
function signedIn(file: string, token: string): string {
  const db = openStore(file)
  try {
    return signIn(systemDeps(db), token, { person: 'Ada', agent: 'a test', stay: true }).secret
  } finally {
    db.close()
  }
}

function filesOf(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(directory, name), 'latin1'))
}

test('planted secrets appear in no file, log line, response, page or output', async (t) => {
  const directory = temporaryDirectory(t)
  const { file, token } = makeDatabase(directory)
  const session = signedIn(file, token)
  const server = await startServer(t, file, [], ['--log-level', 'debug'])
  const target = { url: server.url, token }
  for (const [source, body] of payloads()) await request(target, 'POST', `/api/webhooks/${source}`, body)
  await request({ ...target, token: GITLAB }, 'GET', '/api/alerts')
  const ask = async (paths: readonly string[], headers: Record<string, string>) => {
    const texts: string[] = []
    for (const path of paths) texts.push(await (await fetch(server.url + path, { headers })).text())
    return texts
  }
  const bearer = { Authorization: `Bearer ${token}` }
  const lists = await ask([...PATHS, '/metrics', '/readyz', '/openapi.json'], bearer)
  const ids = [...new Set(lists.join().match(/(?<="id":")[\w-]{36}/g))]
  const records = ids.flatMap((id) => ['alerts', 'events', 'services', 'incidents'].map((list) => `/api/${list}/${id}`))
  const answers = await ask(records, bearer)
  const cookie = { Cookie: `incmon_session_${new URL(server.url).port}=${session}`, Accept: 'text/html' }
  // The executable contains the web pages; the test bundle does not.
  const paths = process.env.INCMON ? [...PAGES, ...records.map((path) => path.slice(4))] : []
  const pages = await ask(paths, cookie)
  assert.ok(paths.length === 0 || pages.some((page) => page.includes('Down')))
  // An error can echo what its own caller sent, so only the log and the files are searched.
  await ask(ERRORS, bearer)
  const backup = join(directory, 'backup.db')
  const outputs = [['backup', backup], ...COMMANDS].map((words) => {
    const [command = '', ...args] = [...PROGRAM_LINE, ...words, '--database', file]
    const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', cwd: directory })
    assert.notEqual(stdout + stderr, '', words.join(' '))
    return stdout + stderr
  })
  const whileRunning = filesOf(directory)
  server.signal('SIGTERM')
  await server.ended
  const everything = [...lists, ...answers, ...pages, ...outputs, ...whileRunning, ...filesOf(directory), server.said()]
  const found = [...SECRETS, token, session].filter((secret) => everything.some((text) => text.includes(secret)))
  figure(t, 38, `${SECRETS.length + 2} secrets, ${everything.length} places, ${found.length} found`)
  assert.deepEqual(found, [])
  const modes = readdirSync(directory).map((name) => [name, statSync(join(directory, name)).mode & 0o077])
  assert.deepEqual(
    modes.filter(([, others]) => others !== 0),
    [],
  )
})
