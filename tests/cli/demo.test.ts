/** incmon demo: the recorded history is replayed with current times and leaves no files behind. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { recordedText } from '../../src/assets.ts'
import { systemClock } from '../../src/deps.ts'
import { readRecorded } from '../../src/domain/example/recorded.ts'
import { DAY } from '../../src/domain/units.ts'
import { start } from '../helpers/cli.ts'
import { eventually } from '../helpers/server.ts'
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

/** Matches the whole output. */
const PRINTED = new RegExp(
  [
    /^Creating 90 days of example data\. This takes a few seconds\.\n/,
    /Open this link in a browser to sign in\. It works once and expires after 30 minutes:\n/,
    / {2}(?<link>http:\S+\/setup\?key=[\w-]{43})\n/,
    /Or sign in at (?<url>http:\S+) with this token: (?<token>incmon_[\w-]{43})/,
    /All data is fictional\. Press Ctrl-C to stop the server and delete the data\.\n$/,
  ]
    .map(({ source }) => source)
    .join('\n'),
)

/** In milliseconds. It takes 9 s of processor time, and four groups of tests share the processors. */
const GENERATED_WITHIN = 240_000

describe('incmon demo', () => {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'incmon-'))
  const demosLeft = () => readdirSync(TMPDIR).filter((name) => name.startsWith('incmon-demo'))
  let demo: ReturnType<typeof start>
  let printed: Readonly<Record<string, string>>
  // biome-ignore lint/suspicious/noExplicitAny: tests read what openapi.json has checked already
  let get: (path: string) => Promise<any>
  const totalOf = async () => (await get('/api/alerts')).pagination.total
  // The new alert may arrive while the other tests run.
  let totalAtStart: number

  before(async () => {
    demo = start(TMPDIR, ['demo', '--port', '0', '--host', '127.0.0.1'], { TMPDIR })
    const { out } = await eventually(
      async () => ({ ...demo.said }),
      ({ out, err }) => /Ctrl-C/.test(out) || err !== '',
      GENERATED_WITHIN,
    )
    printed = PRINTED.exec(out)?.groups ?? assert.fail(`${out}${demo.said.err}`)
    const headers = { authorization: `Bearer ${printed.token}` }
    get = async (path) => (await fetch(`${printed.url}${path}`, { headers })).json()
    totalAtStart = await totalOf()
  })
  after(() => {
    demo.child.kill('SIGKILL')
    rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 5 })
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
    const now = systemClock()
    const weeks = data.map(({ startedAt }: { startedAt: string }) =>
      Math.floor((now - Date.parse(startedAt)) / (7 * DAY)),
    )
    assert.deepEqual([...new Set(weeks)].sort((a, b) => Number(a) - Number(b)).slice(0, 12), [...Array(12).keys()])
  })

  test('prints a link that signs in', async () => {
    const { status, body } = await fetch(printed.link ?? '')
    await body?.cancel()
    assert.equal(status, 200)
  })

  test('goes on, with a new alert within a minute', async () => {
    await eventually(totalOf, (total) => total > totalAtStart)
  })

  test('deletes its files when it ends', async () => {
    assert.equal(demosLeft().length, 1)
    const exited = once(demo.child, 'exit')
    demo.child.kill('SIGINT')
    assert.deepEqual(await exited, [0, null])
    assert.deepEqual(demosLeft(), [])
  })

  test('leaves nothing behind after Ctrl-C while the history is being generated', async () => {
    const { child } = start(TMPDIR, ['demo', '--port', '0'], { TMPDIR })
    await once(child.stdout, 'data')
    child.kill('SIGINT')
    assert.deepEqual(await once(child, 'exit'), [0, null])
    assert.deepEqual(demosLeft(), [])
  })
})
