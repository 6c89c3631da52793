/** incmon import: stores events from another system, each with its original time of receipt. */
import type { Command } from 'commander'
import { countOf } from '../../domain/text.ts'
import type { Tally as Imported, Entry as Sent } from '../../http/operator/import.ts'
import type { Api } from '../api/api.ts'
import { type OrganizationOptions, withOrganization } from '../api/records.ts'
import { type Entry, isBlank, openDump } from '../dump.ts'
import { CommandError } from '../failure.ts'
import { readInput } from '../input.ts'
import { print, printError, visible } from '../output.ts'
import { addOrgCommand } from '../plain-command.ts'
import { startProgress } from '../progress.ts'

type Options = OrganizationOptions & {
  readonly cluster?: string
  /** Whether to include silenced and inhibited alerts. Alertmanager sends no notifications about such alerts. */
  readonly suppressed?: boolean
}

/** The maximum time span of the entries in one request. Health is computed only after each request. */
const BATCH_SPAN_MS = 60_000
const MAX_BATCH = 256
/** The maximum length of the entries in one request. An entry that exceeds this length gets its own request. */
const MAX_BODY_CHARACTERS = 8_000_000
const MAX_FAULTS_SHOWN = 20
const SUPPRESSED = 'silenced or inhibited; add --suppressed to include them'

type Tally = Imported & { suppressed: number }

/** @param now returns the current Unix time in milliseconds */
export function addImport(program: Command, now: () => number): void {
  addOrgCommand(program, 'import', 'import events from another system with their original times; safe to repeat')
    .argument(
      '<file>',
      'a file with one { "source", "receivedAt", "payload" } object per line, or with the alerts that amtool lists; - for standard input',
    )
    .option('--cluster <name>', 'the cluster of the imported events')
    .option('--suppressed', 'include alerts that Alertmanager has silenced or inhibited')
    .action((file, options) => importFile(file, options, now()))
}

/** @throws CommandError if the file cannot be read, or after the import if an entry was rejected */
async function importFile(file: string, options: Options, now: number): Promise<void> {
  const { tally, organization } = await withOrganization(options, async (api, { name }) => {
    const bytes = await readInput(file, 'with one event per line')
    if (isBlank(bytes)) throw new CommandError(`${file} is empty: choose a file in JSON Lines format`)
    const { entries: found, faults } = openDump(bytes, now)
    const entries = options.suppressed ? found : found.filter(({ isSuppressed }) => !isSuppressed)
    const suppressed = found.length - entries.length
    const tally: Tally = { events: 0, known: 0, heartbeats: 0, suppressed, rejected: faults }
    if (entries.length > 0) await importAll(api, options.cluster, entries, now, tally)
    return { tally, organization: name }
  })
  report(tally, organization, options.json)
}

async function importAll(
  api: Api,
  cluster: string | undefined,
  entries: readonly Entry[],
  now: number,
  tally: Tally,
): Promise<void> {
  using progress = startProgress('entries')
  for (let done = 0; done < entries.length; ) {
    const batch = batchAt(entries, done, now)
    done += batch.length
    const body = { entries: batch, last: done === entries.length }
    const imported = await api.json<Imported>('POST', '/operator/imports', { cluster, body })
    for (const name of ['events', 'known', 'heartbeats'] as const) tally[name] += imported[name]
    tally.rejected.push(...imported.rejected)
    progress.show(done, entries.length, `${tally.events} accepted, ${tally.rejected.length} rejected`)
  }
}

function batchAt(entries: readonly Entry[], from: number, now: number): readonly Sent[] {
  const until = (entries[from]?.receivedAt ?? now) + BATCH_SPAN_MS
  const batch: Sent[] = []
  let length = 0
  for (const entry of entries.slice(from, from + MAX_BATCH)) {
    const { source, payload, receivedAt } = entry.read()
    const sent = { where: entry.where, source, receivedAt, payload: JSON.stringify(payload) }
    length += sent.payload.length
    if (batch.length > 0 && ((receivedAt ?? now) >= until || length > MAX_BODY_CHARACTERS)) break
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
      known > 0 ? `${known} already stored` : '',
      heartbeats > 0 ? `${countOf(heartbeats, 'heartbeat')} ignored` : '',
      suppressed > 0 ? `${countOf(suppressed, 'suppressed alert')} ignored (${SUPPRESSED})` : '',
    ]
    print([`imported ${countOf(events, 'event')} into ${visible(organization)}`, ...rest.filter(Boolean)].join(', '))
    for (const { where, error } of rejected.slice(0, MAX_FAULTS_SHOWN))
      printError(`incmon: ${where}: ${visible(error)}`)
  }
  if (rejected.length === 0) return
  const more =
    json || rejected.length <= MAX_FAULTS_SHOWN ? '' : ` (${rejected.length - MAX_FAULTS_SHOWN} are not shown)`
  throw new CommandError(
    `${rejected.length} rejected${more}: correct the file and import it again; entries that are already stored are skipped`,
  )
}
