/** /operator/imports: events of elsewhere, each taken in as if it had been received here at its time. */
import * as v from 'valibot'
import { IncmonError } from '../../domain/error.ts'
import { type Draft, type Intake, SOURCES, type Source } from '../../domain/event/event.ts'
import { formatInstant } from '../../domain/instant.ts'
import { READERS } from '../../intake/index.ts'
import { parseBody } from '../../intake/json.ts'
import { type Imported, importKey } from '../../operations/imports.ts'
import { operatorIdentity } from '../middleware/operator.ts'
import { wordParameter } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { operator } from '../route.ts'

/** One entry may hold a whole notification of 10 MiB, several times escaped. */
const LIMIT = 64 * 1_048_576
const MOST_ENTRIES = 1_000
/** A running server would end by its own clock what was received longer ago than this, in milliseconds. */
const RECENT = 3_600_000

/** `payload`: the text of the JSON that would have been the body of a webhook; `where`: names the entry to a person. */
const entryField = v.object({
  where: v.string(),
  source: wordParameter(SOURCES),
  receivedAt: v.nullable(v.number('expected milliseconds since 1970')),
  payload: v.string('expected a text'),
})
type Entry = v.InferOutput<typeof entryField>
type Fault = { readonly where: string; readonly error: string }
type Tally = { events: number; known: number; heartbeats: number; readonly rejected: Fault[] }

/**
 * Takes entries in order of receipt, from request to request too. The last request of an import says `last`: then time
 * goes on to the present, if no server keeps it.
 */
export const importRoute = operator({
  method: 'POST',
  path: '/operator/imports',
  limit: LIMIT,
  body: v.object({
    entries: v.pipe(v.array(entryField), v.maxLength(MOST_ENTRIES, `too many; at most ${MOST_ENTRIES}`)),
    last: v.boolean('expected true or false'),
  }),
  handle: async ({ c, access, deps, importing, body }) => {
    const { organizationId, cluster } = operatorIdentity(c, deps.db)
    const now = deps.now()
    if (access === 'socket') refuseHistory(body.entries, now)
    const tally: Tally = { events: 0, known: 0, heartbeats: 0, rejected: [] }
    const place = { organizationId, cluster, now }
    const deliveries = body.entries.flatMap((entry) => deliveryOf(entry, place, tally) ?? [])
    for (const receipt of await importing().take(distinct(deliveries, tally))) {
      if (receipt) tally.events += receipt.eventIds.length
      else tally.known += 1
    }
    if (body.last && access === 'program') await importing().close()
    return json(tally)
  },
})

/** The server's clock would end old conditions while later entries of them are still to come. */
function refuseHistory(entries: readonly Entry[], now: number): void {
  const old = entries.find(({ receivedAt }) => receivedAt !== null && receivedAt < now - RECENT)
  if (!old) return
  const what = `${old.where} was received ${formatInstant(old.receivedAt ?? 0)}, and a server runs over the database`
  throw new IncmonError('conflict', `${what}: stop it to import what is older than an hour; nothing was stored`)
}

/** `now`: when an entry without a time counts as received. */
type Place = { readonly organizationId: number; readonly cluster: string; readonly now: number }

/** Null if nothing of the entry is left to store. */
function deliveryOf(entry: Entry, { now, ...place }: Place, tally: Tally): Imported | null {
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
    ...place,
    source,
    // What was rejected is told at once, to a person who can mend the file.
    intake: { ...intake, accepted, rejected: [] },
    receivedAt,
    idempotencyKey: importKey(entry),
    isRecorded: entry.receivedAt !== null,
    dryRun: false,
    isRecalled: false,
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

/** It proves that a sender reaches this server now, which no file can: from a file its silence would be an incident. */
function isHeartbeat(draft: Draft): boolean {
  return 'nature' in draft && draft.nature === 'heartbeat'
}

/** The same line twice is one, in one commit too. */
function distinct(deliveries: readonly Imported[], tally: Tally): Imported[] {
  const byKey = new Map(deliveries.map((delivery) => [delivery.idempotencyKey, delivery]))
  tally.known += deliveries.length - byKey.size
  return [...byKey.values()]
}
