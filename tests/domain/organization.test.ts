/** Plans and settings of an organization. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_SETTINGS, PLANS, withDefaults } from '../../src/domain/organization.ts'

test('there are three plans', () => {
  assert.deepEqual(PLANS, ['Free', 'Team', 'Pro'])
})

test('who never set anything gets incidents for critical services, heartbeats, UTC, and a year of history', () => {
  assert.deepEqual(withDefaults({}), {
    'auto-incidents': 'critical',
    'auto-resolve': true,
    heartbeats: true,
    'deploy-silence-minutes': 0,
    'time-zone': 'UTC',
    'retention-events-days': 30,
    'retention-alerts-days': 400,
  })
})

test('what was set stays, and the rest has its default', () => {
  assert.deepEqual(withDefaults({ 'auto-incidents': 'off' }), { ...DEFAULT_SETTINGS, 'auto-incidents': 'off' })
})

test('a setting that was switched off is not switched on again', () => {
  const off = { 'auto-resolve': false, heartbeats: false }
  assert.deepEqual(withDefaults(off), { ...DEFAULT_SETTINGS, ...off })
})

test('the defaults themselves stay as they are', () => {
  withDefaults({ heartbeats: false })
  assert.equal(DEFAULT_SETTINGS.heartbeats, true)
})
