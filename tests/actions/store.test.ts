/** The store's interface for HTTP: every call returns a promise, and each call sees a single snapshot. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createStore } from '../../src/actions/deps.ts'
import { authenticate, createToken, revokeToken } from '../../src/actions/tokens.ts'
import { IncmonError } from '../../src/domain/error.ts'
import { listOrganizations } from '../../src/store/organizations.ts'
import { readHere } from '../../src/store/read.ts'
import { findServices } from '../../src/store/views.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeService } from '../helpers/factory.ts'

test('a query finds what an operation has stored', async (t) => {
  const { deps, acme } = makeWorld(t)
  const store = createStore(deps, readHere(deps.db))
  const { token } = await store.run(createToken, { organizationId: acme.key, name: 'ci', scopes: ['read'] })
  assert.equal((await store.run(authenticate, token))?.tokenName, 'ci')
})

test('an operation that is refused rejects', async (t) => {
  const { deps, acme } = makeWorld(t)
  const store = createStore(deps, readHere(deps.db))
  await assert.rejects(store.run(revokeToken, acme.key, 'no-such-token'), IncmonError)
})

test('a query that fails rejects', async (t) => {
  const { deps } = makeWorld(t)
  const store = createStore(deps, readHere(deps.db))
  deps.db.close()
  await assert.rejects(store.read(listOrganizations), /not open/)
})

test('a query sees nothing stored after it starts', async (t) => {
  const { deps, db, acme } = makeWorld(t)
  const store = createStore(deps, readHere(db))
  const service = makeService(db, acme, 'cart')
  const found = store.read(findServices, acme.key, [service.id], deps.now())
  db.execute("UPDATE services SET name = 'renamed'")
  assert.deepEqual(
    [...(await found).values()].map(({ name }) => name),
    ['cart'],
  )
})

test("Charlie does not find Acme's service", async (t) => {
  const { deps, db, acme, charlie } = makeWorld(t)
  const store = createStore(deps, readHere(db))
  const service = makeService(db, acme, 'cart')
  assert.equal((await store.read(findServices, charlie.key, [service.id], deps.now())).size, 0)
})
