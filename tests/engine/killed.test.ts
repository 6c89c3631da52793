/** A process killed between the commit and the response: what a restart finds, and what the sender's retry changes. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import type { Source } from '../../src/domain/event/event.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, type Body, crashLoop, pipeline } from '../helpers/senders.ts'
import { withoutCounters } from '../simulation/invariants.ts'
import { takeSnapshot } from '../simulation/snapshot.ts'

type Request = { readonly source: Source; readonly body: Body; readonly key?: string }

const SCRIPT = new URL('killed-process.ts', import.meta.url).pathname
const AT = NOON + MINUTE
const down = (service: string) => alert('Down', { service }, { startsAt: NOON, fingerprint: service })

const REQUESTS: Readonly<Record<string, Request>> = {
  'a new alert that opens an incident': { source: 'metrics', body: alertmanager([down('cart'), down('web')]) },
  'a repeated alert': { source: 'metrics', body: alertmanager([down('shop')]) },
  'the end of an alert': { source: 'metrics', body: alertmanager([{ ...down('shop'), status: 'resolved' }]) },
  'an event of Kubernetes': {
    source: 'cluster',
    body: crashLoop('cart-5d4f8c7b9-x2kqp', { at: NOON }),
    key: 'event 7',
  },
  'a failed pipeline': { source: 'ci', body: pipeline('failed', 'shop/cart', { at: NOON }), key: 'pipeline 7' },
}

/**
 * Creates a database with one firing alert. `kill` sends it a request from a process that dies, and returns that
 * process's state.
 */
async function start(t: TestContext) {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([down('shop')]))
  const kill = (moment: string, { source, body, key = '' }: Request) => {
    const args = [flow.file, moment, String(flow.acme.key), source, JSON.stringify(body), key]
    const { signal, stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', SCRIPT, ...args])
    assert.equal(signal, 'SIGKILL', stderr.toString())
    return stdout.length > 0 ? JSON.parse(stdout.toString()) : null
  }
  const live = async () => {
    await flow.deps.engine.reload()
    return JSON.parse(JSON.stringify(await flow.deps.engine.read(flow.acme.key, (state) => takeSnapshot(state, AT))))
  }
  const retry = ({ source, body, key }: Request) =>
    flow.submit({ ...flow.delivery(source, body, { at: AT, ...(key ? { key } : {}) }), bodyHash: JSON.stringify(body) })
  return { ...flow, kill, live, retry }
}

for (const [what, request] of Object.entries(REQUESTS)) {
  test(`${what}: killed after the commit, a restart loads the process's state, and a retry only counts`, async (t) => {
    const { kill, live, retry, events } = await start(t)
    const before = await live()
    const known = kill('after the commit', request)
    const found = await live()
    assert.deepEqual(found, known)
    assert.notDeepEqual(found, before)
    const stored = events().length
    await retry(request)
    assert.deepEqual(withoutCounters(await live()), withoutCounters(found))
    const isEnd = request.source === 'metrics' && JSON.stringify(request.body).includes('"resolved"')
    assert.equal(events().length, stored + (isEnd ? 1 : 0))
  })
}

test('killed before the commit, a restart finds nothing of the request, and a retry stores it', async (t) => {
  const { kill, live, retry, alerts } = await start(t)
  const before = await live()
  const request = { source: 'metrics', body: alertmanager([down('cart')]) } as const
  assert.equal(kill('before the commit', request), null)
  assert.deepEqual(await live(), before)
  await retry(request)
  assert.equal(alerts().length, 2)
})
