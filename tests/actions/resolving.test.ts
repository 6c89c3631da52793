/** An incident that a person resolves: its postmortem is due from the commit on, and written before the answer. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { withEngine } from '../../src/actions/deps.ts'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { editPostmortem, requireWritten } from '../../src/actions/postmortems.ts'
import { changeIncident } from '../../src/engine/changes/incidents/incident-changes.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { findPostmortem, listDuePostmortems } from '../../src/store/incident/postmortems.ts'
import { type Read, readHere } from '../../src/store/read.ts'
import { createReader, LIMITS } from '../../src/workers/reader.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
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
  const due = () => listDuePostmortems(deps.db).length
  const postmortem = (of = acme) => findPostmortem(deps.db, of.key, id)
  const alerts = () =>
    postmortem()?.document.evidence.records.flatMap(({ ref, text }) => (/^alert/.test(ref) ? text : []))
  return { ...flow, id, fires, move, due, postmortem, alerts }
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

test('while a postmortem is generated, its incident is resolved and other requests are answered', async (t) => {
  const { generated, incidents, due, fires, asked, finish, count } = await resolving(t)
  await asked
  await fires('Down', 'web')
  assert.deepEqual(
    incidents().map(({ status }) => status),
    ['resolved', 'open'],
  )
  assert.equal(due(), 1)
  finish()
  assert.deepEqual([(await generated())?.revision, due(), count()], [1, 0, 1])
})

test('the resolution is answered only when its postmortem is written', async (t) => {
  const { fires, generated, postmortem, asked, finish } = await resolving(t)
  let isAnswered = false
  const answered = generated().then(() => {
    isAnswered = true
  })
  await asked
  await fires('Slow', 'web')
  assert.deepEqual([isAnswered, postmortem()], [false, null])
  finish()
  await answered
  assert.equal(postmortem()?.revision, 1)
})

test('an incident that is opened again while its postmortem is generated keeps that postmortem', async (t) => {
  const { move, incidents, generated, asked, finish } = await resolving(t)
  await asked
  await move('open')
  finish()
  assert.deepEqual([(await generated())?.document.header.revision, incidents()[0]?.status], [1, 'open'])
})

test('while a postmortem is generated, reading it is refused only for its own organization', async (t) => {
  const { deps, acme, charlie, id, generated, asked, finish } = await resolving(t)
  await asked
  assert.throws(() => requireWritten(deps, acme.key, id), { code: 'unavailable' })
  requireWritten(deps, charlie.key, id)
  finish()
  await generated()
  requireWritten(deps, acme.key, id)
})

test('a start writes the postmortems that were due when the process ended', async (t) => {
  const { deps, due, postmortem, restart, asked } = await resolving(t)
  await asked
  restart()
  assert.deepEqual([due(), postmortem(), deps.engine.isLoaded()], [1, null, false])
  await deps.engine.load()
  assert.deepEqual([due(), postmortem()?.revision, deps.engine.isLoaded()], [0, 1, true])
})

test('a plan without postmortems has none', async (t) => {
  const { deps, acme, due, incidents, move, postmortem } = await illCart(t)
  await changeOrganization(deps, acme.key, { plan: 'Free' })
  await move('resolved')
  assert.deepEqual([postmortem(), due(), incidents()[0]?.status], [null, 0, 'resolved'])
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
    /^Nobody acknowledged the incident before anna resolved it/,
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

test('a resolution that cannot be saved leaves the incident open, with nothing due', async (t) => {
  const { deps, move, due, postmortem, incidents } = await illCart(t)
  deps.db.execute("CREATE TRIGGER fail BEFORE INSERT ON postmortems_due BEGIN SELECT RAISE(ABORT, 'no'); END")
  await assert.rejects(move('resolved'))
  assert.deepEqual([incidents()[0]?.status, due(), postmortem()], ['open', 0, null])
})

test('a postmortem that cannot be saved stays due, and the sweep tries again after a minute', async (t) => {
  const { deps, clock, move, due, postmortem } = await illCart(t)
  deps.db.execute("CREATE TRIGGER fail BEFORE INSERT ON postmortems BEGIN SELECT RAISE(ABORT, 'no'); END")
  await deps.engine.load()
  await move('resolved')
  clock.now += MINUTE
  await assert.rejects(deps.engine.sweep(), /no/)
  assert.deepEqual([due(), postmortem()], [1, null])
  deps.db.execute('DROP TRIGGER fail')
  clock.now += MINUTE
  await deps.engine.sweep()
  assert.deepEqual([due(), postmortem()?.revision], [0, 1])
})

test('a postmortem that finds the disk full is written within seconds when there is room again', async (t) => {
  const { deps, clock, move, due, postmortem } = await illCart(t)
  const here = readHere(deps.db)
  let isFull = true
  const read: Read = async (...asked) => {
    const found = await here(...asked)
    deps.db.pragma(`max_page_count = ${isFull ? 1 : 100_000}`)
    return found
  }
  const { engine } = withEngine({ ...deps, read })
  await engine.load()
  await move('resolved', engine)
  assert.deepEqual([due(), postmortem()], [1, null])
  clock.now += 2_000
  await assert.rejects(engine.sweep(), { code: 'SQLITE_FULL' })
  isFull = false
  clock.now += 2_000
  await engine.sweep()
  assert.deepEqual([due(), postmortem()?.revision], [0, 1])
})
