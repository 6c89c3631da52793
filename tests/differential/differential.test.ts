/** Sends the same requests to a real Alertmanager and to incmon, and compares the responses. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { startAlertmanager, withoutAlertmanager } from '../helpers/alertmanager.ts'
import { startServer } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { answersOf } from './compare.ts'
import { DIFFERENCES } from './differences.ts'
import { callsAt } from './requests.ts'

const CONFIG = `route: {receiver: incmon, group_by: [alertname, namespace], group_wait: 1ms}
receivers: [{name: incmon}]
`

test('incmon answers like Alertmanager, except for the listed differences', {
  skip: withoutAlertmanager,
}, async (t) => {
  const incmon = await startServer(t)
  const alertmanager = await startAlertmanager(t, temporaryDirectory(t), CONFIG)
  const calls = callsAt(Date.now())
  const [theirs, ours] = await Promise.all([
    answersOf(calls, `${alertmanager.url}/api/v2`),
    answersOf(calls, `${incmon.url}/alertmanager/api/v2`, incmon.token),
  ])
  const used = new Set<string>()
  const unexplained = calls.flatMap((call, i) => {
    const [one, other] = [theirs[i] ?? assert.fail(), ours[i] ?? assert.fail()]
    if (JSON.stringify(one) === JSON.stringify(other)) return []
    const difference = DIFFERENCES.find(({ explains }) => explains(one, other, call))
    if (difference) used.add(difference.why)
    return difference ? [] : shown(call, one, other)
  })
  assert.ok(calls.length > 300)
  assert.deepEqual(unexplained, [])
  const random = DIFFERENCES.filter(({ why }) => why.includes('random'))
  for (const { why } of random) used.add(why)
  assert.deepEqual([...used].sort(), DIFFERENCES.map(({ why }) => why).sort())
})

/** Shows a call with the first part of both responses that differs. */
function shown({ method, path, body = '' }: { method: string; path: string; body?: string }, ...both: unknown[]) {
  const [one = '', other = ''] = both.map((answer) => JSON.stringify(answer))
  const at = Math.max(0, [...one].findIndex((character, i) => character !== other[i]) - 60)
  return [`${method} ${path} ${body.slice(0, 200)}`, one.slice(at, at + 300), other.slice(at, at + 300)].join('\n')
}
