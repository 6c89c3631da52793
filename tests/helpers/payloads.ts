/** Requests from senders with the expected responses: fixtures and generated ones. */

import { readFileSync } from 'node:fs'
import type { Source } from '../../src/domain/event/event.ts'

/**
 * A request and the expected response. `<API_TOKEN>` in a header represents a valid token. A 401 is sent before the
 * body is read. `events` is the number of accepted items.
 */
export type Verdict = {
  readonly name: string
  readonly endpoint: Source
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  readonly status: 200 | 400 | 401
  readonly events: number
  readonly why: string
}

type Fixture = Pick<Verdict, 'endpoint' | 'status' | 'events' | 'why'> & {
  readonly file: string
  readonly headers?: Verdict['headers']
}

const FOLDER = new URL('../fixtures/payloads/', import.meta.url)

/** Returns every request with its expected response. */
export function verdicts(): Verdict[] {
  const fixtures: Fixture[] = JSON.parse(readFileSync(new URL('index.json', FOLDER), 'utf8'))
  return [...fixtures.map(fromFile), ...generated()]
}

/** Returns the text of a fixture. */
export function payload(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8')
}

/** Returns an Alertmanager group with `count` firing alerts, each with its own labels and without a fingerprint. */
export function alertGroup(count: number): string {
  const alerts = Array.from({ length: count }, (_, i) => alertOf(`worker-${i}`))
  return JSON.stringify({ ...GROUP, alerts })
}

/** Returns an Alertmanager notification of about 280 kB, most of which is one annotation that occurs twice. */
export function longAnnotation(): string {
  const summary = 'worker stopped\n\tat org.example.Queue.take(Queue.java:7)\n'.repeat(2500)
  const alert = { ...alertOf('worker-long'), annotations: { summary } }
  return JSON.stringify({ ...GROUP, alerts: [alert], commonAnnotations: { summary } })
}

/** Returns a notification with `depth` nested lists in an unknown key. */
export function deepNesting(depth: number): string {
  return `{"alerts":[],"extra":${'['.repeat(depth)}${']'.repeat(depth)}}`
}

const GROUP = { receiver: 'incmon', status: 'firing', version: '4', groupKey: '{}:{alertname="WorkerNotReady"}' }

function alertOf(pod: string) {
  return {
    status: 'firing',
    labels: { alertname: 'WorkerNotReady', namespace: 'mail', pod, severity: 'warning' },
    annotations: { summary: `${pod} is not ready` },
    startsAt: '2026-05-04T09:32:10.083Z',
    endsAt: '0001-01-01T00:00:00Z',
  }
}

function fromFile(fixture: Fixture): Verdict {
  const { file, headers = defaultHeaders(fixture.endpoint), ...verdict } = fixture
  return { name: file, headers, body: payload(file), ...verdict }
}

function defaultHeaders(endpoint: Source): Record<string, string> {
  if (endpoint === 'ci') return { 'Content-Type': 'application/json', 'X-Ci-Token': '<API_TOKEN>' }
  return { 'Content-Type': 'application/json', Authorization: 'Bearer <API_TOKEN>' }
}

function generated(): Verdict[] {
  const item = JSON.stringify(alertOf('worker-0'))
  return [
    ok('first-28-alerts', 'metrics', alertGroup(28), 28, 'The first flush of a growing group.'),
    ok('200-alerts', 'metrics', alertGroup(200), 200, 'The whole group again, as it has grown.'),
    ok('200-alerts-grafana', 'dashboard', alertGroup(200), 200, 'Grafana groups as well.'),
    ok('long-annotation', 'metrics', longAnnotation(), 1, 'Alertmanager has no limit; a 413 would repeat for ever.'),
    ok('byte-order-mark', 'metrics', `\ufeff{"alerts":[${item}]}`, 1, 'A mark before the JSON.'),
    ok('duplicate-keys', 'metrics', `{"alerts":[],"alerts":[${item}]}`, 1, 'Of equal keys the last one counts.'),
    ok('number-too-large', 'metrics', `{"alerts":[${item}],"groupKey":1e400}`, 1, 'A number beyond all numbers.'),
    ok(
      'lone-surrogate',
      'cluster',
      '{"podName":"p","reason":"\\ud800","message":"a\\u0000b\\u001b[31m"}',
      1,
      'Odd text.',
    ),
    bad('deep-nesting', 'metrics', deepNesting(100_000), 'A hundred thousand lists within each other.'),
    bad('only-brackets', 'ci', '['.repeat(1_000_000), 'A million brackets.'),
    bad('empty-body', 'metrics', '', 'No body at all.'),
    bad('invalid-utf8', 'metrics', Buffer.from([0x22, 0xc3, 0x28, 0x22]), 'Bytes that are no UTF-8.'),
    bad('utf16', 'cluster', Buffer.from('{"podName":"p"}', 'utf16le'), 'Another encoding.'),
    bad('half-a-body', 'ci', '{"object_kind":"pipeline","object_attr', 'A body cut off.'),
    ...(['cluster', 'ci'] as const).map((source) => bad(`list-to-${source}`, source, '[]', 'A list is no item.')),
  ]
}

function ok(name: string, endpoint: Source, body: string, events: number, why: string): Verdict {
  return { name, endpoint, headers: defaultHeaders(endpoint), body, status: 200, events, why }
}

function bad(name: string, endpoint: Source, body: string | Buffer, why: string): Verdict {
  return { name, endpoint, headers: defaultHeaders(endpoint), body, status: 400, events: 0, why }
}
