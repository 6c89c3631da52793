/** Notices for open pages: collected, sent only to their organization, and not lost when a stream reconnects. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { Notice } from '../../src/domain/notice.ts'
import { createNotices } from '../../src/server/notices.ts'

const ACME = 1
const CHARLIE = 2

function start(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
  const notices = createNotices('run', Date.now)
  t.after(notices.close)
  const follow = (organizationId: number, after = '') => {
    const seen = { text: '', isAllowed: true, isEnded: false }
    const send = (bytes: Uint8Array) => {
      seen.text += Buffer.from(bytes).toString()
    }
    const end = () => {
      seen.isEnded = true
    }
    const stop = notices.subscribe({ organizationId, send, isAllowed: () => seen.isAllowed, end }, after)
    seen.text = after === '' ? '' : seen.text
    return { seen, stop }
  }
  const tell = async (id: string, kind: Notice['kind'] = 'alert', organizationId = ACME) => {
    notices.announce({ kind, id, organizationId })
    t.mock.timers.tick(1_000)
    await sent()
  }
  return { notices, follow, tell }
}

/** Resolves after a delivery to several hundred streams. */
async function sent(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setImmediate()
}

test('a stream gets the kind and the ID of each change', async (t) => {
  const { follow, tell } = start(t)
  const { seen } = follow(ACME)
  await tell('a1')
  assert.equal(seen.text, 'id: run-1\nevent: alert\ndata: a1\n\n')
})

test("Charlie gets nothing of Acme's", async (t) => {
  const { follow, tell } = start(t)
  const { seen } = follow(CHARLIE)
  await tell('a1')
  assert.equal(seen.text, '')
})

test('several changes to one record in quick succession are one notice', async (t) => {
  const { notices, follow, tell } = start(t)
  const { seen } = follow(ACME)
  for (const _ of [1, 2, 3]) notices.announce({ kind: 'incident', id: 'i1', organizationId: ACME })
  await tell('a1')
  assert.equal(seen.text, 'event: incident\ndata: i1\n\nid: run-1\nevent: alert\ndata: a1\n\n')
})

/** Returns how many notices a stream gets in ten seconds in which changes never stop. */
async function storm(t: TestContext, streams: number): Promise<number> {
  const { notices, follow } = start(t)
  const { seen } = follow(ACME)
  for (let count = 1; count < streams; count++) follow(ACME)
  for (let n = 0; n < 1_000; n++) {
    notices.announce({ kind: 'alert', id: `a${n}`, organizationId: ACME })
    t.mock.timers.tick(10)
    await setImmediate()
  }
  return seen.text.match(/id: run-/g)?.length ?? 0
}

for (const [streams, count] of [
  [1, 20],
  [100, 8],
  [500, 5],
] as const) {
  test(`a storm of ten seconds is ${count} notices for each of ${streams} streams`, async (t) =>
    assert.equal(await storm(t, streams), count))
}

test('in a storm, many streams get the change of a status within a quarter of a second', async (t) => {
  const { notices, follow } = start(t)
  const { seen } = follow(ACME)
  for (let count = 1; count < 500; count++) follow(ACME)
  const waits: number[] = []
  let since: number | null = null
  for (let n = 0; n < 1_000; n++) {
    notices.announce({ kind: 'alert', id: `a${n}`, organizationId: ACME })
    if (n % 100 === 50) {
      since = Date.now()
      notices.announce({ kind: 'service', id: `s${n}`, organizationId: ACME })
    }
    t.mock.timers.tick(10)
    await setImmediate()
    if (since !== null && seen.text.includes(`data: s${n - (n % 100) + 50}\n`)) {
      waits.push(Date.now() - since)
      since = null
    }
  }
  assert.equal(waits.length, 10)
  assert.ok(Math.max(...waits) <= 260, waits.join())
})

test('many streams get the last change of a storm after the pause', async (t) => {
  const { notices, follow } = start(t)
  const streams = Array.from({ length: 500 }, () => follow(ACME))
  for (let n = 0; n < 1_000; n++) {
    notices.announce({ kind: n < 999 ? 'alert' : 'incident', id: `a${n}`, organizationId: ACME })
    t.mock.timers.tick(10)
    await setImmediate()
  }
  await sent()
  t.mock.timers.tick(11_000)
  await sent()
  assert.equal(streams.filter(({ seen }) => seen.text.includes('data: a999\n')).length, 500)
})

test('many streams get a second change after half a second', async (t) => {
  const { follow, tell } = start(t)
  const { seen } = follow(ACME)
  for (let count = 0; count < 500; count++) follow(ACME)
  await tell('a1')
  await tell('a2')
  assert.match(seen.text, /a2/)
})

for (const organizations of [1, 500])
  test(`500 streams of ${organizations} organizations get each notice once, in order, in small groups`, async (t) => {
    const { notices, follow, tell } = start(t)
    await tell('a0')
    let largest = 0
    const tellAll = (kind: Notice['kind'], id: string) => {
      for (let organizationId = 1; organizationId <= organizations; organizationId++)
        notices.announce({ kind, id, organizationId })
    }
    const streams = Array.from({ length: 500 }, (_, index) => follow(1 + (index % organizations)).seen)
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        const before = streams.map(({ text }) => text)
        await setImmediate()
        largest = Math.max(largest, streams.filter(({ text }, index) => text !== before[index]).length)
      }
    }
    tellAll('alert', 'a1')
    t.mock.timers.tick(1_000)
    await turns(4)
    const late = follow(ACME, 'run-1').seen
    tellAll('service', 's1')
    t.mock.timers.tick(1_000)
    await turns(20)
    t.mock.timers.tick(14_000)
    await turns(20)
    assert.deepEqual([largest > 0, largest <= 100], [true, true], `${largest} streams in one turn`)
    for (const { text } of organizations === 1 ? [...streams, late] : streams) {
      assert.equal(text.match(/data: a1\n/g)?.length, 1)
      assert.match(text, /data: a1\n.*data: s1\n.*still here/s)
    }
  })

