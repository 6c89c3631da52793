/** incmon import: events of elsewhere taken into the database, each as if it had been received here at its time. */
import { createHash } from 'node:crypto'
import { IncmonError } from '../../domain/error.ts'
import type { Draft, Intake } from '../../domain/event/event.ts'
import { formatInstant } from '../../domain/instant.ts'
import { counted } from '../../domain/postmortem/words.ts'
import { READERS } from '../../intake/index.ts'
import type { Deps } from '../../operations/deps.ts'
import { createImport, type Import, type Imported } from '../../operations/imports.ts'
import { isServed } from '../../store/sqlite/inspect.ts'
import { holdLock } from '../../store/sqlite/lock.ts'
import { type Common, requireOrganization, withDatabase } from '../database.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { print, printError, visible } from '../output.ts'
import { startProgress } from '../progress.ts'
import { type Dumped, type Entry, type Fault, isBlank, openDump } from './import-dump.ts'

type Options = Common & {
  readonly org?: string
  readonly cluster?: string
  /** Whether what is silenced or inhibited comes along: Alertmanager would tell of no repeat and no end of it. */
  readonly suppressed?: boolean
}

/** Entries of one commit: received within so many milliseconds, since services are evaluated after it. */
const WITHIN = 60_000
const LARGEST_BATCH = 256
/** Beside a running server, whose clock would end what was heard longer ago than this, in milliseconds. */
const RECENT = 3_600_000
const FAULTS_NAMED = 20
const TAKE_ALONG = 'silenced or inhibited; --suppressed takes them along'

type Tally = { events: number; known: number; heartbeats: number; suppressed: number; readonly rejected: Fault[] }

/** @throws CommandError at the end where anything was rejected; before anything is stored where nothing can be */
export async function importFile(file: string, options: Options): Promise<void> {
  const { tally, organization } = await withDatabase(options, async (deps) => {
    const organization = requireOrganization(deps.db, options.org)
    const server = isServed(deps.db.file)
    const release = server ? () => {} : holdLock(deps.db.file)
    try {
      const bytes = await readInput(file, 'of events, one a line')
      if (isBlank(bytes)) throw new CommandError(`${file} is empty: name a file of JSON lines`)
      const { entries: found, faults } = openDump(bytes, deps.now())
      const entries = options.suppressed ? found : found.filter(({ isSuppressed }) => !isSuppressed)
      if (server) refuseHistory(entries[0], deps)
      const suppressed = found.length - entries.length
      const tally: Tally = { events: 0, known: 0, heartbeats: 0, suppressed, rejected: faults }
      const place = { organizationId: organization.key, cluster: options.cluster ?? '' }
      await takeAll(createImport(deps, { server }), entries, { ...place, now: deps.now() }, tally)
      return { tally, organization: organization.name }
    } finally {
      release()
    }
  })
  report(tally, organization, options.json)
}

/** A server that runs would end old conditions by its own clock while later lines of them are still to come. */
function refuseHistory(oldest: Entry | undefined, { now, db }: Deps): void {
  if (!oldest || oldest.receivedAt === null || oldest.receivedAt >= now() - RECENT) return
  const what = `${oldest.where} was received ${formatInstant(oldest.receivedAt)}, and a server runs over ${db.file}`
  throw new CommandError(`${what}: stop it to import what is older than an hour; nothing was stored`)
}

/** `now`: when what names no time was received. */
type Place = { readonly organizationId: number; readonly cluster: string; readonly now: number }

async function takeAll(importing: Import, entries: readonly Entry[], place: Place, tally: Tally): Promise<void> {
  const progress = startProgress(entries.length, 'entries')
  try {
    for (let done = 0; done < entries.length; ) {
      const batch = batchAt(entries, done, place.now)
      const deliveries = batch.flatMap((entry) => deliveryOf(entry, place, tally) ?? [])
      for (const receipt of await importing.take(distinct(deliveries, tally))) {
        if (receipt) tally.events += receipt.eventIds.length
        else tally.known += 1
      }
      done += batch.length
      progress.show(done, `${tally.events} accepted, ${tally.rejected.length} rejected`)
    }
    await importing.close()
  } finally {
    progress.end()
  }
}

