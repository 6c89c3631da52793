/** An incident that a person resolves: its postmortem is generated before the commit and saved with it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { withEngine } from '../../src/actions/deps.ts'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { editPostmortem } from '../../src/actions/postmortems.ts'
import { addNote, changeIncident } from '../../src/domain/decide/incident-changes.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { type Read, readHere } from '../../src/store/read.ts'
import { createReader, LIMITS } from '../../src/workers/reader.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Acme's cart with an open incident. */
async function illCart(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  const fires = (name: string, deployment = 'cart') => flow.send('metrics', alertmanager([alert(name, { deployment })]))
  await fires('Down')
  const id = flow.incidents()[0]?.id ?? ''
  const move = (status: 'open' | 'resolved', engine: Engine = deps.engine) =>
    engine.run(acme.key, (ctx, now) => changeIncident(ctx, id, { status }, 'anna', now))
  const postmortem = (of = acme) => findPostmortem(deps.db, of.key, id)
  const alerts = () =>
    postmortem()?.document.evidence.records.flatMap(({ ref, text }) => (/^alert/.test(ref) ? text : []))
  return { ...flow, id, fires, move, postmortem, alerts }
}

/**
 * Resolves the incident. `asked` resolves once a thread has read the records, and `finish` lets it return the
 * postmortem. `count`: how often one was generated.
 */
async function resolving(t: TestContext) {
  const cart = await illCart(t)
  const here = readHere(cart.deps.db)
  const [asked, finished] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let count = 0
  const read: Read = async (...args) => {
    const found = await here(...args)
    count += 1
    asked.resolve()
    await finished.promise
    return found
  }
  Object.assign(cart.deps, withEngine({ ...cart.deps, read }))
  const moved = cart.move('resolved')
  const generated = async () => {
    await moved
    return cart.postmortem()
  }
  return { ...cart, asked: asked.promise, finish: finished.resolve, generated, count: () => count }
}

test('the postmortem contains an alert that is received just before the resolution', async (t) => {
  const { fires, move, alerts } = await illCart(t)
  await Promise.all([fires('Slow'), move('resolved')])
  assert.match(`${alerts()}`, /Down.*Slow/)
})

test('the postmortem does not contain an alert that is received after the resolution', async (t) => {
  const { fires, move, alerts } = await illCart(t)
  await move('resolved')
  await fires('Slow')
  assert.deepEqual([alerts()?.length, /Slow/.test(`${alerts()}`)], [1, false])
})

test('an incident that is resolved 50 times at once has one postmortem, and each request succeeds', async (t) => {
  const { move, postmortem, deps } = await illCart(t)
  await Promise.all(Array.from({ length: 50 }, () => move('resolved')))
  assert.deepEqual([postmortem()?.revision, deps.engine.pending()], [1, 0])
})

test('an incident that is resolved, reopened and resolved again has two revisions', async (t) => {
  const { move, postmortem } = await illCart(t)
  for (const status of ['resolved', 'open', 'resolved'] as const) await move(status)
  assert.equal(postmortem()?.revision, 2)
})

test('alerts of other services are stored while a postmortem is generated', async (t) => {
  const { generated, incidents, fires, asked, finish, count } = await resolving(t)
  await asked
  await fires('Down', 'web')
  assert.deepEqual(
    incidents().map(({ status }) => status),
    ['open', 'open'],
  )
  finish()
  assert.deepEqual([(await generated())?.revision, incidents()[0]?.status, count()], [1, 'resolved', 1])
})

test('an alert that joins while the postmortem is generated is in the postmortem', async (t) => {
  const { generated, alerts, fires, asked, finish, count } = await resolving(t)
  await asked
  await fires('Slow')
  finish()
  assert.equal((await generated())?.revision, 1)
  assert.match(`${alerts()}`, /Down.*Slow/)
  assert.equal(count(), 2)
})

