/** The likely cause: the sentence about the top suspect. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type JudgedSuspect,
  likelihoodOf,
  likelyCauseOf,
  orderSuspects,
  standingOf,
} from '../../src/domain/suspect/likely-cause.ts'

const FIRST = 180_000
const deploy = (more: Partial<JudgedSuspect> = {}): JudgedSuspect => ({
  ...{ kind: 'pipeline', ref: 'shop/checkout#4711', score: 0.92, verdict: null, startsAt: 0, outcome: 'deployed' },
  ...{ builtTheImage: false, onlyTime: false, isOwn: false, ...more },
})
const object = (score: number): JudgedSuspect =>
  deploy({ kind: 'object', ref: 'logistics/route-planner', score, startsAt: null, outcome: null })

for (const [suspects, heading, sentence] of [
  [[deploy()], 'Likely cause', 'Deploy shop/checkout#4711 started 3 min before the first alert.'],
  [
    [deploy({ builtTheImage: true })],
    'Likely cause',
    'Deploy shop/checkout#4711 started 3 min before the first alert, and an image of the service was built from its commit.',
  ],
  [
    [object(0.49), deploy({ score: 0.3 })],
    'Possible cause',
    'Deploy shop/checkout#4711 started 3 min before the first alert.',
  ],
  [
    [object(0.5), deploy({ score: 0.49 })],
    'Likely cause elsewhere',
    'Top suspect: the workload logistics/route-planner.',
  ],
  [
    [object(0.9), deploy({ score: 0.5 })],
    'Likely cause',
    'Deploy shop/checkout#4711 started 3 min before the first alert.',
  ],
  [
    [deploy({ kind: 'rollout', ref: 'shop/checkout@6f8d', outcome: null, startsAt: FIRST })],
    'Likely cause',
    'Rollout shop/checkout@6f8d started together with the first alert.',
  ],
  [
    [deploy({ startsAt: FIRST + 60_000, outcome: 'under way', score: 0.2 })],
    'Possible cause',
    'Pipeline shop/checkout#4711 started 1 min after the first alert.',
  ],
  [
    [object(0.9), deploy({ score: 0.1 })],
    'Likely cause elsewhere',
    'Top suspect: the workload logistics/route-planner.',
  ],
  [[deploy({ verdict: 'rejected' })], 'No likely cause found', 'There is no suspect.'],
  [[], 'No likely cause found', 'There is no suspect.'],
  [
    [deploy({ score: 0.1, verdict: 'confirmed' })],
    'Confirmed cause',
    'Deploy shop/checkout#4711 started 3 min before the first alert.',
  ],
] as const) {
  test(`${heading}: ${sentence}`, () => {
    const cause = likelyCauseOf(suspects, FIRST)
    assert.deepEqual([cause.heading, `${cause.before}${cause.suspect?.ref ?? ''}${cause.after}`], [heading, sentence])
  })
}

test('without a known first alert the sentence names only the suspect', () => {
  assert.equal(likelyCauseOf([deploy()], null).after, '.')
})

const orderOf = (suspects: readonly JudgedSuspect[]) => orderSuspects(suspects, FIRST).map(({ ref }) => ref)

test('a confirmed suspect moves to the top and a rejected one to the end', () => {
  const suspects = [
    deploy({ ref: 'a', verdict: 'rejected' }),
    object(0.5),
    deploy({ ref: 'b', score: 0.1, verdict: 'confirmed' }),
  ]
  assert.deepEqual(orderOf(suspects), ['b', 'logistics/route-planner', 'a'])
})

test('the change that the headline names is above all that is no change in every list', () => {
  const possible = deploy({ score: 0.3 })
  const late = deploy({ ref: 'late', startsAt: FIRST + 600_000 })
  const byTime = { ...object(0.49), onlyTime: true }
  for (const others of [[object(0.49)], [byTime], [byTime, { ...object(0.9), isOwn: true }]]) {
    const suspects = [...others, possible]
    assert.deepEqual([likelyCauseOf(suspects, FIRST).suspect, orderOf(suspects)[0]], [possible, possible.ref])
  }
  // A change that began later is no cause.
  assert.deepEqual(orderOf([object(0.49), late, possible]), [possible.ref, 'logistics/route-planner', 'late'])
  // Where the headline names no change, the score decides.
  assert.deepEqual(orderOf([deploy({ score: 0.1 }), object(0.9)]), ['logistics/route-planner', 'shop/checkout#4711'])
})

test('the headline never names the service of the incident as the suspect', () => {
  const own = { ...object(0.9), ref: 'shop/checkout', isOwn: true }
  const sentenceOf = (suspects: readonly JudgedSuspect[]) => {
    const { before, suspect } = likelyCauseOf(suspects, FIRST)
    return `${before}${suspect?.ref ?? ''}`
  }
  const itself = (what: string) => `No change or other service stands out: the evidence points to the ${what} itself.`
  assert.equal(sentenceOf([own]), itself('service'))
  assert.equal(likelyCauseOf([own], FIRST).heading, 'No likely cause found outside the service')
  assert.equal(sentenceOf([{ ...own, score: 0.49 }]), 'No suspect stands out.')
  assert.equal(sentenceOf([own, object(0.5)]), 'Top suspect: the workload logistics/route-planner')
  assert.equal(sentenceOf([{ ...own, kind: 'node', ref: 'worker-1' }]), itself('node'))
  // A workload on a failed node is unlikely, and what the list calls unlikely is no top suspect.
  assert.equal(sentenceOf([own, object(0.19)]), itself('service'))
  // A change of the service is an answer.
  assert.equal(sentenceOf([own, deploy({ score: 0.3 })]), 'Deploy shop/checkout#4711')
})

test('what began later than the incident is no cause, such a change is last, and a confirmed change and the clocks are exceptions', () => {
  const at = (ms: number, more = {}) => deploy({ ref: `shop/cart#${ms}`, startsAt: FIRST + ms, ...more })
  const later = [at(121_000), { ...object(0.9), since: FIRST + 121_000 }]
  for (const one of later) {
    assert.equal(standingOf(one, FIRST), 'began later')
    assert.equal(likelyCauseOf([one], FIRST).code, 'none')
  }
  // The service in which the fault is may show its own symptom late.
  const [change, service] = later
  assert.deepEqual(orderOf([change!, service!, object(0.1)]).at(-1), change!.ref)
  assert.deepEqual(orderOf([deploy({ score: 0.1 }), service!]), [service!.ref, 'shop/checkout#4711'])
  assert.deepEqual([standingOf(at(120_000), FIRST), likelyCauseOf([at(120_000)], FIRST).code], ['possible', 'possible'])
  assert.deepEqual([standingOf(at(0), FIRST), likelyCauseOf([at(0)], FIRST).code], ['likely', 'likely'])
  const confirmed = at(121_000, { verdict: 'confirmed' })
  assert.deepEqual([standingOf(confirmed, FIRST), likelyCauseOf([confirmed], FIRST).code], ['confirmed', 'confirmed'])
  assert.deepEqual(orderOf([at(200_000, { verdict: 'rejected' }), ...later, object(0.3)]).at(-1), 'shop/cart#200000')
})

test('the heading has the word of the suspect in the list', () => {
  for (const score of [0.2, 0.49, 0.5, 0.79, 1]) {
    const { code } = likelyCauseOf([deploy({ score })], FIRST)
    assert.equal(code, standingOf(deploy({ score }), FIRST))
  }
})

test('the wording for a score changes at 0.5 and 0.2', () => {
  assert.deepEqual(
    [1, 0.5, 0.49, 0.2, 0.19, 0].map((score) => likelihoodOf(deploy({ score }))),
    [...['likely', 'likely', 'possible', 'possible', 'unlikely', 'unlikely']],
  )
})

for (const [outcome, noun] of [
  ['deploy failed', 'Failed deploy '],
  ['failed before a deploy', 'Failed pipeline '],
  ['CI system failure', 'Pipeline '],
] as const) {
  test(`a change with the outcome "${outcome}" is called a ${noun.toLowerCase().trim()}`, () => {
    assert.equal(likelyCauseOf([deploy({ outcome })], FIRST).before, noun)
  })
}

test('a suspect connected with the incident only by timing is at most possible, and not called a cause', () => {
  const other = deploy({ onlyTime: true })
  assert.deepEqual([likelihoodOf(other), likelihoodOf({ ...other, score: 0.1 })], ['possible', 'unlikely'])
  const { heading, suspect, before } = likelyCauseOf([other], FIRST)
  assert.deepEqual([heading, suspect, before], ['No likely cause found', null, 'No suspect stands out.'])
  assert.equal(likelyCauseOf([{ ...other, verdict: 'confirmed' }], FIRST).heading, 'Confirmed cause')
})
