/** The crashes of a Job that completes in the end are no outage. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { playEvents, type Told } from '../helpers/cluster-flow.ts'
import { NOON } from '../helpers/factory.ts'

const crash = (minute: number, pod: string, count = 2): Told => [
  minute,
  'BackOff',
  pod,
  { message: `Back-off restarting failed container app in pod ${pod}`, count, since: NOON },
]
const completed: Told = [0.8, 'Completed', 'migrate-42', { kind: 'Job', message: 'Job completed' }]
const saw = (name: string, how: string): Told => [
  0.8,
  'SawCompletedJob',
  'backup',
  { kind: 'CronJob', message: `Saw completed job: ${name}, ${how}` },
]

async function play(t: TestContext, told: readonly Told[]) {
  const flow = await playEvents(t, told, 5)
  return [flow.incidents().length, flow.alerts().filter(({ status }) => status === 'firing').length]
}

describe('nothing opens for', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['a Job whose pod crashed twice', [crash(0.3, 'migrate-42-x2k7p'), completed]],
    ['a Job with several pods', [crash(0.3, 'migrate-42-x2k7p', 1), crash(0.4, 'migrate-42-b7k4z', 1), completed]],
    ['a crash that is told after the Job completed', [completed, crash(1, 'migrate-42-x2k7p', 6)]],
    ['a run of a CronJob', [crash(0.3, 'backup-28912345-bcdfg'), saw('backup-28912345', 'condition: Complete')]],
    [
      'an image that was pulled late',
      [[0.2, 'Failed', 'migrate-42-x2k7p', { message: 'Error: ImagePullBackOff', count: 2, since: NOON }], completed],
    ],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.deepEqual(await play(t, told), [0, 0]))
})

describe('an incident opens for', () => {
  const stories: readonly (readonly [string, readonly Told[]])[] = [
    ['another Job', [crash(0.3, 'migrate-43-x2k7p', 6), completed]],
    ['a Job whose name goes on', [crash(0.3, 'migrate-421-x2k7p', 6), completed]],
    ['a pod of the workload', [crash(0.3, 'migrate-7d9f5b6c8-xk2lp', 6), completed]],
    ['a failed run', [crash(0.3, 'backup-28912345-bcdfg', 6), saw('backup-28912345', 'condition: Failed')]],
  ]
  for (const [title, told] of stories) test(title, async (t) => assert.deepEqual(await play(t, told), [1, 1]))
})
