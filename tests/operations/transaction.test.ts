/** Changes are announced only when they are on disk, and never if they were rolled back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withEngine } from '../../src/operations/deps.ts'
import { inTransaction } from '../../src/operations/pruning/steps.ts'
import { findService } from '../../src/store/service/services.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { mergeServices } from '../helpers/acts.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { crashLoop } from '../helpers/senders.ts'

const notice = (id: string) => ({ kind: 'service', id, organizationId: 1 }) as const

test('notices are sent after the commit, in order', (t) => {
  const { deps, notices } = makeFlow(t)
  inTransaction(deps, (inside) => {
    inside.announce(notice('a'))
    inTransaction(inside, (deeper) => deeper.announce(notice('b')))
    assert.deepEqual(notices, [])
  })
  assert.deepEqual(notices, [notice('a'), notice('b')])
})

test('no notice is sent for a rollback or a partial rollback', (t) => {
  const { deps, notices } = makeFlow(t)
  const fail = (inside: typeof deps) => {
    inside.announce(notice('undone'))
    throw new Error('undone')
  }
  assert.throws(() => inTransaction(deps, fail))
  inTransaction(deps, (inside) => {
    assert.throws(() => inTransaction(inside, fail))
    inside.announce(notice('kept'))
  })
  assert.deepEqual(notices, [notice('kept')])
})

test('a notice about a merge follows its commit', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', crashLoop('cart-5d4f8c7b9-x2kqp'))
  await flow.send('cluster', crashLoop('shop-5d4f8c7b9-x2kqp'))
  const [from, into] = flow.services()
  assert.ok(from && into)
  const reader = openStore(flow.file)
  t.after(() => reader.close())
  const found: boolean[] = []
  const announce = () => void found.push(findService(reader, flow.acme.key, from.id, NOON) === undefined)
  await mergeServices(withEngine({ ...flow.deps, announce }), flow.acme.key, from.id, into.id)
  assert.ok(found.length > 0 && found.every((merged) => merged))
})
