/** Intake: every known payload with its expected result, and random JSON. */

import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { IncmonError } from '../../src/domain/error.ts'
import { type Draft, type Intake, type Labels, SOURCES } from '../../src/domain/event/event.ts'
import { READERS } from '../../src/intake/index.ts'
import { parseBody } from '../../src/intake/json.ts'
import { payload, verdicts } from '../helpers/payloads.ts'

const RECEIVED = Date.UTC(2026, 4, 4, 10)

for (const { name, endpoint, body, status, events, why } of verdicts()) {
  // Without a valid token, the body is not read.
  if (status === 401) continue
  test(`${name}: ${why}`, () => {
    const intake = orRefused(() => READERS[endpoint](parseBody(Buffer.from(body)), RECEIVED))
    const refused = intake === null || (intake.accepted.length === 0 && intake.rejected.length > 0)
    assert.equal(refused, status === 400)
    assert.equal(intake?.accepted.length ?? 0, events)
  })
}

test('Every request without a token gets 401', () => {
  const without = verdicts().filter(({ headers }) => !JSON.stringify(headers).includes('<API_TOKEN>'))
  assert.ok(without.length >= 5 && without.every(({ status }) => status === 401))
})

/** Random bodies that resemble real ones: any value can be in any known field. */
const values = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('0001-01-01T00:00:00Z', '2099-01-01T00:00:00Z', '27', '<no value>', '\ud800\0', 'resolved', 'failed'),
  // Throws when converted to a string or a number.
  fc.constant({ toString: 1, valueOf: 1 }),
  fc.constantFrom(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 2 ** 64, -3, Number.NaN, 1_773_454_269_000),
)
const like = (...keys: string[]) => {
  const members: Record<string, fc.Arbitrary<unknown>> = {}
  for (const key of [...keys, '__proto__']) Object.defineProperty(members, key, { value: values, enumerable: true })
  return fc.record(members, { requiredKeys: [] })
}
const object = fc.oneof(
  values,
  like('name', 'kind', 'namespace', 'labels', 'ownerReferences', 'fieldPath', 'status', 'id'),
)
const item = fc.oneof(
  values,
  fc.record({ labels: like('alertname', 'a'), status: values, startsAt: values, endsAt: values }),
)
const bodies = fc.oneof(
  values,
  like('podName', 'reason', 'message', 'count', 'firstTime', 'lastTime', 'labels', 'involvedObjectKind', 'namespace'),
  fc.record({ reason: values, involvedObject: object, series: object, source: object, message: fc.constant('m') }),
  fc.record({ alerts: fc.array(item), groupKey: values, groupLabels: object, receiver: values, status: values }),
  fc.record({
    object_kind: fc.constantFrom('pipeline', 'build', 'push'),
    object_attributes: fc.record({
      status: fc.string(),
      created_at: values,
      finished_at: values,
      duration: values,
      id: values,
    }),
    project: fc.record({ path_with_namespace: fc.string(), name: values }),
    builds: fc.oneof(values, fc.array(like('status', 'started_at', 'finished_at', 'environment', 'failure_reason'))),
    build_status: values,
    commit: object,
    repository: object,
  }),
)

for (const source of SOURCES) {
  test(`Any body for ${source} gives valid drafts or a refusal`, () => {
    fc.assert(
      fc.property(bodies, (body) => {
        const intake = orRefused(() => READERS[source](body, RECEIVED))
        for (const { draft } of intake?.accepted ?? []) assertSound(draft)
        for (const { error } of intake?.rejected ?? []) assert.match(error, /^[^\n]{1,300}$/)
      }),
      { numRuns: 1500 },
    )
  })
}

test('A body without a list of alerts is refused', () => {
  for (const body of [{}, { alerts: {} }, [], null, 'x'])
    assert.equal(
      orRefused(() => READERS.metrics(body, RECEIVED)),
      null,
    )
})

test('Any change of one value in a real notification gives valid drafts or a rejection', () => {
  const files = ['cluster-whole-event.json', 'metrics-mixed.json', 'dashboard-firing.json', 'ci-pipeline-failed.json']
  const changes = fc.record({ file: fc.constantFrom(...files), at: fc.nat(), value: values })
  fc.assert(
    fc.property(changes, ({ file, at, value }) => {
      let place = 0
      const text = payload(file)
      const total = [...text.matchAll(/: /g)].length
      const body = JSON.parse(text, (_, old) => (place++ === at % total ? value : old))
      const source = SOURCES.find((name) => file.startsWith(name)) ?? 'ci'
      for (const { draft } of orRefused(() => READERS[source](body, RECEIVED))?.accepted ?? []) assertSound(draft)
    }),
    { numRuns: 1500 },
  )
})

test('No input changes Object.prototype', () => {
  const body = '{"__proto__":{"polluted":1},"podName":"p","reason":"r","labels":{"__proto__":{"polluted":1}}}'
  READERS.cluster(parseBody(Buffer.from(body)), RECEIVED)
  assert.equal('polluted' in {}, false)
})

function orRefused(read: () => Intake): Intake | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof IncmonError && error.code === 'invalid') return null
    throw error
  }
}

function assertSound(draft: Draft): void {
  assertTime(draft.at, RECEIVED)
  assert.equal(JSON.stringify(JSON.parse(draft.payload)), draft.payload)
  if (draft.source === 'cluster') {
    assertTime(draft.startsAt, draft.at)
    assert.ok(Number.isSafeInteger(draft.count) && draft.count >= 1)
    assert.ok(draft.object.name !== '' && draft.object.kind !== '')
    assertLabels(draft.object.labels)
  } else if (draft.source !== 'ci') {
    assertTime(draft.startsAt, draft.endsAt ?? draft.at)
    assert.equal(draft.endsAt === null, draft.status === 'firing')
    assert.ok(draft.name !== '' && draft.fingerprint !== '')
    assertLabels(draft.labels)
    assertLabels(draft.annotations)
  } else if (draft.kind === 'pipeline') {
    assertSpan(draft.createdAt, draft.finishedAt)
    for (const job of draft.jobs) assertSpan(job.startedAt, job.finishedAt)
    assert.ok(draft.duration === null || (Number.isFinite(draft.duration) && draft.duration >= 0))
    assert.ok(draft.project.path !== '' && draft.status !== '')
  }
}

function assertSpan(start: number | null, end: number | null): void {
  if (end !== null) assertTime(end, RECEIVED)
  if (start !== null) assertTime(start, end ?? RECEIVED)
}

function assertTime(time: number, latest: number): void {
  assert.ok(Number.isSafeInteger(time) && time >= 0 && time <= latest, `${time} is no time up to ${latest}`)
}

function assertLabels(labels: Labels): void {
  for (const [name, value] of Object.entries(labels)) {
    assert.ok(typeof value === 'string' && `${name}${value}`.isWellFormed() && !`${name}${value}`.includes('\0'))
  }
}
