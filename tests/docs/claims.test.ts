/** Compares what the documentation says with the code. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../src/app.ts'
import { KINDS, ROLLOUT_KIND } from '../../src/domain/correlation/correlation.ts'
import { CRITICAL_BELOW, PENALTY } from '../../src/domain/health/health.ts'
import { resultOf } from '../../src/domain/notification/schedule.ts'
import { SEVERITY_LABELS } from '../../src/domain/severity.ts'
import { pageAt } from './pages.ts'

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

test('docs/api.md lists the operations that accept an Idempotency-Key', () => {
  const { text } = pageAt('docs/api.md')
  const [, told = ''] =
    /These operations accept an `Idempotency-Key` header: (.*?)\sand the webhooks\./s.exec(text) ?? []
  const listed = [...told.matchAll(/`(\w+ [^`]+)`/g)].map(([, operation = '']) => operation)
  const wanted = ROUTES.filter(({ takesKey }) => takesKey).map(({ method, path }) => `${method} ${path}`)
  assert.deepEqual(listed.toSorted(), wanted.toSorted())
})

test('docs/notifications.md says which failures are not retried', () => {
  const final = [400, 401, 403, 404, 408, 413, 422, 429, 500, 503].filter(
    (status) => resultOf(status, false) === 'failed',
  )
  const [, told = ''] = /unless the receiver answered ([^:]+):/.exec(pageAt('docs/notifications.md').text) ?? []
  assert.deepEqual(told.match(/\d+/g)?.map(Number), final)
})

test('docs/decisions.md says from which penalties on a service is critical', () => {
  const { text } = pageAt('docs/decisions.md')
  assert.match(text, new RegExp(`conditions that fire add up to more than ${100 - CRITICAL_BELOW} `))
})
