/**
 * A database of an earlier version, opened by this one: the API returns what the earlier version returned. The database
 * and the answers in tests/fixtures/older were written by the last version with only the migration 0001.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { zstdDecompressSync } from 'node:zlib'
import { withEngine } from '../../src/actions/deps.ts'
import { createApp } from '../../src/app.ts'
import { readHere } from '../../src/store/read.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { newUuid } from '../helpers/factory.ts'
import { makeServerContext } from '../helpers/server-context.ts'
import { temporaryDirectory } from '../helpers/store.ts'

type Row = Readonly<Record<string, unknown>>
/** `answers`: the answers by path. Each row has only fields that do not change between versions. */
type Recorded = { readonly token: string; readonly now: number; readonly answers: Record<string, Row | readonly Row[]> }

function fixture(name: string): Buffer {
  return zstdDecompressSync(readFileSync(new URL(`../fixtures/older/${name}.zst`, import.meta.url)))
}

/** Opens the older database with this version's code. */
function upgraded(t: TestContext, now: number) {
  const file = join(temporaryDirectory(t), 'incmon.db')
  writeFileSync(file, fixture('0001.db'))
  const db = openStore(file)
  t.after(() => db.close())
  migrate(db, now)
  const deps = withEngine({
    db,
    now: () => now,
    newId: newUuid,
    newSecret: () => 'S'.repeat(43),
    announce: () => {},
    observe: () => {},
  })
  return { db, app: createApp(deps, readHere(db), makeServerContext()) }
}

/** Returns the fields of a row that were recorded. */
function recordedOf(row: Row, recorded: Row | undefined): Row {
  return Object.fromEntries(Object.keys(recorded ?? row).map((name) => [name, row[name]]))
}

/** Returns whether an entry is not the change of status that came with a merge. */
function isNoHalfMerge({ kind, at }: Row, _: number, all: readonly Row[]): boolean {
  return kind !== 'status' || !all.some((other) => other.kind === 'merged' && other.at === at)
}

test('an older database is upgraded, and the API still returns the same records', async (t) => {
  const { token, now, answers } = JSON.parse(fixture('0001-answers.json').toString()) as Recorded
  const { app } = upgraded(t, now)
  for (const [path, recorded] of Object.entries(answers)) {
    const response = await app.request(path, { headers: { Authorization: `Bearer ${token}` } })
    const answer = (await response.json()) as Row & { readonly data?: readonly Row[] }
    if (Array.isArray(recorded)) {
      const rows = answer.data ?? (answer as unknown as readonly Row[])
      const found = rows.map((row, index) => recordedOf(row, recorded[index]))
      assert.deepEqual(found, recorded, path)
    } else {
      const { timeline } = answer as { timeline?: readonly Row[] }
      const known = (recorded as { timeline?: readonly Row[] }).timeline?.filter(isNoHalfMerge) ?? []
      const refs = new Set(known.map(({ kind, ref }) => `${kind} ${ref}`))
      // The earlier version did not list messages and ends of alerts of other incidents, listed only the first alert of a
      // name, and a merge as two entries.
      const told = timeline?.filter(({ kind }) => kind !== 'message' && kind !== 'not-told')
      const isOfAlert = ({ kind }: Row) => kind === 'alert' || kind === 'ended'
      const listed = told?.filter((row) => !isOfAlert(row) || refs.has(`${row.kind} ${row.ref}`))
      const entries = listed?.map(({ at, kind, ref }) => ({ at, kind, ref }))
      const expected = 'timeline' in recorded ? { ...recorded, timeline: known } : recorded
      assert.deepEqual(recordedOf({ ...answer, timeline: entries }, recorded as Row), expected, path)
    }
  }
})

test('the fingerprints of firing alerts get the severities and labels of their newest events', async (t) => {
  const { db } = upgraded(t, Date.UTC(2027, 0))
  const columns = ['severity', 'said', 'labels', 'ended'] as const
  const ofAlerts = db.sql.selectFrom('alert_fingerprints').innerJoin('alerts', 'alerts.id', 'alert_id')
  const ofDisk = ofAlerts.where('alerts.name', '=', 'DiskAlmostFull').orderBy('alert_fingerprints.severity')
  const rows = db.all(ofDisk.select(columns.map((name) => `alert_fingerprints.${name}` as const)))
  assert.deepEqual(rows, [
    { severity: 'critical', said: 'critical', labels: '{"severity":"critical"}', ended: 0 },
    { severity: 'warning', said: 'warning', labels: null, ended: 0 },
  ])
})
