/**
 * Compares what the documentation says with the code. `CLAIMS` lists sentences of each page with the value in the code
 * that they repeat. A page without a claim, or a claim whose sentence is gone, fails.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { ROUTES } from '../../src/app.ts'
import { correlate, KINDS, ROLLOUT_KIND } from '../../src/domain/correlation/correlation.ts'
import { CRITICAL_BELOW, PENALTY } from '../../src/domain/health/health.ts'
import { NOTIFICATION_KINDS } from '../../src/domain/notification/kind.ts'
import { resultOf } from '../../src/domain/notification/schedule.ts'
import { SEVERITY_LABELS } from '../../src/domain/severity.ts'
import { REFUSALS } from '../../src/http/middleware/auth.ts'
import { MINUTE, NOON, pipeline } from '../helpers/changes.ts'
import { CLAIMS } from './claims.ts'
import { codeBlocks, PAGES, pageAt, ROOT } from './pages.ts'

/** Pages for contributors, and pages that only list what the tests in reference.test.ts compare. */
const ELSEWHERE = ['CONTRIBUTING.md', 'CHANGELOG.md', 'src/domain/README.md', 'tests/faults/README.md']

for (const [path, claims] of Object.entries(CLAIMS)) {
  const text = pageAt(path).text.replace(/\s+/g, ' ')
  for (const [sentence, value] of claims)
    test(`${path} says: ${sentence}`, () => {
      const [before = '', after = ''] = sentence.split('…')
      const shown = typeof value === 'number' ? value.toLocaleString('en') : value
      assert.ok(text.includes(`${before}${shown}${after}`), `the code has ${shown}`)
    })
}

test('every page has claims that are compared with the code', () => {
  const pages = PAGES.map(({ path }) => path).filter((path) => !ELSEWHERE.includes(path))
  assert.deepEqual(
    pages.filter((path) => (CLAIMS[path] ?? []).length === 0),
    [],
    'add claims for these pages to tests/docs/claims.ts',
  )
})

test('a claim with another value is found', () => {
  assert.ok(!pageAt('docs/decisions.md').text.includes('within 11 minutes of its recorded end'))
})

/** Returns the rows of the table with this head, each as a list of cells without backticks. */
function tableOf(path: string, head: string): string[][] {
  const lines = pageAt(path).text.split('\n')
  const start = lines.indexOf(head)
  assert.ok(start >= 0, `${path} has no table ${head}`)
  const rest = lines.slice(start + 2)
  const rows = rest.slice(
    0,
    rest.findIndex((line) => !line.startsWith('|')),
  )
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

test('docs/decisions.md lists the penalty of each severity', () => {
  const wanted = Object.entries(PENALTY).map(([severity, penalty]) => [severity, `${penalty}`])
  assert.deepEqual(tableOf('docs/decisions.md', '| severity of the condition | penalty |'), wanted)
})

test('docs/decisions.md lists the factor of each kind of change', () => {
  const rows = tableOf('docs/decisions.md', '| kind of the change | factor |')
  const wanted = [
    ...Object.entries(KINDS).map(([kind, [factor]]) => [kind, `${factor}`]),
    ['rollout', `${ROLLOUT_KIND}`],
  ]
  assert.deepEqual(rows.toSorted(), wanted.toSorted())
})

test('docs/decisions.md names every label that is read for the severity', () => {
  const { text } = pageAt('docs/decisions.md')
  for (const label of SEVERITY_LABELS) assert.ok(text.includes(`\`${label}\``), label)
})

test('docs/decisions.md says from which penalties on a service is critical', () => {
  const { text } = pageAt('docs/decisions.md')
  assert.match(text, new RegExp(`conditions that fire add up to more than ${100 - CRITICAL_BELOW} `))
})

test('the example of docs/decisions.md has the score of the link', () => {
  const [, wanted] = /× 1\.15 = ([\d.]+),/.exec(pageAt('docs/decisions.md').text) ?? []
  const end = NOON + 5 * MINUTE
  const began = NOON + 8 * MINUTE
  const link = correlate(
    { ...pipeline(), startsAt: NOON, endsAt: end },
    [{ at: began, firstSeenAt: began, count: 1, eventId: 'e' }],
    { service: { namespace: 'shop', name: 'cart' }, images: [], rollouts: [{ startsAt: NOON + 2 * MINUTE }] },
  )
  assert.equal(link?.score.toFixed(2), wanted)
})

test('incmon explain names the same number of reports as docs/decisions.md', () => {
  const [, reports] = /a one-time event: never\) or (\d+) reports, if only/.exec(pageAt('docs/decisions.md').text) ?? []
  const told = readFileSync(`${ROOT}src/engine/changes/outcome.ts`, 'utf8')
  assert.ok(reports && told.includes(`it must last a minute or be reported ${reports} times first`))
})

