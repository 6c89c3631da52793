/** Hundreds of organizations: what is due for them does not keep other requests waiting. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createOrganization } from '../../src/actions/organizations.ts'
import { notifying } from './world.ts'

const COUNT = 30

test('the reminders of each organization are looked for in another round of the event loop', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const { deps, faults, restart } = notifying(t)
  for (let index = 0; index < COUNT; index += 1)
    createOrganization(deps, { name: `Organization ${index}`, plan: 'Pro' })
  const { all } = deps.db
  let round = 0
  const rounds = new Set<number>()
  t.mock.method(deps.db, 'all', (query: never, args: never) => {
    rounds.add(round)
    return all(query, args)
  })
  t.mock.timers.tick(10_000)
  for (round = 1; round < 2 * COUNT; round += 1) await turn()
  assert.ok(rounds.size >= COUNT, `${rounds.size} rounds`)
  rounds.clear()
  t.mock.timers.tick(10_000)
  await restart()
  for (let waited = 0; waited < 2 * COUNT; waited += 1) await turn()
  assert.deepEqual(faults, [])
})
