/** A pipeline has one alert, in whatever ways it fails and in whatever order the failures arrive. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { build, pipeline } from '../helpers/senders.ts'

const SOON = NOON - 10 * MINUTE
const failed = (jobs: readonly (readonly [name: string, status: string])[], at: number, id = 31) =>
  pipeline('failed', 'shop/cart', { id, at, jobs: jobs.map(([name, status]) => build(name, status)) })
const TESTS = failed(
  [
    ['unit', 'failed'],
    ['deploy', 'skipped'],
  ],
  SOON,
)
const DEPLOY = failed(
  [
    ['unit', 'success'],
    ['deploy', 'failed'],
  ],
  NOON,
)
const OTHER = failed(
  [
    ['unit', 'success'],
    ['deploy', 'failed'],
  ],
  NOON,
  32,
)
const END = new Date(NOON).toISOString()

for (const [what, bodies, ends] of [
  ['that is retried', [TESTS, DEPLOY], [END, null]],
  ['whose failures arrive in the wrong order', [DEPLOY, TESTS], [null, END]],
  ['whose failures arrive twice', [TESTS, DEPLOY, TESTS, DEPLOY], [END, null]],
  ['that is followed by another one', [TESTS, OTHER], [null, null]],
  [
    'that fails twice in the same way',
    [
      TESTS,
      failed(
        [
          ['unit', 'failed'],
          ['deploy', 'skipped'],
        ],
        NOON,
      ),
    ],
    [null],
  ],
] as const) {
  test(`a pipeline ${what} has one firing alert for each condition`, async (t) => {
    const flow = makeFlow(t)
    for (const body of bodies) await flow.send('ci', body, { at: NOON + MINUTE })
    const shown = flow.alerts().map(({ ends_at: at }) => (at === null ? null : new Date(at).toISOString()))
    assert.deepEqual(shown, ends)
  })
}

test('a pipeline that is retried and fails in the same way has fired since its first failure', async (t) => {
  const flow = makeFlow(t)
  const unit = (at: number) => failed([['unit', 'failed']], at)
  for (const at of [SOON, NOON]) await flow.send('ci', unit(at), { at })
  assert.deepEqual(
    flow.alerts().map(({ status, starts_at: at }) => [status, at]),
    [['firing', SOON]],
  )
})
