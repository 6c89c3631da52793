/** A sender may deliver starts and ends late. The length of an incident follows the times that the sender reports. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { inCi } from '../helpers/in-ci.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** When an alert fired, and when its start and its end were delivered, in steps of half a minute. */
type Fired = {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly startAt: number
  readonly endAt: number
}

const STEP = MINUTE / 2
const LAST = 130
const late = fc.integer({ min: 0, max: 10 })
const length = fc.integer({ min: 1, max: 20 })
const periods = fc.array(fc.tuple(length, length, late), { minLength: 1, maxLength: 2 })
/** Each alert fires once or twice. Its start is delivered while it fires, its end up to five minutes late. */
const histories = fc.tuple(late, periods, periods).map(([endLate, ...all]) =>
  all.flatMap((own, index) => {
    let last = 0
    return own.map(([wait, length, startLate]): Fired => {
      const from = last + wait
      const [to, endAt] = [from + length, from + length + endLate]
      last = endAt + 10
      return { name: NAMES[index] ?? '', from, to, startAt: Math.min(from + startLate, to - 1), endAt }
    })
  }),
)
const NAMES = ['A', 'B']

async function play(t: TestContext, all: readonly (readonly Fired[])[]) {
  const flow = makeFlow(t)
  const at = (step: number) => NOON + step * STEP
  const send = ({ name, from }: Fired, service: string, more: object) =>
    flow.send(
      'metrics',
      alertmanager([alert(name, { service }, { startsAt: at(from), ...more })], { groupKey: `${service} ${name}` }),
    )
  for (let step = 0; step < LAST; step += 1) {
    flow.clock.now = at(step)
    for (const [index, fired] of all.entries())
      for (const of of fired) {
        if (of.startAt === step) await send(of, `service-${index}`, {})
        if (of.endAt === step) await send(of, `service-${index}`, { endsAt: at(of.to) })
      }
    while (await flow.deps.engine.sweep());
  }
  return all.map((_, index) => {
    const service = flow.service(`service-${index}`)
    const own = flow.incidents().filter((incident) => incident.service_id === service?.key)
    return own.map((incident) => ({ ...incident, timeline: flow.timeline(incident).map(({ text }) => text) }))
  })
}

/** Returns the length of the union of the periods, in steps. */
function lengthOf(fired: readonly Fired[]): number {
  const steps = Array.from({ length: LAST }, (_, step) => fired.some(({ from, to }) => from <= step && step < to))
  return steps.filter(Boolean).length
}

const HISTORIES = Number(process.env.INCMON_HISTORIES ?? inCi(200, 60))

test('an incident is as long as the union of the periods in which its alerts fired, whenever they are delivered', async (t) => {
  const all = fc.sample(histories, { numRuns: HISTORIES, seed: Number(process.env.INCMON_SEED ?? 7) })
  const found = await play(t, all)
  const faults = all.flatMap((fired, index) => {
    const own = found[index] ?? []
    const seconds = own.reduce((sum, { problem }) => sum + criticalMsOf(JSON.parse(problem), 0), 0) / 1000
    const expected = (lengthOf(fired) * STEP) / 1000
    return seconds === expected ? [] : [`${seconds} s instead of ${expected} s: ${JSON.stringify(fired)}`]
  })
  assert.deepEqual(faults.slice(0, 3), [], `${faults.length} of ${all.length}`)
})

/** Sends what is delivered at each minute, and returns the incident with its texts. */
async function story(
  t: TestContext,
  deliveries: readonly (readonly [at: number, name: string, from: number, to?: number])[],
) {
  const flow = makeFlow(t)
  const minute = (at: number) => NOON + at * MINUTE
  for (const [at, name, from, to] of deliveries) {
    await flow.sweepUntil(minute(at), STEP)
    const times = { startsAt: minute(from), ...(to === undefined ? {} : { endsAt: minute(to) }) }
    await flow.send('metrics', alertmanager([alert(name, { service: 'api' }, times)], { groupKey: name }))
  }
  await flow.sweepUntil(minute(70))
  const [incident, ...others] = flow.incidents()
  assert.ok(incident && others.length === 0)
  const seconds = criticalMsOf(JSON.parse(incident.problem), 0) / 1000
  return {
    minutes: seconds / 60,
    texts: flow.timeline(incident).map(({ text }) => text),
    document: flow.deps.db.first(flow.deps.db.sql.selectFrom('postmortems').select('document'))?.document ?? '',
  }
}

const BACK = 'the problem came back'
const WRONG = 'the problem has been going on all the time'

test('a start before the known end of the problem leaves no gap, and the problem did not come back', async (t) => {
  const { minutes, texts, document } = await story(t, [
    [1, 'A', 0],
    [11, 'A', 0, 11],
    [14, 'B', 9],
    [21, 'B', 9, 21],
  ])
  assert.equal(minutes, 21)
  assert.ok(texts.includes(WRONG) && !texts.includes(BACK))
  assert.ok(!document.includes('came back'))
})

test('this applies, too, to an alert that has fired and ended before', async (t) => {
  const deliveries = [
    [1, 'A', 0],
    [1, 'B', 0],
    [3, 'B', 0, 3],
    [11, 'A', 0, 11],
    [14, 'B', 9],
    [21, 'B', 9, 21],
  ] as const
  const { minutes, texts } = await story(t, deliveries)
  assert.equal(minutes, 21)
  assert.ok(texts.includes(WRONG) && !texts.includes(BACK))
})

test('a start after the known end is a gap, even if it is delivered before that end', async (t) => {
  for (const deliveries of [
    [
      [1, 'A', 0],
      [11, 'A', 0, 11],
      [14, 'B', 13],
      [21, 'B', 13, 21],
    ],
    [
      [1, 'A', 0],
      [14, 'B', 13],
      [15, 'A', 0, 11],
      [21, 'B', 13, 21],
    ],
  ] as const)
    assert.equal((await story(t, deliveries)).minutes, 19)
})

test('a start before the first known one is the start', async (t) => {
  for (const deliveries of [
    [
      [6, 'A', 5],
      [9, 'B', 2],
      [11, 'A', 5, 11],
      [21, 'B', 2, 21],
    ],
    [
      [6, 'A', 5],
      [7, 'A', 5, 7],
      [9, 'B', 2],
      [21, 'B', 2, 21],
    ],
  ] as const)
    assert.equal((await story(t, deliveries)).minutes, 19)
})