test('a storm of alerts is one notice for all', async (t) => {
  const { notices, follow, tell } = start(t)
  const { seen } = follow(ACME)
  for (let n = 0; n < 10_000; n++) notices.announce({ kind: 'alert', id: `a${n}`, organizationId: ACME })
  await tell('s1', 'service')
  assert.equal(seen.text, 'event: alert\ndata: *\n\nid: run-1\nevent: service\ndata: s1\n\n')
})

test('a reconnected stream gets the missed notices', async (t) => {
  const { follow, tell } = start(t)
  const { stop } = follow(ACME)
  await tell('a1')
  stop()
  await tell('a2')
  await tell('c1', 'alert', CHARLIE)
  const { seen } = follow(ACME, 'run-1')
  assert.match(seen.text, /^retry: 2000\n\nid: run-2\nevent: alert\ndata: a2\n\nid: run-3\n\n$/)
})

for (const after of ['other-1', 'run-99', 'run-', 'nonsense', '-1']) {
  test(`a stream that reconnects with the unknown ID ${after} gets a reset`, async (t) => {
    const { follow, tell } = start(t)
    await tell('a1')
    assert.match(follow(ACME, after).seen.text, /event: reset\n/)
  })
}

test('with 500 organizations, a stream that reconnects gets what it missed, and nothing of others', async (t) => {
  const { notices, follow, tell } = start(t)
  for (let round = 1; round <= 4; round++) {
    for (let other = 2; other <= 500; other++)
      notices.announce({ kind: 'service', id: `c${round}`, organizationId: other })
    await tell(`a${round}`)
  }
  const { text } = follow(ACME, 'run-500').seen
  assert.deepEqual([text.match(/data: (.+)/g), text.includes('reset')], [['data: a2', 'data: a3', 'data: a4'], false])
})

test('deliveries that no longer fit are dropped, and only streams that missed one of them get a reset', async (t) => {
  const { notices, follow, tell } = start(t)
  await tell('a1')
  await tell('c1', 'alert', CHARLIE)
  await tell('a2')
  for (let delivery = 0; delivery < 2_000; delivery++) {
    for (let n = 0; n < 49; n++) notices.announce({ kind: 'alert', id: `c${n}`.padEnd(36), organizationId: CHARLIE })
    await tell('c2', 'alert', CHARLIE)
  }
  const isReset = (organizationId: number, after: string) => follow(organizationId, after).seen.text.includes('reset')
  assert.deepEqual([isReset(ACME, 'run-1'), isReset(ACME, 'run-3'), isReset(CHARLIE, 'run-2')], [true, false, true])
})

test('a stream that missed more than a client can leave unread gets a reset', async (t) => {
  const { notices, follow, tell } = start(t)
  await tell('a1')
  for (let delivery = 0; delivery < 250; delivery++) {
    for (let n = 0; n < 49; n++) notices.announce({ kind: 'alert', id: `a${n}`.padEnd(36), organizationId: ACME })
    await tell('s1', 'service')
  }
  const { text } = follow(ACME, 'run-1').seen
  assert.deepEqual([/event: reset\n/.test(text), text.length < 100, text.includes('id: run-251\n')], [true, true, true])
})

test('a stream cut off within a notice gets the whole notice again', async (t) => {
  const { notices, follow, tell } = start(t)
  const { seen } = follow(ACME)
  notices.announce({ kind: 'incident', id: 'i1', organizationId: ACME })
  await tell('a1')
  const cut = seen.text.slice(0, seen.text.indexOf('\n\n'))
  assert.doesNotMatch(cut, /^id:/m)
  assert.match(follow(ACME, 'run-0').seen.text, /data: i1\n\nid: run-1\nevent: alert\ndata: a1/)
})

test('a stream whose session has ended gets no more notices', async (t) => {
  const { notices, follow, tell } = start(t)
  const { seen } = follow(ACME)
  seen.isAllowed = false
  await tell('a1')
  assert.deepEqual([seen.text, seen.isEnded, notices.count()], ['', true, 0])
})

test('closing ends all streams', (t) => {
  const { notices, follow } = start(t)
  const { seen } = follow(ACME)
  notices.close()
  assert.equal(seen.isEnded, true)
})

test('a status that changes after its delivery was due is delivered next, without a negative timer', async (t) => {
  const waits: number[] = []
  t.mock.method(globalThis, 'setTimeout', (_: () => void, ms: number) => {
    waits.push(ms)
    return {}
  })
  let now = 0
  const notices = createNotices('run', () => now)
  t.after(notices.close)
  notices.announce({ kind: 'alert', id: 'a', organizationId: ACME })
  now = 5_000
  notices.announce({ kind: 'service', id: 's', organizationId: ACME })
  assert.ok(waits.length > 0 && waits.every((ms) => ms >= 0), waits.join())
})
