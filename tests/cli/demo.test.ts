/** incmon demo: the recorded history is replayed with current times and leaves no files behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { recordedText } from '../../src/assets.ts'
import { startDemo } from '../../src/cli/demo/demo.ts'
import { readRecorded } from '../../src/domain/example/recorded.ts'
import { DAY, MINUTE } from '../../src/domain/units.ts'
import { defaultConfig } from '../helpers/demo.ts'
import { RECORDINGS } from '../recordings/record.ts'

const NOW = Date.UTC(2026, 10, 19, 3, 14)

for (const name of ['demo', 'example'] as const) {
  test(`recordings/${name}.jsonl.gz is what npm run record writes`, () => {
    assert.ok(recordedText(name) === RECORDINGS[name], 'run npm run record')
  })
}

test('a recording is shifted to now and stays in chronological order', () => {
  const lines = readRecorded<{ at: number; body?: { lastTime?: string } }>(recordedText('demo'), NOW)
  const times = lines.map(({ at }) => at)
  assert.deepEqual(
    times,
    times.toSorted((a, b) => a - b),
  )
  assert.ok((times[0] ?? 0) === NOW - 90 * DAY && (times.at(-1) ?? 0) <= NOW + 2 * DAY)
  assert.equal(lines[0]?.body?.lastTime, new Date(NOW - 90 * DAY).toISOString())
})

describe('The demo server', () => {
  let demo: Awaited<ReturnType<typeof startDemo>>
  // biome-ignore lint/suspicious/noExplicitAny: tests read what openapi.json has checked already
  let get: (path: string) => Promise<any>

  const { settings, log, directories } = defaultConfig()
  let made = ''
  let now = NOW

  before(async () => {
    const earlier = directories()
    demo = await startDemo({ settings: { ...settings, port: 0 }, log, now: () => now })
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

  test('has incidents in each of the last twelve weeks', async () => {
    const { data } = await get('/api/incidents?limit=100')
    const weeks = data.map(({ startedAt }: { startedAt: string }) =>
      Math.floor((NOW - Date.parse(startedAt)) / (7 * DAY)),
    )
    assert.deepEqual([...new Set(weeks)].sort((a, b) => Number(a) - Number(b)).slice(0, 12), [...Array(12).keys()])
  })

  test('shows a new alert within a minute', async () => {
    const before = (await get('/api/alerts')).pagination.total
    now += MINUTE
    await demo.goOn()
    assert.ok((await get('/api/alerts')).pagination.total > before)
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
