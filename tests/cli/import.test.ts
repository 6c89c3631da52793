/**
 * incmon import: creates the same records as a server would have, in any order and no matter how often it is repeated.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { readInput } from '../../src/cli/input.ts'
import { isServed } from '../../src/store/sqlite/inspect.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { incmon, incmonServe, MAIN } from '../helpers/cli.ts'
import { MINUTE, makeOrganization, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const DUMP = readFileSync(new URL('../fixtures/alertmanager-alerts.json', import.meta.url), 'utf8')

/** Creates a directory with Acme (Team) and Charlie (Pro), and returns a function that imports lines into Acme. */
function place(t: TestContext) {
  const cwd = temporaryDirectory(t)
  const db = openStore(join(cwd, 'incmon.db'))
  migrate(db, 0)
  makeOrganization(db, 'Acme', 'Team')
  makeOrganization(db, 'Charlie', 'Pro')
  t.after(() => db.close())
  const importing = async (input: string, ...more: string[]) => {
    const { code, out, err } = await incmon(cwd, ['import', '-', '--org', 'Acme', '--json', ...more], { input })
    type Said = { events?: number; known?: number; suppressed?: number; rejected?: unknown[] }
    return { code, err, ...(JSON.parse(out || '{}') as Said) }
  }
  const list = async (...args: string[]) => JSON.parse((await incmon(cwd, [...args, '--json'])).out)
  return { cwd, db, importing, list }
}

const lineOf = (source: string, minutes: number, payload: unknown) =>
  JSON.stringify({ source, receivedAt: new Date(NOON + minutes * MINUTE).toISOString(), payload })

/** Problems on a Saturday: an alert fires at noon, is repeated, and is resolved twenty minutes later. */
function trouble(service: string): string[] {
  const at = (minutes: number) => NOON + minutes * MINUTE
  const firing = alert('HighErrorRate', { service }, { startsAt: at(0) })
  const resolved = alert('HighErrorRate', { service }, { startsAt: at(0), endsAt: at(20) })
  return [
    lineOf('metrics', 1, alertmanager([firing])),
    lineOf('metrics', 11, alertmanager([firing])),
    lineOf('metrics', 21, alertmanager([resolved])),
    lineOf('cluster', 22, kubernetesEvent('Killing', `${service}-6c9d7f5b84-zq4wn`, { at: at(22) })),
  ]
}

/** Returns the contents of every table, except for random ids. */
function contentOf(db: Db): string {
  const rows = (['events', 'alerts', 'incidents', 'services', 'senders', 'rejections', 'timeline'] as const).map(
    (table) =>
      db
        .all(db.sql.selectFrom(table).selectAll().orderBy('id'))
        .map(({ uuid: _, ...row }: Record<string, unknown>) => row),
  )
  return JSON.stringify(rows)
}

