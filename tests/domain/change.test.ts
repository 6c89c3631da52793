/** Changes: a pipeline is built from its notifications in any order, and a rollout from scaling events. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { absorbNotification, intervalOf, outcomeOf, type PipelineFacts } from '../../src/domain/correlation/change.ts'
import { rolloutsOf } from '../../src/domain/correlation/rollout.ts'
import type { JobDraft, PipelineDraft } from '../../src/domain/event/event.ts'
import { facts, job, MINUTE, NOON } from '../helpers/changes.ts'

const project = { path: 'shop/cart', name: 'Cart', defaultBranch: 'main' }

function notification(more: Partial<PipelineDraft>): PipelineDraft {
  return {
    source: 'ci',
    kind: 'pipeline',
    at: NOON,
    payload: '{}',
    links: {},
    project,
    pipelineId: '31',
    ref: 'main',
    tag: false,
    sha: 'abc',
    status: 'running',
    createdAt: NOON - 10 * MINUTE,
    finishedAt: null,
    duration: null,
    mergeRequest: false,
    trigger: null,
    commit: null,
    jobs: [],
    ...more,
  }
}

function jobNotification(at: number, more: Parameters<typeof job>[0]): JobDraft {
  const common = {
    source: 'ci',
    kind: 'job',
    payload: '{}',
    links: {},
    project,
    pipelineId: '31',
    ref: 'main',
    tag: false,
  } as const
  return { ...common, at, sha: 'abc', commit: null, job: job(more) }
}

const TOLD: readonly (PipelineDraft | JobDraft)[] = [
  notification({ at: NOON - 10 * MINUTE, status: 'pending' }),
  notification({
    at: NOON - 9 * MINUTE,
    status: 'running',
    jobs: [job({ id: '1', status: 'created', startedAt: null, finishedAt: null })],
  }),
  jobNotification(NOON, { id: '1', status: 'running', finishedAt: null }),
  jobNotification(NOON + 5 * MINUTE, { id: '1', status: 'failed', failureReason: 'script_failure' }),
  notification({ at: NOON + 6 * MINUTE, status: 'failed', finishedAt: NOON + 6 * MINUTE }),
]

const SERVICE = { namespace: 'shop', name: 'cart' }
const told = (drafts: readonly (PipelineDraft | JobDraft)[]) =>
  drafts.reduce<PipelineFacts | null>((before, draft) => absorbNotification(before, draft, 'slug'), null)

test('All notifications about a pipeline result in one state', () => {
  const story = told(TOLD)
  assert.ok(story)
  assert.equal(outcomeOf(story), 'deploy failed')
  assert.deepEqual(intervalOf(story, SERVICE), { startsAt: NOON, endsAt: NOON + 5 * MINUTE })
})

test('The project that started a pipeline is kept, whichever notification names it', () => {
  const [pipelines, jobs] = [[notification({ upstream: 'shop/web' })], [jobNotification(NOON + MINUTE, { id: '1' })]]
  assert.equal(told([...pipelines, ...jobs])?.upstream, 'shop/web')
  assert.equal(told([...jobs, ...pipelines])?.upstream, 'shop/web')
  assert.ok(!Object.hasOwn(told(jobs) ?? {}, 'upstream'))
})

test('The state is the same in any order and with duplicates', () => {
  const expected = told(TOLD)
  const order = fc.shuffledSubarray([...TOLD, ...TOLD], { minLength: 2 * TOLD.length })
  fc.assert(
    fc.property(order, (drafts) => assert.deepEqual(told(drafts), expected)),
    { numRuns: 1000 },
  )
})

test("The pipeline's URL is known from any of its notifications", () => {
  const links = { pipeline: 'https://gitlab.example/shop/cart/-/pipelines/31' }
  const without = notification({ at: NOON, status: 'success', finishedAt: NOON })
  const before = notification({ at: NOON - MINUTE, links })
  for (const drafts of [
    [before, without],
    [without, before],
  ])
    assert.equal(told(drafts)?.url, links.pipeline)
  assert.equal(told([without])?.url, null)
})

test('A manual gate does not extend the time span', () => {
  const story = facts({ createdAt: NOON - 72 * 60 * MINUTE })
  assert.deepEqual(intervalOf(story, SERVICE), { startsAt: NOON, endsAt: NOON + 5 * MINUTE })
})

test('Without jobs the time span lasts from creation to end, at most a day', () => {
  const story = facts({ jobs: [], createdAt: NOON - 72 * 60 * MINUTE })
  assert.deepEqual(intervalOf(story, SERVICE), {
    startsAt: NOON + 6 * MINUTE - 24 * 60 * MINUTE,
    endsAt: NOON + 6 * MINUTE,
  })
})

test('A pipeline with only a duration started that long before its end', () => {
  const story = told([notification({ status: 'failed', createdAt: null, duration: 120 })])
  assert.deepEqual(story && intervalOf(story, SERVICE), { startsAt: NOON - 2 * MINUTE, endsAt: NOON })
})

const OUTCOMES: [string, Partial<PipelineFacts>, string][] = [
  ['a merge request’s success has deployed nothing', { jobs: [], mergeRequest: true }, 'success without a deploy'],
  [
    'a failed deploy that may fail is no failure',
    { jobs: [job({ status: 'failed', allowFailure: true })] },
    'deployed',
  ],
  [
    'a failure after the deploy leaves it deployed',
    { status: 'failed', jobs: [job(), job({ name: 'smoke', stage: 'verify', status: 'failed' })] },
    'deployed',
  ],
  [
    'canceled before the deploy',
    { status: 'canceled', jobs: [job({ status: 'canceled', startedAt: null })] },
    'success without a deploy',
  ],
  [
    'running with its deploy running',
    { status: 'running', jobs: [job({ status: 'running', finishedAt: null })] },
    'deploying',
  ],
  ['running after its deploy', { status: 'running', jobs: [job()] }, 'deployed'],
  ['ended without the end of its deploy job', { jobs: [job({ status: 'running', finishedAt: null })] }, 'deployed'],
  ['running without a deploy yet', { status: 'running', jobs: [] }, 'under way'],
]
for (const [name, more, expected] of OUTCOMES) {
  test(`Outcome: ${name}`, () => assert.equal(outcomeOf(facts(more)), expected))
}

const CART = { id: 'cart', namespace: 'shop' }
const scaled = (minute: number, text: string, object = 'Deployment/cart') => ({
  eventId: `e${minute}`,
  object,
  text,
  at: NOON + minute * MINUTE,
})
const hashes = (events: Parameters<typeof rolloutsOf>[0]) =>
  rolloutsOf(events, CART).map(({ hash, startsAt }) => [hash, (startsAt - NOON) / MINUTE])

test('A new ReplicaSet is a rollout; more replicas are not', () => {
  const events = [
    scaled(0, 'Scaled up replica set cart-5d4f8c7b9 to 1'),
    scaled(1, 'Scaled down replica set cart-6c8b9d4f7 to 2'),
    scaled(2, 'Scaled up replica set cart-5d4f8c7b9 to 3'),
  ]
  assert.deepEqual(hashes(events), [['5d4f8c7b9', 0]])
})

test('Returning to an earlier ReplicaSet is also a rollout', () => {
  const events = [
    scaled(0, 'Scaled up replica set cart-5d4f8c7b9 to 1'),
    scaled(9, 'Scaled up replica set cart-6c8b9d4f7 to 1'),
    scaled(14, 'Scaled up replica set cart-5d4f8c7b9 to 1'),
  ]
  assert.deepEqual(hashes(events), [
    ['5d4f8c7b9', 0],
    ['6c8b9d4f7', 9],
    ['5d4f8c7b9', 14],
  ])
})

test('The first known scale-up of existing replicas is not a rollout', () => {
  assert.deepEqual(hashes([scaled(0, 'Scaled up replica set cart-5d4f8c7b9 from 3 to 5')]), [])
  assert.deepEqual(hashes([scaled(0, 'Scaled up replica set cart-5d4f8c7b9 from 0 to 1')]), [['5d4f8c7b9', 0]])
})

test('Deployments of one service are distinguished, and other messages are ignored', () => {
  const events = [
    scaled(0, 'Scaled up replica set cart-5d4f8c7b9 to 1'),
    scaled(1, 'Scaled up replica set cart-web-6c8b9d4f7 to 1', 'Deployment/cart-web'),
    scaled(2, 'something else'),
    scaled(3, 'Scaled up replica set cart-5d4f8c7b9 to 2'),
  ]
  assert.deepEqual(hashes(events), [
    ['5d4f8c7b9', 0],
    ['6c8b9d4f7', 1],
  ])
})

test('The order of scaling events does not matter', () => {
  const events = [
    scaled(0, 'Scaled up replica set cart-5d4f8c7b9 to 1'),
    scaled(2, 'Scaled up replica set cart-5d4f8c7b9 to 2'),
    scaled(9, 'Scaled up replica set cart-6c8b9d4f7 to 1'),
  ]
  const order = fc.shuffledSubarray(events, { minLength: events.length })
  fc.assert(
    fc.property(order, (shuffled) => assert.deepEqual(hashes(shuffled), hashes(events))),
    { numRuns: 1000 },
  )
})

const emptied = (events: Parameters<typeof rolloutsOf>[0]) => rolloutsOf(events, CART).map(({ ref }) => ref)

test('Scaling the last ReplicaSet to zero is a change, and so is the removal of endpoints', () => {
  assert.deepEqual(emptied([scaled(0, 'Scaled down replica set cart-5d4f8c7b9 to 0 from 3')]), ['shop/cart@0'])
  assert.deepEqual(emptied([scaled(0, 'selector removed', 'Service/cart')]), ['shop/cart@endpoints'])
})

test('The end of a rollout is no scaling to zero', () => {
  const up = scaled(0, 'Scaled up replica set cart-5d4f8c7b9 to 1')
  assert.deepEqual(emptied([up, scaled(5, 'Scaled down replica set cart-6c8b9d4f7 to 0')]), ['shop/cart@5d4f8c7b9'])
  // The strategy Recreate removes the old pods first.
  const old = scaled(-1, 'Scaled down replica set cart-6c8b9d4f7 to 0')
  assert.deepEqual(emptied([old, up]), ['shop/cart@5d4f8c7b9'])
})

test('The end of a canary of Argo Rollouts is no scaling to zero, for the stable ReplicaSet serves', () => {
  const up = (minute: number, hash: string, revision: number) =>
    scaled(minute, `Scaled up ReplicaSet cart-${hash} (revision ${revision}) from 0 to 1`, 'Rollout/cart')
  const down = (minute: number, hash: string, revision: number) =>
    scaled(minute, `Scaled down ReplicaSet cart-${hash} (revision ${revision}) from 1 to 0`, 'Rollout/cart')
  const [first, second] = ['5d4f8c7b9', '6c8b9d4f7'] as const
  assert.deepEqual(emptied([up(0, first, 3), down(5, first, 3)]), [`shop/cart@${first}`])
  const twice = [up(0, first, 3), down(5, first, 3), up(9, second, 4), down(14, second, 4)]
  assert.deepEqual(emptied(twice), [`shop/cart@${first}`, `shop/cart@${second}`])
  // After a canary that replaced the stable ReplicaSet, nothing else serves.
  const done = [up(0, second, 3), down(5, first, 2)]
  assert.deepEqual(emptied([...done, down(60, second, 3)]), [`shop/cart@${second}`, 'shop/cart@0'])
  // The first revision replaces nothing.
  assert.deepEqual(emptied([up(0, first, 1), down(5, first, 1)]), [`shop/cart@${first}`, 'shop/cart@0'])
})

test('A rollout that a watched cluster shows has its images and who changed them', () => {
  const told = (text: string) =>
    rolloutsOf([scaled(0, text)], CART).map(({ hash, template, isRollback }) => [hash, template, isRollback])
  assert.deepEqual(told('Rollout of cart-7d9f5b6c8 (revision 2): app: cart:1 → cart:2; by kubectl-set'), [
    ['7d9f5b6c8', 'app: cart:1 → cart:2; by kubectl-set', false],
  ])
  assert.deepEqual(told('Rollback to cart-5d4f8c7b9 (revision 3): same images'), [['5d4f8c7b9', 'same images', true]])
  assert.deepEqual(told('Scaled up replica set cart-7d9f5b6c8 to 1'), [['7d9f5b6c8', undefined, false]])
  assert.deepEqual(told('Rollout of nothing'), [])
})

test('Only the deploy jobs of the service count for its interval', () => {
  const to = (name: string, startedAt: number) =>
    job({ name: `deploy ${name}`, environment: { name, action: 'start' }, startedAt, finishedAt: startedAt + MINUTE })
  const [staging, production] = [to('staging', NOON), to('production', NOON + 90 * MINUTE)]
  const known = facts({ jobs: [staging, production], statusAt: NOON + 92 * MINUTE })
  const of = (namespace: string) => (intervalOf(known, { namespace, name: 'cart' }).startsAt - NOON) / MINUTE
  assert.deepEqual([of('shop-staging'), of('shop-prod'), of('shop'), of('shop-dev')], [0, 90, 90, 0])
})
