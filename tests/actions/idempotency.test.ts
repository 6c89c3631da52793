/** Requests with an Idempotency-Key in all situations. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashBody, runOnce } from '../../src/actions/idempotency.ts'
import { makeFlow } from '../helpers/flow.ts'

const KEYED = { route: 'POST /api/incidents', key: 'a', bodyHash: hashBody('body') }

test('a request interrupted by a crash is refused, because it might have taken effect', async (t) => {
  const { deps, acme } = makeFlow(t)
  const keyed = { ...KEYED, organizationId: acme.key }
  const stopped = new Promise<never>(() => {})
  void runOnce(deps, keyed, () => stopped)
  const afterwards = { ...deps, db: { ...deps.db } }
  await assert.rejects(
    runOnce(afterwards, keyed, () => 1),
    { code: 'conflict', message: /did not finish.*check whether the record exists/ },
  )
})

test('a request that fails can be retried', async (t) => {
  const { deps, acme } = makeFlow(t)
  const keyed = { ...KEYED, organizationId: acme.key }
  await assert.rejects(
    runOnce(deps, keyed, () => Promise.reject(new Error('no'))),
    /no/,
  )
  assert.equal(await runOnce(deps, keyed, () => 2), 2)
  assert.equal(await runOnce(deps, keyed, () => 3), 2)
})