test('docs/api.md lists the operations that accept an Idempotency-Key', () => {
  const { text } = pageAt('docs/api.md')
  const [, told = ''] =
    /These operations accept an `Idempotency-Key` header: (.*?)\sand the webhooks\./s.exec(text) ?? []
  const listed = [...told.matchAll(/`(\w+ [^`]+)`/g)].map(([, operation = '']) => operation)
  const wanted = ROUTES.filter(({ takesKey }) => takesKey).map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(listed.toSorted(), wanted.toSorted())
})

test('docs/api.md says which scope an operation needs', () => {
  for (const { method, path, auth } of ROUTES) {
    const isAdmin = /^\/api\/(channels|tokens)/.test(path) || (path === '/api/organization' && method !== 'GET')
    const isOpen = ['/healthz', '/readyz', '/openapi.json', '/docs'].includes(path)
    const scope = path.startsWith('/api/webhooks') ? 'ingest' : isAdmin ? 'admin' : method === 'GET' ? 'read' : 'write'
    assert.equal(auth?.scope ?? null, isOpen ? null : scope, `${method} ${path}`)
  }
})

test('docs/notifications.md says which failures are not retried', () => {
  const final = [400, 401, 403, 404, 408, 413, 422, 429, 500, 503].filter(
    (status) => resultOf(status, false) === 'failed',
  )
  const [, told = ''] = /unless the receiver answered ([^.]+)\./.exec(pageAt('docs/notifications.md').text) ?? []
  assert.deepEqual(told.match(/\d+/g)?.map(Number), final)
})

test('docs/notifications.md has a row for every kind of message', () => {
  const rows = tableOf('docs/notifications.md', '| message | when |').flatMap(([kinds = '']) => kinds.split(', '))
  assert.deepEqual(rows.toSorted(), [...NOTIFICATION_KINDS].toSorted())
})

for (const [page, example] of [
  ['docs/alertmanager.md', 'examples/alertmanager.yml'],
  ['docs/grafana.md', 'examples/grafana-contact-point.yaml'],
  ['docs/kubernetes.md', 'examples/kubernetes-event-exporter.yaml'],
] as const)
  test(`${page} shows the configuration of ${example}`, () => {
    const wanted: unknown = parse(readFileSync(ROOT + example, 'utf8'))
    const shown = codeBlocks(pageAt(page), 'yaml').map((block): unknown => parse(block))
    assert.ok(
      shown.some((one) => JSON.stringify(one) === JSON.stringify(wanted)),
      'the page and the example differ',
    )
  })

test('troubleshooting lists how each message of a 401 about the header begins', () => {
  const rows = tableOf('docs/troubleshooting.md', '| message starts with | what to do |')
  const begins = rows.flatMap(([texts = '']) => texts.split(', '))
  const messages = Object.values(REFUSALS).map((message) => message('bearer'))
  assert.deepEqual(
    messages.filter((message) => !begins.some((begin) => message.startsWith(begin))),
    [],
  )
})
