/** CI: GitLab's webhooks. */

import assert from 'node:assert/strict'
import test from 'node:test'
import type { Draft, JobDraft, OtherDraft, PipelineDraft } from '../../src/domain/event/event.ts'
import { readCi } from '../../src/intake/ci.ts'
import { payload } from '../helpers/payloads.ts'

const RECEIVED = Date.UTC(2026, 4, 4, 10)
const LEAST = {
  object_kind: 'pipeline',
  object_attributes: { status: 'failed' },
  project: { path_with_namespace: 'a/b' },
}

function read<Kind extends 'pipeline' | 'job' | 'other'>(body: unknown, kind: Kind) {
  const draft: Draft | undefined = readCi(body, RECEIVED).accepted[0]?.draft
  assert.ok(draft?.source === 'ci' && draft.kind === kind)
  return draft as { pipeline: PipelineDraft; job: JobDraft; other: OtherDraft }[Kind]
}

const pipeline = (file: string) => read(JSON.parse(payload(file)), 'pipeline')
const job = (file: string) => read(JSON.parse(payload(file)), 'job')
const attributes = (values: object) =>
  read({ ...LEAST, object_attributes: { status: 'failed', ...values } }, 'pipeline')

test('A failed pipeline has a status, and its time is when it finished', () => {
  const { status, at, createdAt, finishedAt, duration } = pipeline('ci-pipeline-failed.json')
  assert.deepEqual([status, duration, createdAt], ['failed', 570, Date.UTC(2026, 4, 4, 9, 20)])
  assert.deepEqual([at, finishedAt], [Date.UTC(2026, 4, 4, 9, 29, 30), Date.UTC(2026, 4, 4, 9, 29, 30)])
})

test('Its jobs have environments, and failed jobs have a reason', () => {
  const [unit, rollout] = pipeline('ci-pipeline-failed.json').jobs
  assert.deepEqual([unit?.name, unit?.failureReason, unit?.environment], ['unit', null, null])
  assert.deepEqual(rollout?.environment, { name: 'production', action: 'start', tier: 'production' })
  assert.equal(rollout?.failureReason, 'script_failure')
})

test('The path identifies a project; the name is shown', () => {
  const { project, tag, ref } = pipeline('ci-pipeline-tag.json')
  assert.deepEqual(project, { path: 'shop/web.team/checkout', name: 'Kasse – レジ', defaultBranch: null })
  assert.deepEqual([tag, ref], [true, 'v1.8.0'])
})

test('Numbers can be strings', () => {
  const { pipelineId, duration, tag } = pipeline('ci-pipeline-strings.json')
  assert.deepEqual([pipelineId, duration, tag], ['5120', 570, false])
})

test('Strings can be numbers', () => {
  const { ref, sha, pipelineId } = attributes({ ref: 2026, sha: 1234567, id: 7 })
  assert.deepEqual([ref, sha, pipelineId], ['2026', '1234567', '7'])
})

test('The smallest valid pipeline has only a status and a path', () => {
  const { payload, ...draft } = read(LEAST, 'pipeline')
  const unknown = {
    pipelineId: null,
    ref: '',
    tag: false,
    sha: null,
    createdAt: null,
    finishedAt: null,
    duration: null,
  }
  const project = { path: 'a/b', name: 'b', defaultBranch: null }
  const rest = {
    source: 'ci',
    kind: 'pipeline',
    status: 'failed',
    mergeRequest: false,
    trigger: null,
    commit: null,
    jobs: [],
    links: {},
  }
  assert.deepEqual(draft, { ...unknown, ...rest, project, at: RECEIVED })
})

test('The status is stored unchanged', () => {
  assert.equal(attributes({ status: 'waiting_for_callback' }).status, 'waiting_for_callback')
})

test('The time of a running pipeline is the latest time of its jobs', () => {
  const builds = [
    { started_at: '2026-05-04 09:22:00 UTC', finished_at: '2026-05-04 09:25:00 UTC' },
    { status: 'created' },
  ]
  const object_attributes = {
    status: 'running',
    created_at: '2026-05-04 09:20:00 UTC',
    finished_at: '2026-05-04 09:59:00 UTC',
  }
  assert.equal(read({ ...LEAST, object_attributes, builds }, 'pipeline').at, Date.UTC(2026, 4, 4, 9, 25))
})

