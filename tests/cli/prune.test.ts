/**
 * incmon prune: what it lists, what it deletes, and when it asks for confirmation; also alongside a server, and when
 * killed halfway.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { call, incmon, incmonServe, MAIN } from '../helpers/cli.ts'
import { DAY, makeEvent, makeOrganization, makeToken } from '../helpers/factory.ts'
import { eventually } from '../helpers/server.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'

/** Creates Acme with these numbers of old and new events, and Basil without events. */
function history(t: TestContext, old: number, young: number) {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  t.after(() => db.close())
  const acme = makeOrganization(db, 'Acme', 'Team')
  makeOrganization(db, 'Basil', 'Free')
  const now = Date.now()
  const ages = [...Array(old).fill(40 * DAY), ...Array(young).fill(0)]
  db.transaction(() => {
    for (const [index, age] of ages.entries()) {
      const at = now - age - index
      makeEvent(db, acme, { at, received_at: at }, { index })
    }
  })
  const events = () => db.all(db.sql.selectFrom('events').select('id')).length
  return { cwd, db, acme, events }
}

/** Deleting the five hundredth event takes hours. */
const ENDLESS = `CREATE TRIGGER endless BEFORE DELETE ON events WHEN old.id = 500 BEGIN
  WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < 1e12) SELECT max(n) FROM counted;
END`

suite('prune', { concurrency: 4 }, () => {
  test('--dry-run prints the number, age and size of expired records, and deletes nothing', async (t) => {
    const { cwd, events } = history(t, 3, 4)
    const table = await call(cwd, ['prune', '--dry-run'])
    assert.match(table.out, /^Acme +3 of 7 +0 of 0 +20\d\d-\S+Z +about \d{3,}$/m)
    const json = JSON.parse((await call(cwd, ['prune', '--dry-run', '--json', '--org', 'Acme'])).out)
    assert.deepEqual([json.length, json[0].events, events()], [1, { due: 3, total: 7 }, 7])
    const named = await call(cwd, ['prune', '--dry-run', '--json'], { env: { INCMON_ORG: 'Basil' } })
    assert.deepEqual(
      JSON.parse(named.out).map((one: { organization: string }) => one.organization),
      ['Basil'],
    )
  })

  test('it deletes expired records and prints the counts, without progress if there is no terminal', async (t) => {
    const { cwd, events } = history(t, 3, 4)
    const { code, out, err } = await call(cwd, ['prune'])
    assert.match(out, /^Acme +3 +0 +0 +0 +0$/m)
    assert.deepEqual([code, err, events()], [0, '', 4])
  })

  test('deleting more than half requires --yes', async (t) => {
    const { cwd, events } = history(t, 5, 4)
    const refused = await call(cwd, ['prune'])
    assert.deepEqual([refused.code, events()], [1, 9])
    assert.match(refused.err, /^incmon: Acme: 5 of 9 events and 0 of 0 alerts .+ then run incmon prune --yes\n$/)
    const done = await call(cwd, ['prune', '--yes', '--json'])
    assert.deepEqual([done.code, JSON.parse(done.out)[0].deleted.events, events()], [0, 5, 4])
  })

  test('an unknown organization is rejected', async (t) => {
    const { cwd } = history(t, 0, 0)
    const { code, err } = await call(cwd, ['prune', '--org', 'Charlie'])
    assert.deepEqual(
      [code, /^incmon: there is no organization named Charlie: choose one of Acme, Basil/.test(err)],
      [1, true],
    )
  })

  test('a server keeps running during a prune and knows that nothing is waiting for confirmation', async (t) => {
    const { cwd, db, acme, events } = history(t, 600, 100)
    const headers = { Authorization: `Bearer ${makeToken(db, acme, ['read', 'ingest'])}` }
    const server = await incmonServe(t, cwd)
    const pruning = incmon(cwd, ['prune', '--yes'])
    const body = JSON.stringify({ podName: 'cart-1', reason: 'BackOff', message: 'Back-off' })
    const statuses = new Set<number>()
    for (let sent = 0; sent < 20; sent += 1) {
      const answer = await fetch(`${server.url}/api/webhooks/cluster`, { method: 'POST', headers, body })
      statuses.add(answer.status)
    }
    assert.equal((await pruning).code, 0)
    const answer = await fetch(`${server.url}/api/organization`, { headers })
    const organization = (await answer.json()) as { pruningWaits: unknown }
    assert.deepEqual([[...statuses], events(), organization.pruningWaits], [[200], 120, null])
  })

  test('a killed prune leaves a sound file, and the next one completes the work', async (t) => {
    const { cwd, db, events } = history(t, 1000, 10)
    db.execute(ENDLESS)
    const child = spawn(process.execPath, [MAIN, 'prune', '--yes'], { cwd, stdio: 'ignore' })
    await eventually(
      async () => events(),
      (left) => left < 1010,
    )
    child.kill('SIGKILL')
    await once(child, 'close')
    db.execute('DROP TRIGGER endless')
    const left = events()
    assert.ok(left > 10 && left < 1010, `${left} were left: it was not killed in the middle`)
    assert.deepEqual([db.pragma('integrity_check'), db.pragma('foreign_key_check')], ['ok', undefined])
    await incmon(cwd, ['prune', '--yes'])
    const payloads = db.all(db.sql.selectFrom('payloads').select('event_id')).length
    assert.deepEqual([events(), payloads], [10, 10])
  })
})
