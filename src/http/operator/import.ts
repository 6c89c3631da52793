/** /operator/imports: stores recorded requests as if webhooks had received them at their original time. */
import * as v from 'valibot'
import { type Imported, importKey } from '../../actions/imports.ts'
import { IncmonError } from '../../domain/error.ts'
import { type Draft, type Intake, SOURCES, type Source } from '../../domain/event/event.ts'
import { formatInstant } from '../../domain/instant.ts'
import { READERS } from '../../intake/index.ts'
import { parseBody } from '../../intake/json.ts'
import { operatorIdentity } from '../middleware/operator.ts'
import { wordParameter } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

/**
 * The maximum body size in bytes. One entry can contain a 10 MiB notification, and escaping makes it several times
 * larger.
 */
const LIMIT = 64 * 1_048_576
const MAX_ENTRIES = 1_000
/**
 * The maximum age of an entry while a server is running. For older entries, the server's sweep would end the alerts
 * before later entries are imported.
 */
const MAX_AGE_MS = 3_600_000

/**
 * `payload` is the JSON text of a webhook body. `where` identifies the entry in messages, for example `events.jsonl:7`.
 */
const entryField = v.object({
  where: v.string(),
  source: wordParameter(SOURCES),
  receivedAt: v.nullable(v.number('expected milliseconds since 1970')),
  payload: v.string('expected a string'),
})
export type Entry = v.InferOutput<typeof entryField>
type Fault = { readonly where: string; readonly error: string }
/** The response. */
export type Tally = { events: number; known: number; heartbeats: number; readonly rejected: Fault[] }

/**
 * Stores entries. The entries must be sorted by time of receipt, within each request and from one request to the next.
 * After the request with `last`, the rules are applied until the present time, unless a server is running.
 */
export const importRoute = operator('POST /operator/imports', {
  limit: LIMIT,
  body: v.object({
    entries: v.pipe(v.array(entryField), v.maxLength(MAX_ENTRIES, `too many; at most ${MAX_ENTRIES}`)),
    last: v.boolean('expected true or false'),
  }),
  handle: async ({ c, access, deps, store, importing, body }) => {
    const { organizationId, cluster } = await operatorIdentity(c, store)
    const now = deps.now()
    if (access === 'socket') refuseHistory(body.entries, now)
    const tally: Tally = { events: 0, known: 0, heartbeats: 0, rejected: [] }
    const context = { organizationId, cluster, now }
    const deliveries = body.entries.flatMap((entry) => deliveryOf(entry, context, tally) ?? [])
    for (const receipt of await importing().take(distinct(deliveries, tally))) {
      if (receipt) tally.events += receipt.eventIds.length
      else tally.known += 1
    }
    if (body.last && access === 'program') await importing().close()
    return json(tally)
  },
})

/** Rejects old entries while a server is running; see `MAX_AGE_MS`. */
function refuseHistory(entries: readonly Entry[], now: number): void {
  const old = entries.find(({ receivedAt }) => receivedAt !== null && receivedAt < now - MAX_AGE_MS)
  if (!old) return
  const what = `${old.where} was received at ${formatInstant(old.receivedAt ?? 0)}, and a server uses this database`
  throw new IncmonError('conflict', `${what}: stop the server to import entries older than an hour; nothing was stored`)
}

/** `now` is used as the time of receipt for entries without a time. */
type ImportContext = { readonly organizationId: number; readonly cluster: string; readonly now: number }

/** Returns null if the entry contains nothing to store. */
function deliveryOf(entry: Entry, { now, ...context }: ImportContext, tally: Tally): Imported | null {
  const { where, source } = entry
  const receivedAt = entry.receivedAt ?? now
  const intake = readIntake(entry, receivedAt)
  if (intake instanceof IncmonError) {
    tally.rejected.push({ where, error: intake.message })
    return null
  }
  for (const { index, error } of intake.rejected) tally.rejected.push({ where: `${where}, item ${index + 1}`, error })
  const accepted = intake.accepted.filter(({ draft }) => !isHeartbeat(draft))
  tally.heartbeats += intake.accepted.length - accepted.length
  if (accepted.length === 0) return null
  return {
    ...context,
    source,
    // Rejected items are reported but not stored, because the user can correct the file.
    intake: { ...intake, accepted, rejected: [] },
    receivedAt,
    idempotencyKey: importKey(entry),
    isRecorded: entry.receivedAt !== null,
    dryRun: false,
    isFromCache: false,
  }
}

function readIntake({ source, payload }: { source: Source; payload: string }, receivedAt: number) {
  try {
    return READERS[source](parseBody(Buffer.from(payload)), receivedAt) satisfies Intake
  } catch (error) {
    if (error instanceof IncmonError) return error
    throw error
  }
}

/** Heartbeats are not imported. Otherwise, the end of the file would look like missing heartbeats. */
function isHeartbeat(draft: Draft): boolean {
  return 'nature' in draft && draft.nature === 'heartbeat'
}

function distinct(deliveries: readonly Imported[], tally: Tally): Imported[] {
  const byKey = new Map(deliveries.map((delivery) => [delivery.idempotencyKey, delivery]))
  tally.known += deliveries.length - byKey.size
  return [...byKey.values()]
}