test('Future times become the time of receipt; an end before the start becomes the start', () => {
  assert.equal(attributes({ finished_at: '2099-01-01T00:00:00Z' }).at, RECEIVED)
  const { at, createdAt, finishedAt } = attributes({
    created_at: '2026-05-04T09:00:00Z',
    finished_at: '2026-05-03T09:00:00Z',
  })
  assert.deepEqual([finishedAt, at], [createdAt, createdAt])
})

test('A duration that is negative, infinite or not a number is unknown', () => {
  for (const duration of ['long', -1, Number.POSITIVE_INFINITY, {}, ''])
    assert.equal(attributes({ duration }).duration, null)
})

test('A merge request is recognized by its object or by the source', () => {
  assert.equal(pipeline('ci-pipeline-success.json').mergeRequest, true)
  assert.equal(attributes({ source: 'merge_request_event' }).mergeRequest, true)
  assert.equal(pipeline('ci-pipeline-failed.json').mergeRequest, false)
})

test('The values of variables are not stored', () => {
  assert.doesNotMatch(JSON.stringify(pipeline('ci-pipeline-failed.json')), /hunter2/)
})

test('The project of a job without one comes from the repository URL', () => {
  const draft = job('ci-job-success.json')
  assert.deepEqual(draft.project, { path: 'shop/checkout', name: 'checkout', defaultBranch: null })
  assert.equal(draft.links.job, 'https://git.example.org/shop/checkout/-/jobs/72')
})

test('A job belongs to the pipeline in its hook or commit', () => {
  assert.equal(job('ci-job-success.json').pipelineId, '5120')
  const { pipeline_id: _, ...hook } = JSON.parse(payload('ci-job-success.json'))
  assert.equal(read(hook, 'job').pipelineId, '5120')
})

test('The failure reason of a job that did not fail is ignored', () => {
  assert.equal(job('ci-job-success.json').job.failureReason, null)
  assert.equal(job('ci-job-created.json').job.failureReason, null)
  assert.equal(job('ci-job-failed.json').job.failureReason, 'script_failure')
})

test('A job can be allowed to fail', () => {
  assert.equal(job('ci-job-allowed-to-fail.json').job.allowFailure, true)
})

test('The time of a pending job is its creation', () => {
  assert.equal(job('ci-job-created.json').at, Date.UTC(2026, 4, 4, 9, 20, 0, 886))
})

test('Other kinds are stored, with their project if they have one', () => {
  const push = read(JSON.parse(payload('ci-push.json')), 'other')
  assert.deepEqual([push.objectKind, push.project?.path, push.at], ['push', 'shop/checkout', RECEIVED])
  assert.equal(read({ object_kind: 'access_token' }, 'other').project, null)
})

test('A pipeline with an unknown status counts as running, and its sender is warned', () => {
  const warningsOf = (status: string) =>
    readCi({ ...LEAST, object_attributes: { status } }, RECEIVED).accepted[0]?.warnings ?? []
  assert.deepEqual(warningsOf('exploded'), [
    'object_attributes.status: "exploded" is not a status that incmon knows, so the pipeline counts as running',
  ])
  for (const status of ['running', 'canceling', 'waiting_for_callback', 'skipped'])
    assert.deepEqual(warningsOf(status), [])
})

test('The sender of an event that has no effect is warned, and the sender of a pipeline is not', () => {
  const warningsOf = (body: unknown) => readCi(body, RECEIVED).accepted[0]?.warnings ?? []
  assert.deepEqual(warningsOf(JSON.parse(payload('ci-push.json'))), [
    'object_kind: "push" events have no effect; select Pipeline events and Job events in GitLab',
  ])
  assert.match(warningsOf({ object_kind: 'build' })[0] ?? '', /^build_status: the job has no status or no project/)
  assert.deepEqual(warningsOf(JSON.parse(payload('ci-pipeline-failed.json'))), [])
})

test('A job without status or project is stored as another kind', () => {
  assert.equal(read({ object_kind: 'build', build_status: 'failed' }, 'other').objectKind, 'build')
})