test('a repeated alert does not make the server generate the postmortem again', async (t) => {
  const { generated, fires, asked, finish, count } = await resolving(t)
  await asked
  await fires('Down')
  finish()
  assert.deepEqual([(await generated())?.revision, count()], [1, 1])
})

test('a note that is added while the postmortem is generated is in the postmortem', async (t) => {
  const { deps, acme, id, generated, asked, finish } = await resolving(t)
  await asked
  await deps.engine.run(acme.key, (ctx, now) => addNote(ctx, id, 'The disk was full.', 'ben', now))
  finish()
  assert.match(JSON.stringify((await generated())?.document.timeline), /The disk was full/)
})

test('a plan without postmortems that is set while one is generated counts', async (t) => {
  const { deps, acme, incidents, generated, asked, finish } = await resolving(t)
  await asked
  await changeOrganization(deps, acme.key, { plan: 'Free' })
  finish()
  assert.deepEqual([await generated(), incidents()[0]?.status], [null, 'resolved'])
})

test('closing the engine stores a resolution whose postmortem is still being generated', async (t) => {
  const { deps, generated, asked, finish } = await resolving(t)
  await asked
  const closed = deps.engine.close()
  finish()
  await closed
  assert.deepEqual([deps.engine.pending(), (await generated())?.revision], [0, 1])
})

test('the postmortem tells who resolved the incident, and when', async (t) => {
  const { move, postmortem, charlie } = await illCart(t)
  await move('resolved')
  const last = postmortem()?.document.timeline.at(-1)
  assert.deepEqual([last?.at, last?.actor], [new Date(NOON).toISOString(), 'anna'])
  assert.equal(postmortem(charlie), null)
})

test('the postmortem does not claim that a user who only resolved the incident acknowledged it', async (t) => {
  const { move, postmortem } = await illCart(t)
  await move('resolved')
  assert.match(
    postmortem()?.document.detection.sentences.at(-1)?.text ?? '',
    /^anna resolved the incident without acknowledging/,
  )
})

for (const [what, script] of [
  ['hangs', 'setInterval(() => {}, 1e6)'],
  ['never returns', 'for (;;);'],
  ['ends', 'process.exit(1)'],
  ['fails', "throw new Error('no memory')"],
] as const) {
  test(`an incident is resolved with a postmortem although the thread ${what}`, async (t) => {
    const { deps, move, postmortem } = await illCart(t)
    const threads: Worker[] = []
    const start = () => threads[threads.push(new Worker(script, { eval: true })) - 1] as Worker
    const reader = createReader(deps.db, start, () => {}, {
      ...LIMITS,
      postmortem: { ...LIMITS.postmortem, maxMs: 50 },
    })
    const { engine } = withEngine({ ...deps, read: reader.read })
    for (const status of ['resolved', 'open', 'resolved'] as const) await move(status, engine)
    assert.deepEqual([postmortem()?.revision, threads.length], [2, 2])
    await reader.close()
  })
}

test('a text that a user writes while the next revision is generated is in that revision', async (t) => {
  const { deps, acme, id, move, postmortem } = await illCart(t)
  await move('resolved')
  await move('open')
  const here = readHere(deps.db)
  const read: Read = async (...asked) => {
    const found = await here(...asked)
    editPostmortem(deps, acme.key, id, { rootCause: 'A full disk.' })
    return found
  }
  await move('resolved', withEngine({ ...deps, read }).engine)
  assert.deepEqual([postmortem()?.revision, postmortem()?.edits.rootCause], [2, 'A full disk.'])
})

test('an incident that cannot be saved stays open and has no postmortem', async (t) => {
  const { deps, move, postmortem, incidents } = await illCart(t)
  deps.db.execute("CREATE TRIGGER fail BEFORE INSERT ON postmortems BEGIN SELECT RAISE(ABORT, 'no'); END")
  await assert.rejects(move('resolved'))
  assert.deepEqual([incidents()[0]?.status, postmortem()], ['open', null])
})
