/** Reads a database file in any state without changing it, including files that `openStore` refuses. */
import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { ChannelFact, DatabaseContent, SenderFact, TokenFact, UsageFact } from '../../domain/doctor/facts.ts'
import { APPLICATION_ID, readHeader } from './file.ts'
import { findSchemaFaults, isCopied, SCHEMA_QUERY, type SchemaObject } from './schema/expected.ts'
import { MIGRATIONS } from './schema/migrate.ts'
import { BUSY, resultCodeOf } from './served.ts'
import { type BrokenReference, describeReference } from './sound.ts'
import { uuidFromBytes } from './uuid.ts'

/** The longest time that a writer can hold the lock, in milliseconds. */
const BUSY_TIMEOUT_MS = 5_000
const NOT_A_DATABASE = 26
const CORRUPT = 11

/**
 * Returns the contents of the file. Uses Node's SQLite, because it can open a file as immutable. Opening the file in
 * this way creates no other files, so it works in a read-only directory. If there is a log, a writer may be active. In
 * that case, the log is read as well.
 * @param full whether to check every page against every index, which takes minutes for gigabytes; otherwise, each page
 * is checked only by itself
 */
export function inspectFile(file: string, full: boolean, now: number): DatabaseContent {
  let sqlite: DatabaseSync | null = null
  try {
    sqlite = openReadOnly(file)
    return contentOf(sqlite, journalMode(file), { full, now })
  } catch (error) {
    return { state: 'unreadable', why: whyUnreadable(error) }
  } finally {
    sqlite?.close()
  }
}

