/** Secrets that senders and callers reveal by accident are found nowhere afterwards: no file, no log, no answer. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { alert, alertmanager, crashLoop, grafana, pipeline } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { request } from './load.ts'
import { makeDatabase, PROGRAM_LINE, startServer } from './server.ts'

// Put together here, so that no scanner takes the tests for a leak.
const SECRETS = [
  `gl${'pat'}-${'x1Y2'.repeat(5)}`,
  `AK${'IA'}${'Q7'.repeat(8)}`,
  `ey${'JhbGciOi'}.ey${'JzdWIiOi'}.sig-nature-9`,
  'hunter2-of-the-canary',
  `gh${'o_'}${'z8W7'.repeat(9)}`,
]
const [GITLAB = '', AWS = '', JWT = '', PASSWORD = '', GITHUB = ''] = SECRETS
const PATHS = [
  '/api/alerts',
  '/api/events',
  '/api/services',
  '/api/incidents',
  '/api/rejections',
  '/api/sources',
  '/metrics',
  '/readyz',
]

test('planted secrets are in no file, no line of the log and no answer', async (t) => {
  const directory = temporaryDirectory(t)
  const { file, token } = makeDatabase(directory)
  const server = await startServer(t, file, [], ['--log-level', 'debug'])
  const target = { url: server.url, token }
  const told = `clone https://bot:${PASSWORD}@git.example/x with ${GITLAB}, key ${AWS}, jwt ${JWT}, ${GITHUB}`
  const labels = { deployment: 'shop', severity: 'critical', password: PASSWORD }
  const bodies = [
    ['cluster', crashLoop('cart-5d4f8c7b9-x2kqp', { message: told })],
    ['metrics', alertmanager([alert('Down', labels, { summary: told })])],
    ['dashboard', grafana([alert('Down', labels, { summary: told })])],
    ['ci', pipeline('failed', 'shop/cart', { id: 7, ref: GITLAB })],
    ['metrics', { alerts: [{ labels: told }] }],
  ] as const
  for (const [source, body] of bodies) await request(target, 'POST', `/api/webhooks/${source}`, body)
  await request(target, 'GET', `/api/alerts?q=${encodeURIComponent(PASSWORD)}`)
  await request({ ...target, token: GITLAB }, 'GET', '/api/alerts')
  const answers = await Promise.all(
    PATHS.map(async (path) =>
      (await fetch(server.url + path, { headers: { Authorization: `Bearer ${token}` } })).text(),
    ),
  )
  const [command = '', ...args] = PROGRAM_LINE
  const backup = join(directory, 'backup.db')
  const outputs = [['backup', backup], ['doctor']].map((words) => {
    const { stdout, stderr } = spawnSync(command, [...args, ...words, '--database', file], { encoding: 'utf8' })
    return stdout + stderr
  })
  server.signal('SIGTERM')
  await server.ended
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'latin1'))
  const everything = [...answers, ...outputs, ...files, server.said()]
  const found = [...SECRETS, token].filter((secret) => everything.some((text) => text.includes(secret)))
  figure(t, 38, `${SECRETS.length + 1} secrets, ${everything.length} places, ${found.length} found`)
  assert.deepEqual(found, [])
  for (const name of [file, backup]) assert.equal(statSync(name).mode & 0o777, 0o600)
})
