/** An incident that a person resolves: its postmortem is generated before the commit and saved with it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { changeIncident } from '../../src/domain/decide/incident-changes.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { withEngine } from '../../src/operations/deps.ts'
import { editPostmortem } from '../../src/operations/postmortems.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { type Read, readHere } from '../../src/store/read.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** Acme's cart with an open incident. */
async function illCart(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  const fires = (name: string) => flow.send('metrics', alertmanager([alert(name, { deployment: 'cart' })]))
  await fires('Down')
  const id = flow.incidents()[0]?.id ?? ''
  const move = (status: 'open' | 'resolved', engine: Engine = deps.engine) =>
    engine.run(acme.key, (ctx, now) => changeIncident(ctx, id, { status }, 'anna', now))
  const postmortem = (of = acme) => findPostmortem(deps.db, of.key, id)
  const alerts = () =>
    postmortem()?.document.evidence.records.flatMap(({ ref, text }) => (/^alert/.test(ref) ? text : []))
  return { ...flow, id, fires, move, postmortem, alerts }
}

test('the postmortem contains an alert that is received just before the resolution', async (t) => {
  const { fires, move, alerts } = await illCart(t)
  await Promise.all([fires('Slow'), move('resolved')])
  assert.match(`${alerts()}`, /Down.*Slow/)
})

test('the postmortem does not contain an alert that is received just after the resolution', async (t) => {
  const { fires, move, alerts } = await illCart(t)
  await Promise.all([move('resolved'), fires('Slow')])
  assert.deepEqual([alerts()?.length, /Slow/.test(`${alerts()}`)], [1, false])
})

test('an incident that is resolved twice at once has one revision for each resolution', async (t) => {
  const { move, postmortem } = await illCart(t)
  await Promise.all([move('resolved'), move('open'), move('resolved')])
  assert.equal(postmortem()?.revision, 2)
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
  assert.match(postmortem()?.document.detection.sentences.at(-1)?.text ?? '', /^anna resolved it without acknowledging/)
})

test('an incident is resolved with a postmortem although no thread can generate it', async (t) => {
  const { deps, move, postmortem } = await illCart(t)
  const { engine } = withEngine({ ...deps, read: () => Promise.reject(new Error('the thread ended')) })
  await move('resolved', engine)
  assert.equal(postmortem()?.revision, 1)
})

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
