/** A condition that has another name in its incident, because its service or alert has moved, is not told again. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import {
  changeIncident,
  createService,
  createSilence,
  mergeIncidents,
  mergeServices,
  updateService,
} from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

/** A fires on a, and the alert B with `labels` since noon. At minute 1, the incident of B is merged into that of A. */
async function merged(t: TestContext, labels: Readonly<Record<string, string>> = { service: 'b' }) {
  const flow = makeFlow(t)
  const { deps, acme, clock, service } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const on = new Map<string, () => Promise<unknown>>()
  const report = (name: string, of: Readonly<Record<string, string>>, to?: number): Promise<unknown> => {
    if (to === undefined) on.set(name, () => report(name, of))
    else on.delete(name)
    const times = { startsAt: NOON, ...(to === undefined ? {} : { endsAt: NOON + to * MINUTE }) }
    const item = alert(name, { namespace: '', severity: 'critical', ...of }, times)
    return flow.send('metrics', alertmanager([item], { groupKey: name }))
  }
  const sent: string[] = []
  /** Repeats what fires, and returns what was told until a minute. */
  const told = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(Math.min(NOON + minute * MINUTE, clock.now + MINUTE / 6), MINUTE / 6)
      for (const repeat of on.values()) await repeat()
      sent.push(...pump(deps).map(({ items, title }) => `${items.at(-1)?.kind}: ${title}`))
    }
    return sent.splice(0)
  }
  await report('A', { service: 'a' })
  await report('B', labels)
  await told(1)
  const [idA, idB] = ['A', 'B'].map((name) => flow.incidents().find(({ title }) => title.includes(name))?.id ?? '')
  await mergeIncidents(deps, acme.key, { from: idB ?? '', into: idA ?? '' }, 'Dana')
  await told(2)
  const idOf = (name: string) => service(name)?.id ?? ''
  const firing = () =>
    flow
      .incidents()
      .flatMap(({ status, problem }) => (status === 'resolved' ? [] : [JSON.parse(problem).firing.join()]))
  return { ...flow, report, told, idOf, firing, idA: idA ?? '' }
}

const CORE = { team: 'core' }

for (const [what, labels, move, expected] of [
  [
    'whose service is merged into that of the incident',
    undefined,
    ({ deps, acme, idOf }) => mergeServices(deps, acme.key, idOf('b'), idOf('a')),
    'A,B',
  ],
  [
    'whose service is merged into a third one',
    undefined,
    async ({ deps, acme, idOf }) => {
      const into = await createService(deps, acme.key, { name: 'c', namespace: '' })
      await mergeServices(deps, acme.key, idOf('b'), into)
    },
    'A,B of c',
  ],
  [
    'whose service is renamed',
    undefined,
    ({ deps, acme, idOf }) => updateService(deps, acme.key, idOf('b'), { name: 'c' }),
    'A,B of c',
  ],
  [
    'in an incident whose service gets the name of its own',
    { service: 'b', namespace: 'shop' },
    ({ deps, acme, idOf }) => updateService(deps, acme.key, idOf('a'), { name: 'b' }),
    'A,B of shop/b',
  ],
  [
    'that an alias gives to the service of the incident',
    CORE,
    ({ deps, acme, idOf }) =>
      updateService(deps, acme.key, idOf('a'), { aliases: [{ kind: 'label', value: 'team=core' }] }),
    'A,B',
  ],
  [
    'that an alias gives to a third service',
    CORE,
    ({ deps, acme }) =>
      createService(deps, acme.key, { name: 'c', namespace: '', aliases: [{ kind: 'label', value: 'team=core' }] }),
    'A,B of c',
  ],
] as const satisfies readonly (readonly [
  string,
  Readonly<Record<string, string>> | undefined,
  (flow: Awaited<ReturnType<typeof merged>>) => Promise<unknown>,
  string,
])[])
  for (const status of ['open', 'investigating'] as const)
    test(`a condition ${what} is told neither as new nor as over, in an incident that is ${status}`, async (t) => {
      const flow = await merged(t, labels)
      const { report, told, firing, deps, acme, idA } = flow
      if (status === 'investigating') await changeIncident(deps, acme.key, idA, { status }, 'Ann')
      await told(3)
      await move(flow)
      assert.deepEqual(await told(6), [])
      assert.deepEqual(firing(), [expected])
      await report('A', { service: 'a' }, 6)
      assert.deepEqual(await told(9), [])
      await report('B', labels ?? { service: 'b' }, 9)
      const [over, ...others] = await told(12)
      assert.match(over ?? '', /^recovered: .* recovered: it was critical for 9 min, until 12:09 UTC\.$/)
      assert.deepEqual(others, [])
    })

test('a second condition that fires on the renamed part is told', async (t) => {
  const { deps, acme, idOf, report, told } = await merged(t)
  await updateService(deps, acme.key, idOf('b'), { name: 'c' })
  await told(3)
  await report('C', { service: 'c' })
  assert.match(`${await told(4)}`, /^worse: .* got worse: C of c is firing, too\.$/)
})

test('what was told of an incident before it followed its alert is not told when a silence of the rest ends', async (t) => {
  const flow = makeFlow(t)
  const { deps, acme, clock } = flow
  createChannel(deps, acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x', remindAfter: 0 })
  const until = async (minute: number) => {
    while (clock.now < NOON + minute * MINUTE) {
      await flow.sweepUntil(clock.now + MINUTE / 6, MINUTE / 6)
      for (const name of ['X', 'Z'])
        await flow.send(
          'metrics',
          alertmanager([alert(name, { namespace: '', ...CORE }, { startsAt: NOON })], { groupKey: name }),
        )
    }
    return pump(deps).map(({ items, title }) => `${items.at(-1)?.kind}: ${title}`)
  }
  await until(1)
  const matchers = [{ name: 'alertname', op: '=' as const, value: 'X' }]
  const times = { startsAt: clock.now, endsAt: NOON + 4 * MINUTE, schedule: null }
  await createSilence(deps, acme.key, { matchers, ...times, comment: 'X' }, 'Dana')
  await until(2)
  const aliases = [{ kind: 'label' as const, value: 'team=core' }]
  await createService(deps, acme.key, { name: 'old', namespace: '', aliases })
  await until(3)
  assert.deepEqual(await until(8), [])
})
