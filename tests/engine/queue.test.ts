/** When the queue decides, syncs and responds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Batch, Input } from '../../src/engine/batch.ts'
import type { Delivery, Received } from '../../src/engine/changes/receive/delivery.ts'
import { createLargeQueue } from '../../src/engine/large.ts'
import { createQueue } from '../../src/engine/queue.ts'

/** Creates a queue that records what it does. Each sync waits for `release`. */
function makeQueue(decided: (count: number) => void = () => {}, isSlow = false) {
  const steps: string[] = []
  const written: (() => void)[] = []
  const syncs: { readonly done: () => void; readonly fail: (error: Error) => void }[] = []
  const batchOf = (inputs: readonly Input[]): Batch => {
    steps.push(`decide ${inputs.length}`)
    decided(steps.length)
    return {
      outcomes: inputs.map(() => ({ outcome: null })),
      isSaved: true,
      notices: [],
      resolving: new Set(inputs.keys()),
    }
  }
  const queue = createQueue({
    ...{ now: () => 0, elapsed: () => performance.now() },
    decide: async (inputs) => batchOf(inputs),
    committed: () => {},
    writePostmortems: () => new Promise((done) => void (isSlow ? written.push(done) : done())),
    store: {
      faultOf: () => null,
      sync: () =>
        new Promise((done, fail) => {
          steps.push('sync')
          syncs.push({ done, fail })
        }),
    },
  })
  const add = (name = 'one', awaitsPostmortems = false) =>
    new Promise((resolve, reject) => {
      const answered = () => resolve(steps.push(`answer ${name}`))
      const decide = () => ({ outcome: null, serviceIds: [] })
      queue.add({ organizationId: 1, decide, delivery: null, awaitsPostmortems, since: 0, resolve: answered, reject })
    })
  const until = async (step: string) => {
    while (!steps.includes(step)) await setImmediate()
  }
  const failSync = () => syncs.shift()?.fail(new Error('no such device'))
  return { queue, steps, written, add, until, release: () => syncs.shift()?.done(), failSync }
}

test('the next batch is decided while the last one is synced, and answered after its own sync', async () => {
  const { steps, add, until, release } = makeQueue()
  const first = add('first')
  await until('sync')
  const second = Promise.all([add('second'), add('third')])
  await until('decide 2')
  assert.deepEqual(steps, ['decide 1', 'sync', 'decide 2'])
  release()
  await first
  await setImmediate()
  assert.deepEqual(steps.slice(3), ['answer first', 'sync'])
  release()
  await second
  assert.deepEqual(steps.slice(5), ['answer second', 'answer third'])
})

test('a user who resolves an incident is answered when its postmortem is written, and others before', async () => {
  const { steps, written, add, until, release, queue } = makeQueue(undefined, true)
  const user = add('user', true)
  await until('sync')
  const others = Promise.all([add('sweep'), add('sender')])
  while (!steps.includes('answer sender')) {
    release()
    await setImmediate()
  }
  await others
  assert.ok(!steps.includes('answer user'))
  const settled = queue.drained().then(() => steps.push('settled'))
  await setImmediate()
  assert.ok(!steps.includes('settled'))
  for (const done of written) done()
  await Promise.all([user, settled])
  assert.deepEqual(steps.slice(-2), ['answer user', 'settled'])
})

test('no third batch is decided before the first is on disk', async () => {
  const { steps, add, until, release } = makeQueue()
  const answers = [add()]
  await until('sync')
  answers.push(add(), add())
  await until('decide 2')
  answers.push(add(), add(), add())
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
  assert.ok(!steps.includes('decide 3'))
  release()
  await until('decide 3')
  for (const _ of answers) {
    release()
    await setImmediate()
  }
  await Promise.all(answers)
})

test('a failed sync rejects its batch, the next one and all later ones, and ends the process', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { queue, steps, add, until, failSync } = makeQueue()
  const refused = (answer: Promise<unknown>) => assert.rejects(answer, /the disk failed, .* send it again/)
  const first = refused(add('first'))
  await until('sync')
  const second = refused(Promise.all([add('second'), add('third')]))
  await until('decide 2')
  failSync()
  await Promise.all([first, second, refused(add('later'))])
  await queue.drained()
  assert.deepEqual(steps, ['decide 1', 'sync', 'decide 2', 'decide 1'])
  assert.throws(() => t.mock.timers.tick(100), /no such device/)
})

test('other work waits for at most one batch, however much arrives', async () => {
  let isBusy = true
  const { queue, steps, add, release } = makeQueue(() => {
    if (isBusy) void add()
    global.setImmediate(release)
  })
  void add()
  for (let turn = 0; turn < 10; turn += 1) await setImmediate()
  const before = steps.filter((step) => step.startsWith('decide')).length
  await queue.between(async () => {})
  const after = steps.filter((step) => step.startsWith('decide')).length
  assert.ok(before > 0 && after - before <= 2, `${after - before} batches`)
  isBusy = false
  await queue.drained()
})

test('failing work affects only its caller', async () => {
  const { queue, add, until, release } = makeQueue()
  await assert.rejects(
    queue.between(() => Promise.reject(new Error('no such organization'))),
    /no such organization/,
  )
  const answer = add()
  await until('sync')
  release()
  await answer
})

test('the queue is drained when everything is answered', async () => {
  const { queue, steps, add, until, release } = makeQueue()
  void add()
  const drained = queue.drained().then(() => steps.push('drained'))
  await until('sync')
  assert.equal(queue.size(), 0)
  release()
  await drained
  assert.deepEqual(steps.slice(-2), ['answer one', 'drained'])
})

for (const [speed, milliseconds, expected, next] of [
  ['fast', 1, [10, 20, 40, 80, 160, 250, 250, 190], [100, 200, 250, 250, 200]],
  ['slow', 60, Array.from({ length: 100 }, () => 10), Array.from({ length: 100 }, () => 10)],
  ['as planned', 20, Array.from({ length: 100 }, () => 10), Array.from({ length: 100 }, () => 10)],
] as const) {
  test(`a large delivery is stored in chunks whose size follows the speed of the last one: ${speed}`, async () => {
    const sizes: number[] = []
    const storeChunk = async ({ intake: { accepted } }: Delivery) => {
      sizes.push(accepted.length)
      return { kind: 'part', receipt: { eventIds: [], rejected: [], isRepeat: false } } as unknown as Received
    }
    const accepted = Array.from({ length: 1_000 }, (_, index) => ({ index }))
    const delivery = { intake: { accepted, rejected: [], group: null } } as unknown as Delivery
    const queue = createLargeQueue(
      storeChunk,
      () => 0,
      () => milliseconds,
    )
    await queue.store(delivery)
    assert.deepEqual(sizes.splice(0), expected)
    await queue.store(delivery)
    assert.deepEqual(sizes, next)
  })
}
