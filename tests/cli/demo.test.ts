/**
 * incmon demo: the same seed produces the same story, which is sent through the webhooks and leaves no files behind.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { startDemo } from '../../src/cli/demo/run.ts'
import { DAY } from '../../src/cli/demo/senders.ts'
import { weekOf } from '../../src/cli/demo/week.ts'
import { defaultConfig } from '../helpers/demo.ts'

const NOW = Date.UTC(2026, 10, 19, 3, 14)

test('the same seed and time give the same story, and another seed gives another', () => {
  const story = (seed: number) => JSON.stringify(weekOf(NOW, seed))
  assert.equal(story(1), story(1))
  assert.notEqual(story(1), story(2))
})

test('the story runs from seven days ago until tomorrow, in chronological order', () => {
  const times = weekOf(NOW, 1).requests.map(({ at }) => at)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  assert.ok((times[0] ?? 0) >= NOW - 7 * DAY - DAY && (times.at(-1) ?? 0) <= NOW + 2 * DAY)
})

describe('The demo server', () => {
  let demo: Awaited<ReturnType<typeof startDemo>>
  // biome-ignore lint/suspicious/noExplicitAny: tests read what openapi.json has checked already
  let get: (path: string) => Promise<any>

  const { settings, log, directories } = defaultConfig()
  let made = ''

  before(async () => {
    const earlier = directories()
    demo = await startDemo({ settings: { ...settings, port: 0 }, log, seed: 1, now: () => NOW })
    made = directories().find((one) => !earlier.includes(one)) ?? ''
    const headers = { authorization: `Bearer ${demo.token}` }
    get = async (path) => (await fetch(`${demo.url}${path}`, { headers })).json()
  })

  test('shows a critical checkout with its deploy as the first suspect', async () => {
    const services = await get('/api/services')
    const critical = services.filter(({ status }: { status: string }) => status === 'critical')
    assert.deepEqual(
      critical.map(({ name }: { name: string }) => name),
      ['checkout'],
    )
    const { data } = await get(`/api/incidents?serviceId=${critical[0].id}&status=open`)
    const suspects = (await get(`/api/incidents/${data[0].id}/suspects`)).data
    assert.equal(suspects[0].ref, 'shop/checkout#4711')
    assert.ok(data[0].alertCount > 440)
  })

  test('has resolved incidents, one of which has a postmortem completed by a person', async () => {
    const { data } = await get('/api/incidents?status=resolved')
    const written = data.find(
      ({ hasPostmortem, title }: { hasPostmortem: boolean; title: string }) =>
        hasPostmortem && title.startsWith('gateway'),
    )
    const { summary, lessons } = await get(`/api/incidents/${written.id}/postmortem`)
    assert.match(summary.addition, /fraud rules/)
    assert.match(lessons.wentWell, /6 minutes/)
  })

  test('rejects nothing and recognizes all senders', async () => {
    assert.equal((await get('/api/rejections')).pagination.total, 0)
    assert.deepEqual((await get('/api/services')).length >= 16, true)
  })

  test('deletes its files when it ends', async () => {
    assert.ok(existsSync(made))
    await demo.close()
    assert.ok(!existsSync(made))
  })
})

test('Ctrl-C while the history is being generated leaves nothing behind', async (t) => {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'incmon-'))
  t.after(() => rmSync(TMPDIR, { recursive: true, force: true }))
  const args = ['--import', 'tsx', 'src/main.ts', 'demo', '--port', '0']
  const demo = spawn(process.execPath, args, { env: { ...process.env, TMPDIR }, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(demo.stdout, 'data')
  demo.kill('SIGINT')
  assert.deepEqual(await once(demo, 'exit'), [0, null])
  assert.deepEqual(
    readdirSync(TMPDIR).filter((name) => name.startsWith('incmon-demo')),
    [],
  )
})
