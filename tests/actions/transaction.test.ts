/** Changes are announced only when they are on disk. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withEngine } from '../../src/actions/deps.ts'
import { findService } from '../../src/store/service/services.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { mergeServices } from '../helpers/acts.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { crashLoop } from '../helpers/senders.ts'

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
