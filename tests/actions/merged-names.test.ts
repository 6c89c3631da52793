/** How messages name what was merged from other services: each condition once, after the service that has it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** A service, as `namespace/name`. */
type Place = `${string}/${string}`

function world(t: TestContext) {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const sent: string[] = []
  const sends = async () => {
    clock.now += MINUTE / 2
    while (await deps.engine.sweep());
    for (const { title, body } of pump(deps)) sent.push(`${title} ${body}`)
  }
  const report = async (place: Place, name: string, isOver = false) => {
    const [namespace, service] = place.split('/') as [string, string]
    const times = { startsAt: NOON, summary: `${name} text`, ...(isOver ? { endsAt: clock.now } : {}) }
    const body = alertmanager([alert(name, { namespace, service }, times)], { groupKey: `${place} ${name}` })
    await flow.send('metrics', body)
    await sends()
  }
  const incident = ([namespace, service]: string[]) => {
    const own = flow.services().find((one) => one.namespace === namespace && one.name === service)
    return flow.incidents().find(({ service_id: id, status }) => id === own?.key && status !== 'resolved')?.id ?? ''
  }
  const merge = async (from: Place, into: Place) => {
    const [a, b] = [from, into].map((place) => incident(place.split('/')))
    await mergeIncidents(deps, acme.key, { from: a ?? '', into: b ?? '' }, 'Dana')
    await sends()
  }
  /** Returns the last message, after all that is given has ended. */
  const ends = async (...all: readonly (readonly [Place, string])[]) => {
    for (const [place, name] of all) await report(place, name, true)
    for (let times = 0; times < 4; times += 1) await sends()
    return sent.findLast((text) => text.includes('has recovered')) ?? ''
  }
  return { ...flow, report, merge, ends, sent }
}

test('after a chain of merges, each condition is named once, after its own service', async (t) => {
  const { report, merge, ends, sent } = world(t)
  await report('x/a', 'A')
  await report('x/b', 'B')
  await report('x/c', 'C')
  await merge('x/a', 'x/b')
  await merge('x/b', 'x/c')
  assert.match(sent.at(-1) ?? '', /where A of a, B of b and C go on/)
  const over = await ends(['x/a', 'A'], ['x/b', 'B'], ['x/c', 'C'])
  assert.match(over, /It was: .*A of a: A text/)
  assert.match(over, /B of b: B text/)
  assert.match(over, /C: C text/)
  assert.doesNotMatch(over, /A of b|of a of|and more/)
})

test('a merged service of the same name is named with its namespace', async (t) => {
  const { report, merge, ends, sent } = world(t)
  await report('a/db', 'Down')
  await report('b/db', 'Down')
  await merge('b/db', 'a/db')
  assert.match(sent.at(-1) ?? '', /where Down and Down of b\/db go on/)
  const over = await ends(['a/db', 'Down'], ['b/db', 'Down'])
  assert.match(over, /It was: .*Down: Down text/)
  assert.match(over, /Down of b\/db: Down text/)
})

test('so are those of three namespaces, whose incidents were merged one into another', async (t) => {
  const { report, merge, ends, sent } = world(t)
  for (const place of ['a/db', 'b/db', 'c/db'] as const) await report(place, 'Down')
  await merge('c/db', 'b/db')
  await merge('b/db', 'a/db')
  assert.match(sent.at(-1) ?? '', /where Down, Down of b\/db and Down of c\/db go on/)
  const over = await ends(['a/db', 'Down'], ['b/db', 'Down'], ['c/db', 'Down'])
  assert.doesNotMatch(over, /of db/)
  for (const part of ['Down: ', 'Down of b/db: ', 'Down of c/db: ']) assert.ok(over.includes(part), over)
})

test('a merged part that is reported again is no news, whatever its service is called', async (t) => {
  const { report, merge, sent } = world(t)
  await report('a/db', 'Down')
  await report('b/db', 'Down')
  await merge('b/db', 'a/db')
  const count = sent.length
  for (let times = 0; times < 3; times += 1) await report('b/db', 'Down')
  assert.deepEqual(sent.slice(count), [])
})
