/** Whether services of several namespaces share a name. Each message asks this about its own services. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAmbiguousName } from '../../src/store/service/services.ts'
import { openSqlite } from '../../src/store/sqlite/driver.ts'
import { makeFlow } from '../helpers/flow.ts'
import { listening } from '../helpers/listening.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

test('a name is ambiguous if services of several namespaces of the organization have it', async (t) => {
  const { deps, acme, charlie, send } = makeFlow(t)
  const named = (namespace: string, deployment: string) => alert('Slow', { namespace, deployment, severity: 'warning' })
  await send('metrics', alertmanager([named('shop', 'web'), named('blog', 'web'), named('shop', 'api')]))
  await send('metrics', alertmanager([named('shop', 'web')]), { as: charlie })
  assert.deepEqual(
    [isAmbiguousName(deps.db, acme.key, 'web'), isAmbiguousName(deps.db, acme.key, 'api')],
    [true, false],
  )
  assert.equal(isAmbiguousName(deps.db, acme.key, 'unknown'), false)
  assert.equal(isAmbiguousName(deps.db, charlie.key, 'web'), false)
})

test('only the services with the name are read, however many services the organization has', (t) => {
  const queries = new Set<string>()
  const { deps, acme, file } = makeFlow(t, listening(queries))
  queries.clear()
  isAmbiguousName(deps.db, acme.key, 'web')
  const sqlite = openSqlite(file)
  t.after(() => sqlite.close())
  const plans = [...queries].map((text) => {
    const holes = Array.from({ length: text.split('?').length - 1 }, () => null)
    return JSON.stringify(sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...holes))
  })
  assert.equal(plans.length, 2)
  for (const plan of plans) assert.match(plan, /organization_id=\? AND name=\?/)
})
