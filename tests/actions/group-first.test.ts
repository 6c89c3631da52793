/** The message about a group says what has gone on for longest: a service that was well in between has not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChannel } from '../../src/actions/channels.ts'
import { mergeIncidents } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { pump } from '../helpers/pump.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const REFUSED = 'dial tcp: connect to postgres.shop.svc:5432: connection refused'

for (const [what, { postgres, cart, merges }, expected] of [
  [
    'the leader was well in between',
    { postgres: [[0, 2], [6]], cart: [[1]], merges: false },
    'shop/cart since 12:01 UTC',
  ],
  ['a victim was', { postgres: [[2]], cart: [[1, 3], [6]], merges: false }, 'shop/postgres since 12:02 UTC'],
  [
    'what began earlier was merged into the leader',
    { postgres: [[2]], cart: [[1]], merges: true },
    'shop/cart since 12:01 UTC',
  ],
] as const)
  test(`${expected} is the first if ${what}`, async (t) => {
    const flow = makeFlow(t)
    createChannel(flow.deps, flow.acme.key, { name: 'all', kind: 'slack', target: 'https://example.com/x' })
    const sent: string[] = []
    const until = async (minute: number) => {
      while (flow.clock.now < NOON + minute * MINUTE) {
        await flow.sweepUntil(flow.clock.now + MINUTE / 4, MINUTE / 4)
        sent.push(...pump(flow.deps).map(({ body }) => body))
      }
    }
    const report = (service: string, from: number, to?: number) => {
      const times = { startsAt: NOON + from * MINUTE, ...(to !== undefined && { endsAt: NOON + to * MINUTE }) }
      const labels = { service, namespace: 'shop', severity: 'critical' }
      const one = alert('Down', labels, { ...times, summary: service === 'postgres' ? 'Disk full' : REFUSED })
      return flow.send('metrics', alertmanager([one], { groupKey: service }))
    }
    const times = (service: string, all: readonly (readonly number[])[]) =>
      all.flatMap(([from = 0, to]) => [
        { at: from, act: () => report(service, from) },
        ...(to === undefined ? [] : [{ at: to, act: () => report(service, from, to) }]),
      ])
    const others = ['search', 'till', 'web'].flatMap((service) => times(service, [[10]]))
    const acts = [...times('postgres', postgres), ...times('cart', cart), ...others]
    const idOf = (name: string) => flow.incidents().find(({ title }) => title.startsWith(name))?.id ?? ''
    for (const { at, act } of acts.sort((a, b) => a.at - b.at)) {
      await until(at)
      if (at === 10 && merges && idOf('search') === '' && idOf('till') === '' && idOf('web') === '')
        await mergeIncidents(flow.deps, flow.acme.key, { from: idOf('cart'), into: idOf('postgres') }, 'anna')
      await act()
    }
    await until(12)
    assert.match(sent.filter((text) => text.includes('First: ')).at(-1) ?? '', new RegExp(`First: ${expected}`))
  })
