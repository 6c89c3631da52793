/** The steps of a simulation as plain values that fast-check can generate, shrink and print. */
import fc from 'fast-check'
import type { Source } from '../../src/domain/event/event.ts'
import type { Death, Fault } from './failing-store.ts'

/** One request from a sender. `minutesAgo` is the time of the event before its receipt. */
export type Message =
  | {
      readonly is: 'notification'
      readonly from: 'metrics' | 'dashboard'
      readonly alerts: readonly {
        readonly name: 'Down' | 'Slow'
        readonly service: Service
        readonly severity: 'critical' | 'warning'
        readonly status: 'firing' | 'resolved'
      }[]
      readonly minutesAgo: number
      readonly isTruncated: boolean
    }
  | {
      readonly is: 'event'
      readonly reason: (typeof REASONS)[number]
      readonly service: Service
      readonly count: number
      readonly minutesAgo: number
    }
  | { readonly is: 'node'; readonly reason: 'NodeNotReady' | 'NodeReady'; readonly minutesAgo: number }
  | { readonly is: 'rollout'; readonly service: Service; readonly hash: string; readonly minutesAgo: number }
  | { readonly is: 'pull'; readonly service: Service; readonly minutesAgo: number }
  | {
      readonly is: 'pipeline'
      readonly project: Service
      readonly status: 'failed' | 'success' | 'running'
      readonly id: number
      readonly minutesAgo: number
    }
  | { readonly is: 'job'; readonly project: Service; readonly status: 'failed' | 'success' }
  | { readonly is: 'heartbeat' }
  | { readonly is: 'broken'; readonly from: Source }

type Service = 'cart' | 'web'
const REASONS = ['BackOff', 'OOMKilling', 'FailedScheduling', 'Scheduled', 'Unhealthy', 'Started'] as const

/** What a person does. A number selects the records among those that exist. */
export type Act =
  | { readonly act: 'change incident'; readonly to: 'open' | 'investigating' | 'monitoring' | 'resolved' }
  | { readonly act: 'create incident' | 'merge incidents' | 'note' | 'resolve alert' | 'merge services' }
  | { readonly act: 'rename service'; readonly name: string }
  | { readonly act: 'silence'; readonly minutes: number }
  | { readonly act: 'end silence' }

export type Step =
  | { readonly do: 'send'; readonly who: Who; readonly messages: readonly Message[]; readonly key: string | null }
  | { readonly do: 'repeat'; readonly which: number; readonly isCached: boolean }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'sweep' }
  | { readonly do: 'restart' }
  | { readonly do: 'fail'; readonly fault: Fault }
  | { readonly do: 'die'; readonly how: Death; readonly who: Who; readonly message: Message }
  | ({ readonly do: 'person'; readonly who: Who; readonly which: number } & Act)

/** The sender: its organization and the cluster of its token. */
export type Who = { readonly organization: 1 | 2; readonly cluster: '' | 'eu' }

/** Generates objects with these fields in this order, so that a failing history prints like the code. */
function values<Model>(model: { [Name in keyof Model]: fc.Arbitrary<Model[Name]> }): fc.Arbitrary<Model> {
  return fc.record(model, { noNullPrototype: true }) as fc.Arbitrary<Model>
}

const service = fc.constantFrom<Service>('cart', 'web')
const minutesAgo = fc.oneof(fc.constant(0), fc.nat(40))

const message: fc.Arbitrary<Message> = fc.oneof(
  {
    weight: 6,
    arbitrary: values({
      is: fc.constant('notification' as const),
      from: fc.constantFrom('metrics' as const, 'metrics' as const, 'dashboard' as const),
      // Alertmanager sends each alert in a group once.
      alerts: fc.uniqueArray(
        values({
          name: fc.constantFrom('Down' as const, 'Slow' as const),
          service,
          severity: fc.constantFrom('critical' as const, 'warning' as const),
          status: fc.constantFrom('firing' as const, 'firing' as const, 'resolved' as const),
        }),
        { minLength: 1, maxLength: 3, selector: ({ name, service, severity }) => `${name} ${service} ${severity}` },
      ),
      minutesAgo,
      isTruncated: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 5,
    arbitrary: values({
      is: fc.constant('event' as const),
      reason: fc.constantFrom(...REASONS),
      service,
      count: fc.constantFrom(1, 1, 2, 6),
      minutesAgo,
    }),
  },
  values({ is: fc.constant('node' as const), reason: fc.constantFrom('NodeNotReady', 'NodeReady'), minutesAgo }),
  values({
    is: fc.constant('rollout' as const),
    service,
    hash: fc.constantFrom('5d4f8c7b9', '66c7d9f8b'),
    minutesAgo,
  }),
  values({ is: fc.constant('pull' as const), service, minutesAgo }),
  {
    weight: 2,
    arbitrary: values({
      is: fc.constant('pipeline' as const),
      project: service,
      status: fc.constantFrom('failed' as const, 'success' as const, 'running' as const),
      id: fc.integer({ min: 1, max: 2 }),
      minutesAgo,
    }),
  },
  values({ is: fc.constant('job' as const), project: service, status: fc.constantFrom('failed', 'success') }),
  values({ is: fc.constant('heartbeat' as const) }),
  values({ is: fc.constant('broken' as const), from: fc.constantFrom<Source>('metrics', 'cluster') }),
)

const who: fc.Arbitrary<Who> = values({
  organization: fc.constantFrom(1 as const, 1 as const, 2 as const),
  cluster: fc.constantFrom('' as const, '' as const, 'eu' as const),
})

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: values({
      act: fc.constant('change incident' as const),
      to: fc.constantFrom('open' as const, 'investigating' as const, 'monitoring' as const, 'resolved' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: values({
      act: fc.constantFrom('create incident', 'merge incidents', 'note', 'resolve alert', 'merge services'),
    }),
  },
  values({ act: fc.constant('rename service' as const), name: fc.constantFrom('cart', 'shop') }),
  values({ act: fc.constant('silence' as const), minutes: fc.integer({ min: 1, max: 90 }) }),
  values({ act: fc.constant('end silence' as const) }),
)

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 10,
    arbitrary: values({
      do: fc.constant('send' as const),
      who,
      messages: fc.array(message, { minLength: 1, maxLength: 3 }),
      key: fc.constantFrom(null, null, null, 'a', 'b'),
    }),
  },
  { weight: 3, arbitrary: values({ do: fc.constant('repeat' as const), which: fc.nat(), isCached: fc.boolean() }) },
  { weight: 3, arbitrary: values({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 20 }) }) },
  // Hours and days pass, and the clock goes backward.
  {
    weight: 2,
    arbitrary: values({ do: fc.constant('wait' as const), minutes: fc.integer({ min: -60, max: 3000 }) }),
  },
  { weight: 3, arbitrary: fc.constant({ do: 'sweep' as const }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' as const }) },
  {
    weight: 1,
    arbitrary: values({
      do: fc.constant('fail' as const),
      fault: fc.constantFrom<Fault>('store', 'store', 'store', 'busy'),
    }),
  },
  {
    weight: 1,
    arbitrary: values({
      do: fc.constant('die' as const),
      how: fc.constantFrom<Death>('before the commit', 'after the commit', 'power cut'),
      who,
      message,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.tuple(who, fc.nat(), act).map(([who, which, act]) => ({ do: 'person' as const, who, which, ...act })),
  },
)

/** Generates histories of up to `maxLength` steps. */
export function histories(maxLength = 25): fc.Arbitrary<readonly Step[]> {
  return fc.array(step, { minLength: 1, maxLength, size: 'max' })
}