/** Opens a database for reading. If there is no log, opens the file as immutable. */
export function openReadOnly(file: string): DatabaseSync {
  const path = realpathSync(file)
  const address = pathToFileURL(path)
  address.searchParams.set('mode', 'ro')
  if (!existsSync(`${path}-wal`)) address.searchParams.set('immutable', '1')
  return new DatabaseSync(address, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
}

function contentOf(
  sqlite: DatabaseSync,
  journal_mode: string,
  { full, now }: { readonly full: boolean; readonly now: number },
): DatabaseContent {
  if (pragma(sqlite, 'application_id') !== APPLICATION_ID) return { state: 'foreign' }
  const version = Number(pragma(sqlite, 'user_version'))
  // The settings that every connection of the program uses.
  sqlite.exec('PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  const settings = {
    journal_mode,
    synchronous: Number(pragma(sqlite, 'synchronous')),
    foreign_keys: Number(pragma(sqlite, 'foreign_keys')),
  }
  const check = full ? 'integrity_check' : 'quick_check'
  const damage = damageIn(sqlite, check)
  const known = MIGRATIONS.length
  const isKnown = version >= 1 && version <= known
  const schema = sqlite.prepare(SCHEMA_QUERY).all() as SchemaObject[]
  return {
    ...{ state: 'read', version, known, settings, check, damage, isCopied: isCopied(schema) },
    differences: isKnown ? findSchemaFaults(schema, version) : [],
    brokenReferences: full && damage.length === 0 ? brokenReferencesIn(sqlite) : [],
    history: isKnown ? historyOf(sqlite, { isDamaged: damage.length > 0, isCurrent: version === known, now }) : null,
  }
}

/**
 * Returns the result of the check, with the names of tables and indexes instead of page numbers. If the first page of a
 * tree is damaged, SQLite aborts the check. Each table is then checked separately.
 */
function damageIn(sqlite: DatabaseSync, check: string): string[] {
  const trees = sqlite.prepare('SELECT rootpage, type, name FROM sqlite_schema WHERE rootpage > 0').all()
  const names = new Map(trees.map(({ rootpage, type, name }) => [String(rootpage), `${type} ${name}`]))
  const complaints = (pragma: string) => {
    // One row can have many lines. Its first line names the database.
    const rows = sqlite.prepare(`PRAGMA ${pragma}`).all().flatMap(Object.values)
    const lines = rows.flatMap((row) => String(row).split('\n'))
    return lines.filter((line) => line !== 'ok' && !line.startsWith('***')).map((line) => named(line, names))
  }
  try {
    return complaints(check)
  } catch (error) {
    if (whyUnreadable(error) !== 'damaged') throw error
    const tables = trees.filter(({ type }) => type === 'table').map(({ name }) => String(name))
    return tables.flatMap((table) => {
      try {
        return complaints(`${check}('${table.replaceAll("'", "''")}')`)
      } catch {
        return [`table ${table} cannot be read`]
      }
    })
  }
}

function named(line: string, names: ReadonlyMap<string, string>): string {
  return line.replace(/^(?:On tree|Tree) (\d+) /, (text, tree) => `${names.get(tree) ?? text.trim()}, `)
}

function brokenReferencesIn(sqlite: DatabaseSync): string[] {
  return (sqlite.prepare('PRAGMA foreign_key_check').all() as BrokenReference[]).map(describeReference)
}

/** Reads the journal mode from the header, because SQLite does not report it for an immutable file. */
function journalMode(file: string): 'wal' | 'delete' {
  return readHeader(file).toString('hex', 18, 20) === '0202' ? 'wal' : 'delete'
}

function pragma(sqlite: DatabaseSync, name: string): unknown {
  return Object.values(sqlite.prepare(`PRAGMA ${name}`).get() ?? {})[0]
}

/** Returns null if a damaged page prevents reading. */
function historyOf(
  sqlite: DatabaseSync,
  { isDamaged, isCurrent, now }: { readonly isDamaged: boolean; readonly isCurrent: boolean; readonly now: number },
) {
  try {
    const usage = isCurrent ? listUsage(sqlite, now) : []
    const channels = listChannelFacts(sqlite)
    const senders = listSenderFacts(sqlite)
    return { receivedAt: newestReceipt(sqlite), senders, tokens: listTokenFacts(sqlite), channels, usage }
  } catch (error) {
    if (!isDamaged) throw error
    return null
  }
}

/** What counts towards each limit. */
const COUNTED: Readonly<Record<UsageFact['limit'], string>> = {
  'live-alerts': "alerts WHERE settled_at IS NULL AND status = 'firing' AND",
  services: 'services WHERE',
  channels: 'channels WHERE',
  tokens: 'tokens WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now) AND',
  silences: 'silences WHERE ends_at > :now AND',
  senders: 'senders WHERE',
}

function listUsage(sqlite: DatabaseSync, now: number): UsageFact[] {
  return Object.entries(COUNTED).flatMap(([limit, counted]) => {
    const count = `SELECT count(*) FROM ${counted} organization_id = organizations.id`
    const query = sqlite.prepare(`SELECT name AS organization, (${count}) AS used FROM organizations ORDER BY name`)
    const rows = counted.includes(':now') ? query.all({ now }) : query.all()
    return rows.map((row) => ({ ...row, limit }) as UsageFact)
  })
}

/** Returns the latest time of receipt among the newest events and all senders. Imported events can be older. */
function newestReceipt(sqlite: DatabaseSync): number | null {
  const row = sqlite
    .prepare(
      `SELECT max(at) AS at FROM (
         SELECT received_at AS at FROM (SELECT received_at FROM events ORDER BY id DESC LIMIT 100)
         UNION ALL SELECT max(last_event_at) FROM senders
         UNION ALL SELECT max(last_rejection_at) FROM senders)`,
    )
    .get()
  return row?.at == null ? null : Number(row.at)
}

function listSenderFacts(sqlite: DatabaseSync): SenderFact[] {
  const rows = sqlite
    .prepare(
      `SELECT organizations.name AS organization, source, cluster, receiver, last_event_at AS lastEventAt,
              last_rejection_at AS lastRejectionAt, heartbeat_at AS heartbeatAt, heartbeat_due_at AS heartbeatDueAt,
              ifnull(clock ->> 'offset', 0) AS clockOffset, names_cluster AS namesCluster
       FROM senders JOIN organizations ON organizations.id = organization_id
       ORDER BY organization, source, cluster, receiver`,
    )
    .all()
  return rows.map((row) => {
    const { namesCluster } = row
    return { ...row, namesCluster: namesCluster === null ? null : namesCluster === 1 } as SenderFact
  })
}

function listChannelFacts(sqlite: DatabaseSync): ChannelFact[] {
  const rows = sqlite
    .prepare(
      `SELECT organizations.name AS organization, channels.name AS name, enabled, failing
       FROM channels JOIN organizations ON organizations.id = organization_id
       ORDER BY organization, channels.name`,
    )
    .all()
  return rows.map((row) => ({ ...row, enabled: row.enabled === 1 }) as ChannelFact)
}

function listTokenFacts(sqlite: DatabaseSync): TokenFact[] {
  const rows = sqlite
    .prepare(
      `SELECT tokens.uuid AS uuid, organizations.name AS organization, tokens.name AS name, scopes, cluster,
              expires_at AS expiresAt, revoked_at AS revokedAt, last_used_at AS lastUsedAt
       FROM tokens JOIN organizations ON organizations.id = organization_id
       ORDER BY organization, tokens.name, tokens.id`,
    )
    .all()
  return rows.map(({ uuid, scopes, ...row }) => {
    const id = uuidFromBytes(Buffer.from(uuid as Uint8Array))
    return { ...row, id, scopes: JSON.parse(String(scopes)) } as TokenFact
  })
}

function whyUnreadable(error: unknown): 'foreign' | 'damaged' | 'held' | 'denied' {
  const code = resultCodeOf(error)
  if (code === NOT_A_DATABASE) return 'foreign'
  if (code === CORRUPT) return 'damaged'
  return code === BUSY ? 'held' : 'denied'
}
