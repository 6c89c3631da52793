/** When the sweep next has work to do. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LiveAlert } from '../../src/domain/alert/alert.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/organization.ts'
import { nextDue } from '../../src/engine/changes/sweep.ts'
import { createJournal } from '../../src/engine/state/journal.ts'
import { createOrganizationState, dueStep } from '../../src/engine/state/state.ts'
import { NOON } from '../helpers/factory.ts'

function withDue(times: readonly number[]) {
  const state = createOrganizationState(createJournal(), { rowId: 1, plan: 'Team', settings: DEFAULT_SETTINGS })
  times.forEach((dueAt, rowId) => {
    state.alerts.set(rowId, { dueAt } as LiveAlert)
    state.dueAlerts.add(dueStep(dueAt) ?? 0, rowId)
  })
  return state
}

test('the earliest of several due times comes next', () => {
  assert.equal(nextDue(withDue([NOON + 60_000, NOON + 2, NOON + 1, NOON + 3])), NOON + 1)
})

test('nothing comes next without a due record', () => {
  assert.equal(nextDue(withDue([])), null)
})

test('finds the next time among 200,000 alerts of one storm', () => {
  assert.equal(nextDue(withDue(Array.from({ length: 200_000 }, (_, index) => NOON + (index % 1_000)))), NOON)
})
