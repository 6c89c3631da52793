/** Correlation: identity × time × kind, and nothing by timing alone. */
import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Change } from '../../src/domain/correlation/change.ts'
import {
  correlate,
  deploysTo,
  lagText,
  type Nearby,
  rankLinks,
  TIME_CODES,
} from '../../src/domain/correlation/correlation.ts'
import { facts, job, MINUTE, NOON, pipeline, rollout } from '../helpers/changes.ts'

const CART = { namespace: 'shop', name: 'cart' }
const nearby = (more: Partial<Nearby> = {}): Nearby => ({ service: CART, images: [], rollouts: [], ...more })
const at = (...minutes: number[]) => minutes.map((minute, index) => repeats(minute, minute, 1, `e${index}`))
/** Returns an event that counts repeats between two minutes. */
const repeats = (from: number, to: number, count: number, eventId = 'e0') => {
  return { eventId, firstSeenAt: NOON + from * MINUTE, at: NOON + to * MINUTE, count }
}
const codes = (change: Change, minute: number, near = nearby()) =>
  correlate(change, at(minute), near)?.reasons.map(({ code }) => code)
const score = (change: Change, minute: number, near = nearby()) => correlate(change, at(minute), near)?.score ?? 0

const failed = (name: string, more = {}) =>
  job({ name, stage: name, status: 'failed', failureReason: 'script_failure', ...more })
const deployFailed = pipeline({ status: 'failed', jobs: [failed('deploy')] })

test('A failed deploy of a project with the same namespace and name is a strong link', () => {
  const link = correlate(deployFailed, at(3), nearby())
  assert.deepEqual([link?.score, link?.band, link?.lagSeconds], [0.9, 'strong', 180])
  assert.deepEqual(codes(deployFailed, 3), ['same_namespace', 'during_run', 'deploy_job_failed'])
})

const KINDS: [string, Parameters<typeof pipeline>[0], number][] = [
  ['a successful deploy is a suspect', {}, 0.72],
  ['a failed pipeline whose jobs are unknown', { status: 'failed', jobs: [] }, 0.63],
  ['a successful pipeline whose jobs are unknown', { jobs: [] }, 0.504],
  [
    'failed tests before any deploy are no link',
    { status: 'failed', jobs: [failed('test'), job({ status: 'skipped', startedAt: null })] },
    0,
  ],
  ['success without a deploy is below every band', { jobs: [job({ name: 'lint', stage: 'test' })] }, 0],
  [
    'CI system failure itself is below every band',
    { status: 'failed', jobs: [failed('deploy', { failureReason: 'runner_system_failure' })] },
    0,
  ],
  [
    'a deploy that waits for a click has touched nothing',
    { jobs: [job({ status: 'manual', startedAt: null, finishedAt: null })] },
    0,
  ],
]
for (const [name, more, expected] of KINDS) {
  test(`By kind: ${name}`, () => assert.equal(score(pipeline(more), 3), expected))
}

const TIMES: [string, number, number][] = [
  ['three minutes before it began is another matter', -3, 0],
  ['a minute before it began counts little', -1, 0.27],
  ['as it began', 0, 0.9],
  ['as it ended', 5, 0.9],
  ['a quarter of an hour after its end', 20, 0.331],
  ['half an hour after its end is below every band', 35, 0],
  ['later than half an hour after its end', 36, 0],
]
for (const [name, minute, expected] of TIMES) {
  test(`By time: ${name}`, () => assert.equal(score(deployFailed, minute), expected))
}

for (const [minute, text] of [
  [-1, 'began 1 min before the change started'],
  [0, 'began as the change started'],
  [4, 'began 4 min after the change started'],
  [6.75, 'began 6 min 45 s after the change started'],
] as const) {
  test(`a link says when the condition began, and a postmortem and a suspect say the same: ${text}`, () => {
    const link = correlate(deployFailed, at(minute), nearby())
    assert.ok(link?.reasons.some((reason) => reason.text === text && TIME_CODES.has(reason.code)))
    assert.equal(text, `began ${lagText(link?.lagSeconds ?? 0)}`)
  })
}

