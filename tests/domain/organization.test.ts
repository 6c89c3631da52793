/** Plans and settings of an organization. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_SETTINGS, PLANS, withDefaults } from '../../src/domain/organization.ts'

test('there are three plans', () => {
  assert.deepEqual(PLANS, ['Free', 'Team', 'Pro'])
})

test('the defaults are incidents for critical services, heartbeats, UTC, no graphs, and a year of history', () => {
  assert.deepEqual(withDefaults({}), {
    'auto-incidents': 'critical',
    'auto-resolve': 30,
    heartbeats: true,
    'deploy-silence-minutes': 0,
    'time-zone': 'UTC',
    'retention-events-days': 30,
    'retention-alerts-days': 400,
    'retention-incidents-days': 730,
    'prometheus-url': '',
    'group-by': ['alertname', 'namespace'],
  })
})

test('changed settings are kept, and all others have their default', () => {
  assert.deepEqual(withDefaults({ 'auto-incidents': 'off' }), { ...DEFAULT_SETTINGS, 'auto-incidents': 'off' })
})

test('a disabled setting stays disabled', () => {
  const off = { 'auto-resolve': 'off', heartbeats: false } as const
  assert.deepEqual(withDefaults(off), { ...DEFAULT_SETTINGS, ...off })
})

test('the earlier booleans of auto-resolve become minutes and off', () => {
  const resolved = (value: boolean) => withDefaults(JSON.parse(`{"auto-resolve":${value}}`))['auto-resolve']
  assert.deepEqual([resolved(true), resolved(false)], [30, 'off'])
})

test('the defaults are not changed', () => {
  withDefaults({ heartbeats: false })
  assert.equal(DEFAULT_SETTINGS.heartbeats, true)
})