for (const [title, hook] of [
  ['the page of the project', { project: { web_url: 'https://gitlab.example/shop/cart' } }],
  ['the address of the project', { project: { git_http_url: 'https://gitlab.example/shop/cart.git' } }],
  ['the page of the repository', { project: {}, repository: { homepage: 'http://gitlab:8080/shop/cart/' } }],
  ['the path before any address', { project: { path_with_namespace: 'shop/cart', web_url: 'https://x/y/z' } }],
] as const)
  test(`The path of a project comes from ${title}`, () => {
    assert.equal(read({ ...LEAST, ...hook }, 'pipeline').project?.path, 'shop/cart')
  })

const REFUSALS: [unknown, RegExp][] = [
  [{}, /^object_kind: expected string, such as pipeline/],
  [{ object_kind: 7 }, /^object_kind: expected string$/],
  [{ object_kind: 'pipeline' }, /^object_attributes: expected object$/],
  [{ ...LEAST, project: 'a/b' }, /^project: expected object$/],
  [{ ...LEAST, object_attributes: { status: 3 } }, /^object_attributes.status: expected string$/],
  [{ ...LEAST, object_attributes: {} }, /^object_attributes.status: expected string$/],
  [{ ...LEAST, project: { path_with_namespace: null } }, /^project.path_with_namespace: expected group\/project$/],
  [{ ...LEAST, project: { name: 'Shop', web_url: 'https://gitlab/' } }, /^project.path_with_namespace: expected group/],
  [{ ...LEAST, project: { name: 'Shop', web_url: 'shop/cart' } }, /^project.path_with_namespace: expected group/],
  [{ ...LEAST, project: { path_with_namespace: '//' } }, /^project.path_with_namespace: expected group\/project$/],
  [[LEAST], /^item: expected object$/],
  [null, /^item: expected object$/],
]

for (const [body, error] of REFUSALS) {
  test(`${JSON.stringify(body).slice(0, 70)} is stored as a rejection`, () => {
    const { accepted, rejected } = readCi(body, RECEIVED)
    assert.deepEqual(accepted, [])
    assert.match(rejected[0]?.error ?? '', error)
  })
}

test('The commit has its title, which is the first line of its message, and its author', () => {
  const commit = (value: unknown) => read({ ...LEAST, commit: value }, 'pipeline').commit
  const author = { name: 'Ada', email: 'a@b.c' }
  assert.deepEqual(commit({ title: 'Fix it', author }), { title: 'Fix it', author: 'Ada' })
  assert.deepEqual(commit({ message: 'Fix it\n\nlong story' }), { title: 'Fix it', author: null })
  for (const none of [null, {}, 'x', { title: null }, { message: '\n' }]) assert.equal(commit(none), null)
})

for (const [duration, read] of [
  [42.5, 42.5],
  [-1, null],
  [1e300, null],
  ['1e999', null],
] as const) {
  test(`A pipeline with a duration of ${duration} has the duration ${read}`, () => {
    assert.equal(attributes({ duration }).duration, read)
  })
}

for (const id of ['x', '31a', '-4', '3.5', true]) {
  test(`${id} is no number of a pipeline`, () => {
    const { pipelineId, links } = attributes({ id })
    assert.deepEqual([pipelineId, links.pipeline], [null, undefined])
    const told = readCi({ ...LEAST, object_attributes: { status: 'failed', id } }, RECEIVED)
    assert.match(JSON.stringify(told), /object_attributes\.id: expected the number of the pipeline, not/)
    const hook = { object_kind: 'build', build_status: 'failed', pipeline_id: id, project: LEAST.project }
    assert.equal(read(hook, 'job').pipelineId, null)
  })
}

test('A pipeline names the other project whose pipeline started it; a child pipeline names none', () => {
  const by = (path: string) => ({ source_pipeline: { project: { path_with_namespace: path }, pipeline_id: 30 } })
  assert.equal(read({ ...LEAST, ...by('/shop/cart/') }, 'pipeline').upstream, 'shop/cart')
  const hook = { ...JSON.parse(payload('ci-job-failed.json')), ...by('shop/cart') }
  assert.equal(read(hook, 'job').upstream, 'shop/cart')
  for (const body of [LEAST, { ...LEAST, ...by('a/b') }, { ...LEAST, ...by('') }, { ...LEAST, source_pipeline: 7 }])
    assert.equal(read(body, 'pipeline').upstream, undefined)
})
