/** What is told when a Prometheus stops, with the configuration of the documentation: Alertmanager ends its alerts one by one. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { lastBegunAt } from '../../src/domain/incident/lasted.ts'
import type { Problem } from '../../src/domain/incident/problem.ts'
import { SECOND } from '../../src/domain/units.ts'
import { NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager, type Body } from '../helpers/senders.ts'

type Rule = {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** When it fires, in seconds after noon; it is sent again this many seconds after each minute. */
  readonly from: number
  readonly to?: number
  readonly phase: number
  /** When its group is sent, in seconds after each half minute. */
  readonly flush?: number
}

const WATCHDOG: Rule = {
  name: 'Watchdog',
  labels: { severity: 'none', namespace: 'monitoring' },
  from: 0,
  phase: 50,
  flush: 19,
}

/** Prometheus sends each alert once a minute and lets it end 4 minutes later.*/
function simulated({ rules, stopsAt, every = 60 }: { rules: readonly Rule[]; stopsAt: number; every?: number }) {
  const known = new Map<
    string,
    { readonly rule: Rule; endsAt: number; isOver: boolean; told: string; toldAt: number }
  >()
  const bodyOf = (rule: Rule, endsAt: number | null): Body => {
    const times = {
      startsAt: NOON + rule.from * SECOND,
      ...(endsAt === null ? {} : { endsAt: NOON + endsAt * SECOND }),
    }
    return alert(rule.name, rule.labels, times)
  }
  return (second: number): Body[] => {
    for (const rule of second < stopsAt ? rules : []) {
      const isOn = second >= rule.from && second < (rule.to ?? Number.POSITIVE_INFINITY)
      const one = known.get(rule.name) ?? { rule, endsAt: 0, isOver: false, told: '', toldAt: 0 }
      if (isOn && (second === rule.from || second % every === rule.phase % every))
        known.set(rule.name, Object.assign(one, { endsAt: second + 4 * 60 }))
      if (second === rule.to) one.endsAt = second
    }
    // Each alert has a group of its own, which is sent at these seconds.
    return [...known.values()].flatMap((one): Body[] => {
      if (second % 30 !== (one.rule.flush ?? one.rule.phase) % 30) return []
      const state = one.endsAt <= second ? 'resolved' : 'firing'
      const isDue = one.told !== state || (state === 'firing' && second >= one.toldAt + 120)
      if (!isDue) return []
      Object.assign(one, { told: state, toldAt: second })
      const body = bodyOf(one.rule, state === 'resolved' ? one.endsAt : null)
      return [alertmanager([body], { groupKey: one.rule.name })]
    })
  }
}

/** Runs the senders. Returns what the channel was told about services, with the minute. */
async function run(
  t: TestContext,
  senders: readonly { readonly send: (at: number) => Body[]; readonly receiver: string }[],
  until = 25,
) {
  const flow = makeFlow(t)
  createChannel(flow.deps, flow.acme.key, {
    name: 'all',
    kind: 'slack',
    target: 'https://example.com/x',
    remindAfter: 9,
  })
  const told: string[] = []
  for (let second = 0; second < until * 60; second += 1) {
    for (const { send, receiver } of senders)
      for (const body of send(second)) await flow.send('metrics', { ...body, receiver }, { at: NOON + second * SECOND })
    if (second % 10 > 0) continue
    await flow.sweepUntil(NOON + second * SECOND, 10 * SECOND)
    for (const { title, items } of pump(flow.deps)) told.push(`${items.map(({ kind }) => kind)} ${title}`)
  }
  return { flow, told }
}

const down = (phase: number, more: Partial<Rule> = {}): Rule => ({
  name: 'Down',
  labels: { service: 'cart' },
  from: phase,
  phase,
  ...more,
})

for (const phase of [0, 11, 24, 37, 51, 59])
  for (const stopsAt of [421, 445, 475]) {
    test(`nobody hears that an alert is over that was sent at second ${phase} when Prometheus stops at ${stopsAt} s`, async (t) => {
      const { told, flow } = await run(t, [
        { send: simulated({ rules: [WATCHDOG, down(phase)], stopsAt }), receiver: 'incmon' },
      ])
      assert.deepEqual(
        told.filter((one) => /^(recovered|again)/.test(one)),
        [],
      )
      assert.equal(flow.alerts()[0]?.status, 'firing')
      assert.equal(
        told.some((one) => /silent|heartbeat/.test(one)),
        true,
      )
    })
  }

test('rules that are evaluated each minute end up to two minutes before the heartbeat', async (t) => {
  const rules = [{ ...WATCHDOG, phase: 119 }, down(10)]
  const { told } = await run(t, [{ send: simulated({ rules, stopsAt: 600, every: 120 }), receiver: 'incmon' }])
  assert.deepEqual(
    told.filter((one) => /^(recovered|again)/.test(one)),
    [],
  )
})

test('a second receiver whose heartbeat ends later doubts what the first one showed to be no end', async (t) => {
  const first = simulated({ rules: [WATCHDOG, down(11)], stopsAt: 445 })
  const late = simulated({ rules: [WATCHDOG, down(11)], stopsAt: 445 })
  const slow = (second: number) => late(second).filter((body) => body.groupKey !== 'Watchdog' || second < 500)
  const { told } = await run(t, [
    { send: first, receiver: 'incmon' },
    { send: slow, receiver: 'slow' },
  ])
  assert.deepEqual(
    told.filter((one) => /^(recovered|again)/.test(one)),
    [],
  )
})

for (const [what, to, expected] of [
  ['of an alert that fired for less than 4 minutes is told after a minute', 200, /until 12:03 UTC/],
  ['of a longer alert is told three minutes after it', 400, /until 12:06 UTC/],
] as const) {
  test(`while Prometheus runs, the end ${what}`, async (t) => {
    const { told } = await run(
      t,
      [{ send: simulated({ rules: [WATCHDOG, down(20, { to })], stopsAt: 9_999 }), receiver: 'incmon' }],
      Math.ceil((to + 180) / 60),
    )
    assert.match(told.at(-1) ?? '', /^recovered cart has recovered/)
    assert.match(told.at(-1) ?? '', expected)
  })
}

test('without a heartbeat, an end counts after a minute', async (t) => {
  const { told } = await run(
    t,
    [{ send: simulated({ rules: [down(20, { to: 400 })], stopsAt: 9_999 }), receiver: 'incmon' }],
    9,
  )
  assert.match(told.at(-1) ?? '', /^recovered cart has recovered/)
})

test('an end that does not count is no new start of the problem', async (t) => {
  const rules = [WATCHDOG, down(20, { name: 'Errors', to: 170 }), down(20, { from: 300 })]
  const { flow, told } = await run(t, [{ send: simulated({ rules, stopsAt: 560 }), receiver: 'incmon' }])
  const [incident] = flow.incidents()
  const problem: Problem = JSON.parse(incident?.problem ?? '')
  assert.equal(problem.since, NOON + 300 * SECOND)
  assert.equal(lastBegunAt({ startedAt: incident?.started_at ?? 0, problem }), NOON + 300 * SECOND, told.join('\n'))
})