test('of two links of a change, pages and postmortems show the same: the confirmed, the stronger, the nearer', () => {
  const link = (ref: string, score: number, lagSeconds: number, verdict: 'confirmed' | null = null) => {
    return { score, lagSeconds, verdict, change: { ref } }
  }
  const links = [
    link('far', 0.8, 90),
    link('near', 0.8, -30),
    link('weak', 0.3, 0),
    link('sure', 0.2, 600, 'confirmed'),
  ]
  assert.deepEqual(
    rankLinks(links).map(({ change }) => change.ref),
    ['sure', 'near', 'far', 'weak'],
  )
})

const IDENTITIES: [string, Nearby, Parameters<typeof pipeline>[0], number, string][] = [
  [
    'an image of this very commit',
    nearby({ images: [{ path: 'shop/cart', tag: 'main-9b1c3d5e' }] }),
    {},
    1,
    'image_tag_is_sha',
  ],
  ['an image of the project', nearby({ images: [{ path: 'shop/cart/web', tag: '1.2.3' }] }), {}, 0.95, 'image_path'],
  ['a person’s alias', nearby({ service: { namespace: 'x', name: 'y' } }), { rule: 'alias' }, 1, 'alias'],
  [
    'the same name in another namespace',
    nearby({ service: { namespace: 'live', name: 'cart' } }),
    {},
    0.8,
    'same_name',
  ],
]
for (const [name, near, more, expected, code] of IDENTITIES) {
  test(`By identity: ${name}`, () => {
    const change = pipeline({ status: 'failed', jobs: [failed('deploy')], ...more })
    assert.equal(score(change, 3, near), expected)
    assert.equal(codes(change, 3, near)?.[0], code)
  })
}

test('A project unrelated to the service is never linked', () => {
  assert.equal(correlate(deployFailed, at(3), nearby({ service: { namespace: 'bank', name: 'ledger' } })), null)
})

test('A tag of six digits or of another commit does not match the commit', () => {
  for (const tag of ['9b1c3d', '0b1c3d5e', 'latest', '']) {
    assert.equal(codes(deployFailed, 3, nearby({ images: [{ path: 'shop/cart', tag }] }))?.[0], 'image_path')
  }
})

test('A new ReplicaSet between pipeline and symptom increases the score; an earlier or later one does not', () => {
  assert.equal(score(pipeline(), 3, nearby({ rollouts: [rollout(NOON + MINUTE)] })), 0.828)
  assert.equal(score(pipeline(), 3, nearby({ rollouts: [rollout(NOON - 30 * MINUTE)] })), 0.72)
  assert.equal(score(pipeline(), 3, nearby({ rollouts: [rollout(NOON + 4 * MINUTE)] })), 0.72)
})

test('A rollout is a separate change', () => {
  const link = correlate(rollout(NOON), at(4), nearby())
  assert.deepEqual([link?.score, link?.band], [0.92, 'strong'])
})

test('A link has the score of its strongest symptom and counts each symptom once', () => {
  const seen = at(-60, 20, 2, 3, 90)
  const link = correlate(deployFailed, [...seen, ...seen], nearby())
  assert.deepEqual(link?.evidence, { eventId: 'e2', count: 3 })
})

test('A crash loop of three hours is not attributed to a pipeline five minutes ago', () => {
  assert.equal(correlate(deployFailed, [repeats(-180, 3, 40)], nearby()), null)
  assert.equal(correlate(deployFailed, [repeats(-180, 3, 1)], nearby()), null)
  assert.equal(correlate(deployFailed, [repeats(-15, -4, 5), repeats(-15, 3, 9)], nearby()), null)
})

test('An event that repeats for hours is linked by its first occurrence, with that lag', () => {
  const link = correlate(deployFailed, [repeats(2, 240, 60)], nearby())
  assert.deepEqual([link?.score, link?.lagSeconds, link?.evidence.count], [0.9, 120, 1])
})

test('A condition that recurs after ten quiet minutes counts as new', () => {
  assert.equal(score(deployFailed, 3), 0.9)
  assert.equal(correlate(deployFailed, at(-7, 3), nearby())?.score, 0.9)
  assert.equal(correlate(deployFailed, at(-6, 3), nearby()), null)
})

