/** incmon import: events of elsewhere taken into the database, each as if it had been received here at its time. */
import { counted } from '../../domain/postmortem/words.ts'
import { type Api, withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { type Entry, type Fault, isBlank, openDump } from '../dump.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { print, printError, visible } from '../output.ts'
import { startProgress } from '../progress.ts'

type Options = OfOrganization & {
  readonly cluster?: string
  /** Whether what is silenced or inhibited comes along: Alertmanager would tell of no repeat and no end of it. */
  readonly suppressed?: boolean
}

/** Entries of one request: received within so many milliseconds, since services are evaluated after it. */
const WITHIN = 60_000
const LARGEST_BATCH = 256
/** Characters of a request; an entry that is longer goes alone. */
const LARGEST_BODY = 8_000_000
const FAULTS_NAMED = 20
const TAKE_ALONG = 'silenced or inhibited; --suppressed takes them along'

/** What a request took in, as `POST /operator/imports` answers. */
type Taken = {
  readonly events: number
  readonly known: number
  readonly heartbeats: number
  readonly rejected: Fault[]
}
type Tally = { events: number; known: number; heartbeats: number; suppressed: number; readonly rejected: Fault[] }
type Sent = {
  readonly where: string
  readonly source: string
  readonly receivedAt: number | null
  readonly payload: string
}

/**
 * @param now in milliseconds UTC
 * @throws CommandError at the end where anything was rejected; before anything is stored where nothing can be
 */
export async function importFile(file: string, options: Options, now: number): Promise<void> {
  const { tally, organization } = await withApi(options, async (api) => {
    const { id, name } = await requireOrganization(api, options)
    const bytes = await readInput(file, 'of events, one a line')
    if (isBlank(bytes)) throw new CommandError(`${file} is empty: name a file of JSON lines`)
    const { entries: found, faults } = openDump(bytes, now)
    const entries = options.suppressed ? found : found.filter(({ isSuppressed }) => !isSuppressed)
    const suppressed = found.length - entries.length
    const tally: Tally = { events: 0, known: 0, heartbeats: 0, suppressed, rejected: faults }
    if (entries.length > 0) await takeAll(api, { organization: id, cluster: options.cluster }, entries, now, tally)
    return { tally, organization: name }
  })
  report(tally, organization, options.json)
}

type Place = { readonly organization: string; readonly cluster: string | undefined }

async function takeAll(api: Api, place: Place, entries: readonly Entry[], now: number, tally: Tally): Promise<void> {
  const progress = startProgress('entries')
  try {
    for (let done = 0; done < entries.length; ) {
      const batch = batchAt(entries, done, now)
      done += batch.length
      const body = { entries: batch, last: done === entries.length }
      const taken = await api.json<Taken>('POST', '/operator/imports', { ...place, body })
      for (const name of ['events', 'known', 'heartbeats'] as const) tally[name] += taken[name]
      tally.rejected.push(...taken.rejected)
      progress.show(done, entries.length, `${tally.events} accepted, ${tally.rejected.length} rejected`)
    }
  } finally {
    progress.end()
  }
}

function batchAt(entries: readonly Entry[], from: number, now: number): readonly Sent[] {
  const until = (entries[from]?.receivedAt ?? now) + WITHIN
  const batch: Sent[] = []
  let length = 0
  for (const entry of entries.slice(from, from + LARGEST_BATCH)) {
    const { source, payload, receivedAt } = entry.read()
    const sent = { where: entry.where, source, receivedAt, payload: JSON.stringify(payload) }
    length += sent.payload.length
    if (batch.length > 0 && ((receivedAt ?? now) >= until || length > LARGEST_BODY)) break
    batch.push(sent)
  }
  return batch
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