function batchAt(entries: readonly Entry[], from: number, now: number): readonly Entry[] {
  const until = (entries[from]?.receivedAt ?? now) + WITHIN
  const some = entries.slice(from, from + LARGEST_BATCH)
  const end = some.findIndex(({ receivedAt }) => (receivedAt ?? now) >= until)
  return end === -1 ? some : some.slice(0, end)
}

/** Null where nothing of it is left to store. */
function deliveryOf(entry: Entry, { now, ...place }: Place, tally: Tally): Imported | null {
  const dumped = entry.read()
  const receivedAt = dumped.receivedAt ?? now
  const intake = readIntake(dumped, receivedAt)
  if (intake instanceof IncmonError) {
    tally.rejected.push({ where: entry.where, error: intake.message })
    return null
  }
  for (const { index, error } of intake.rejected)
    tally.rejected.push({ where: `${entry.where}, item ${index + 1}`, error })
  const accepted = intake.accepted.filter(({ draft }) => !isHeartbeat(draft))
  tally.heartbeats += intake.accepted.length - accepted.length
  if (accepted.length === 0) return null
  return {
    ...place,
    source: dumped.source,
    // What was rejected is told at once, to a person who can mend the file.
    intake: { ...intake, accepted, rejected: [] },
    receivedAt,
    idempotencyKey: keyOf(dumped),
    isRecorded: dumped.receivedAt !== null,
    dryRun: false,
    isRecalled: false,
  }
}

function readIntake({ source, payload }: Dumped, receivedAt: number): Intake | IncmonError {
  try {
    return READERS[source](payload, receivedAt)
  } catch (error) {
    if (error instanceof IncmonError) return error
    throw error
  }
}

/** It proves that a sender reaches this server now, which no file can: from a file its silence would be an incident. */
function isHeartbeat(draft: Draft): boolean {
  return 'nature' in draft && draft.nature === 'heartbeat'
}

function keyOf({ source, receivedAt, payload }: Dumped): string {
  const content = JSON.stringify([source, receivedAt, payload])
  return `import:${createHash('sha256').update(content).digest('hex')}`
}

/** The same line twice is one, in one commit too. */
function distinct(deliveries: readonly Imported[], tally: Tally): Imported[] {
  const byKey = new Map(deliveries.map((delivery) => [delivery.idempotencyKey, delivery]))
  tally.known += deliveries.length - byKey.size
  return [...byKey.values()]
}

function report(tally: Tally, organization: string, json: boolean | undefined): void {
  const { events, known, heartbeats, suppressed, rejected } = tally
  rejected.sort((a, b) => a.where.localeCompare(b.where, 'en', { numeric: true }))
  if (json) {
    print(JSON.stringify({ organization, events, known, heartbeats, suppressed, rejected }, null, 2))
  } else if (events + known + heartbeats + suppressed + rejected.length === 0) {
    print(`nothing to import into ${visible(organization)}: the list is empty`)
  } else {
    const rest = [
      known > 0 ? `${known} known already` : '',
      heartbeats > 0 ? `${counted(heartbeats, 'heartbeat')} left out` : '',
      suppressed > 0 ? `${counted(suppressed, 'suppressed alert')} left out (${TAKE_ALONG})` : '',
    ]
    print([`imported ${counted(events, 'event')} into ${visible(organization)}`, ...rest.filter(Boolean)].join(', '))
    for (const { where, error } of rejected.slice(0, FAULTS_NAMED)) printError(`incmon: ${where}: ${visible(error)}`)
  }
  if (rejected.length === 0) return
  const more = json || rejected.length <= FAULTS_NAMED ? '' : `, ${rejected.length - FAULTS_NAMED} more than are named`
  throw new CommandError(
    `${rejected.length} rejected${more}: mend what is named and import the file again, the rest is known by then`,
  )
}