test('Repeats that are days apart do not change the time of the last one', () => {
  assert.equal(correlate(deployFailed, [repeats(-4320, 3, 4)], nearby())?.lagSeconds, 180)
})

test('A condition that did not occur near the change is not linked', () => {
  assert.equal(correlate(deployFailed, [], nearby()), null)
  assert.equal(correlate(deployFailed, at(-600, 600), nearby()), null)
})

test('Score and link do not depend on the order of the symptoms', () => {
  const minutes = fc.array(fc.integer({ min: -10, max: 60 }), { maxLength: 8 })
  fc.assert(
    fc.property(minutes, fc.integer(), (seen, seed) => {
      const sightings = at(...seen)
      const other = [...sightings].sort((a, b) => ((a.at * 31 + seed) % 7) - ((b.at * 31 + seed) % 7))
      assert.deepEqual(correlate(deployFailed, sightings, nearby()), correlate(deployFailed, other, nearby()))
    }),
    { numRuns: 1000 },
  )
})

test('Every score is between the lowest threshold and 1', () => {
  const change = fc.constantFrom<Change>(deployFailed, pipeline(), pipeline({ jobs: [] }), rollout(NOON))
  fc.assert(
    fc.property(change, fc.integer({ min: -5, max: 60 }), fc.boolean(), (one, minute, fresh) => {
      const link = correlate(one, at(minute), nearby({ rollouts: fresh ? [rollout(NOON)] : [] }))
      assert.ok(link === null || (link.score >= 0.2 && link.score <= 1))
    }),
    { numRuns: 1000 },
  )
})

test('A pipeline changes the services of the environments to which it deployed', () => {
  const to = (name: string, status = 'success') =>
    job({
      name: `to ${name}`,
      status,
      startedAt: status === 'manual' ? null : NOON,
      environment: { name, action: 'start' },
    })
  const pipeline = facts({ project: 'acme/mono', jobs: [to('cart/production'), to('search/production', 'manual')] })
  const changed = (namespace: string, name: string) => deploysTo(pipeline, { namespace, name })
  assert.ok(changed('shop', 'cart'))
  assert.ok(!changed('shop', 'payment'))
  assert.ok(!changed('shop-staging', 'cart'))
  const both = facts({ jobs: [to('staging'), to('production')] })
  const namespaces = ['prod', 'shop-prod', 'shop-live', 'shop-staging', 'staging', 'bank', 'bank-prod', 'shop-dev']
  const reached = namespaces.filter((namespace) => deploysTo(both, { namespace, name: 'cart' }))
  assert.deepEqual(reached, ['prod', 'shop-prod', 'shop-live', 'shop-staging', 'staging'])
})

test('A project that deploys for others changed the service of the project that started its pipeline', () => {
  const ofCart = { project: 'acme/deployer', upstream: 'shop/cart' }
  const deployer = facts(ofCart)
  for (const project of ['acme/deployer', 'acme/helm-charts', 'gitops/production', 'acme/k8s', 'shop/cart-deploy'])
    assert.ok(deploysTo(facts({ ...ofCart, project }), CART), project)
  assert.deepEqual(codes(pipeline(ofCart), 3), ['upstream', 'during_run', 'deployed'])
  const others: [string, typeof deployer, { namespace: string; name: string }][] = [
    ['another service', deployer, { namespace: 'shop', name: 'search' }],
    ['an equal name in another namespace', deployer, { namespace: 'bank', name: 'cart' }],
    ['another environment', facts({ ...ofCart, jobs: [job({ environment: staging })] }), CART],
    ['no deploy', facts({ ...ofCart, jobs: [job({ name: 'lint', stage: 'test' })] }), CART],
    ['a deploy that waits for a click', facts({ ...ofCart, jobs: [job({ status: 'manual', startedAt: null })] }), CART],
    ['a project that does not say that it deploys', facts({ ...ofCart, project: 'acme/redeployable' }), CART],
    ['a pipeline that nothing started', facts({ project: 'acme/deployer' }), CART],
  ]
  for (const [what, of, service] of others) assert.ok(!deploysTo(of, service), what)
})
const staging = { name: 'staging', action: 'start', tier: 'staging' }