suite('import', { concurrency: 4 }, () => {
  test('incidents open and are resolved at the time of their events, with a postmortem', async (t) => {
    const { importing, list } = place(t)
    const { code, events, err } = await importing(trouble('cart').join('\n'))
    const [incident, ...more] = await list('incident', 'list', '--org', 'Acme')
    assert.deepEqual([err, code, events, more.length], ['', 0, 4, 0])
    const { createdAt, status, resolvedAt, hasPostmortem } = incident
    assert.deepEqual([status, hasPostmortem, createdAt.slice(0, 16)], ['resolved', true, '2026-03-14T12:01'])
    assert.match(resolvedAt, /^2026-03-14T12:20/, 'the end of its last alert')
    assert.deepEqual(await list('incident', 'list', '--org', 'Charlie'), [])
  })

  test('importing old events again changes no row', async (t) => {
    const { db, importing } = place(t)
    const lines = `${trouble('cart').join('\n')}\n{"source": "ci", "payload": 1}\n`
    const first = await importing(lines)
    const before = contentOf(db)
    const second = await importing(lines)
    assert.deepEqual([first.events, second.events, second.known], [4, 0, 4])
    assert.deepEqual([second.rejected, contentOf(db)], [first.rejected, before])
  })

  test('an alert from amtool or the API is received at its updatedAt', async (t) => {
    const { db, importing, list } = place(t)
    const [first, second] = [await importing(DUMP), await importing(JSON.stringify(JSON.parse(DUMP)))]
    const [service] = await list('service', 'list', '--org', 'Acme', '--archived')
    const [event] = db.all(db.sql.selectFrom('events').select(['at', 'received_at']))
    assert.deepEqual([first.events, second.events, second.known], [1, 0, 1])
    assert.deepEqual([service.name, service.lastAlertAt], ['cart', '2026-03-14T02:00:00.000Z'])
    assert.equal(event?.received_at, Date.parse('2026-03-14T02:14:03.686Z'))
    assert.deepEqual(db.all(db.sql.selectFrom('senders').select('heartbeat_at')), [{ heartbeat_at: null }])
  })

  test('suppressed alerts are imported only with --suppressed', async (t) => {
    const { db, importing } = place(t)
    const [, slow] = JSON.parse(DUMP)
    const labels = { ...slow.labels, alertname: 'Muted' }
    const muted = { ...slow, labels, fingerprint: 'ab0c88a85e81fe5d', status: { state: 'suppressed' } }
    const namesOf = () => db.all(db.sql.selectFrom('alerts').select('name').orderBy('id')).map(({ name }) => name)
    const [without, before] = [await importing(JSON.stringify([slow, muted])), namesOf()]
    const along = await importing(JSON.stringify([slow, muted]), '--suppressed')
    assert.deepEqual([without.events, without.suppressed, before], [1, 1, ['HighLatency']])
    assert.deepEqual([along.events, along.known, along.suppressed], [1, 1, 0])
    assert.deepEqual(namesOf(), ['HighLatency', 'Muted'])
  })

  test('while a server runs, an old suppressed alert is ignored', async (t) => {
    const { cwd, importing } = place(t)
    await incmonServe(t, cwd)
    const old = { ...JSON.parse(DUMP)[1], status: { state: 'suppressed' } }
    const { code, suppressed, err } = await importing(JSON.stringify(old))
    assert.deepEqual([code, suppressed, err], [0, 1, ''])
  })

  test('lines without a time are received now, but only once a day', async (t) => {
    const { db, importing } = place(t)
    const line = JSON.stringify({ source: 'cluster', payload: kubernetesEvent('BackOff', 'cart-6c9d7f5b84-zq4wn') })
    const before = Date.now()
    const [twice, again] = [await importing(`${line}\n${line}`), await importing(line)]
    assert.deepEqual([twice.events, twice.known, again.events, again.known], [1, 1, 0, 1])
    const [event] = db.all(db.sql.selectFrom('events').select('received_at'))
    const received = event?.received_at ?? 0
    assert.ok(received >= before && received <= Date.now())
  })

  test('while a server runs, recent events are imported and shown', async (t) => {
    const { cwd, importing } = place(t)
    const { url } = await incmonServe(t, cwd)
    const [fresh] = JSON.parse(DUMP.replaceAll(/2026-03-14T02:1\d:\d\d\.\d+Z/g, new Date().toISOString())).slice(1)
    const { events, err } = await importing(JSON.stringify(fresh))
    const { out } = await incmon(cwd, ['token', 'create', '--org', 'Acme', '--scopes', 'read'])
    const answer = await fetch(`${url}/api/services`, { headers: { Authorization: `Bearer ${out.trim()}` } })
    const [service] = (await answer.json()) as { name: string; status: string }[]
    assert.deepEqual([events, err, service?.name, service?.status], [1, '', 'cart', 'critical'])
  })

  test('while a server runs, old events are rejected before anything is stored', async (t) => {
    const { cwd, db, importing } = place(t)
    await incmonServe(t, cwd)
    const before = contentOf(db)
    const { code, err } = await importing(trouble('cart').join('\n'))
    assert.deepEqual([code, contentOf(db)], [1, before])
    assert.match(
      err,
      /^incmon: line 1 was received at 2026-03-14T12:01:00\.000Z, and a server uses this database: stop the server to import/,
    )
  })

  test('no server starts on the same file during an import', async (t) => {
    const { cwd, db } = place(t)
    const served = whenServed(db.file).then(() => incmon(cwd, ['serve', '--port', '0']))
    const input = served.then(() => trouble('cart').join('\n'))
    const imported = await incmon(cwd, ['import', '-', '--org', 'Acme'], { input })
    assert.deepEqual([imported.code, imported.out], [0, 'imported 4 events into Acme\n'])
    assert.match((await served).err, /is in use by an incmon server: stop that server first/)
  })

  test('a terminal shows the progress on stderr', async (t) => {
    const { cwd } = place(t)
    writeFileSync(join(cwd, 'a.jsonl'), trouble('cart').join('\n'))
    const command = `${process.execPath} ${MAIN} import a.jsonl --org Acme >out`
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd, encoding: 'utf8' })
    assert.match(stdout, /\[#+-*\] \d+ % \d+ of 4 entries, \d+ accepted, 0 rejected/)
    assert.equal(readFileSync(join(cwd, 'out'), 'utf8'), 'imported 4 events into Acme\n')
  })

  test('an endless device is rejected at its first byte, and text at the limit', async (t) => {
    const { cwd, db } = place(t)
    const { code, err } = await incmon(cwd, ['import', '/dev/zero', '--org', 'Acme'])
    assert.deepEqual(
      [code, err],
      [1, 'incmon: /dev/zero is not a text file: choose a file with one event per line, or - for standard input\n'],
    )
    writeFileSync(join(cwd, 'long'), 'x'.repeat(1001))
    await assert.rejects(readInput(join(cwd, 'long'), 'of events', 1000), /is larger than 1000 bytes: split it/)
    assert.equal(db.all(db.sql.selectFrom('events').select('id')).length, 0)
  })
})

/** An import acquires the lock before it reads its input. */
async function whenServed(file: string): Promise<void> {
  await eventually(async () => isServed(file), Boolean)
}
