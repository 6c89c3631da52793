/** incmon explain: what a payload would do here, each decision with the rule that made it; nothing is stored. */
import type { Source } from '../../domain/event/event.ts'
import { READERS } from '../../intake/index.ts'
import { parseBody } from '../../intake/json.ts'
import type { Deps } from '../../operations/deps.ts'
import { createIngest, type Receipt } from '../../operations/ingest.ts'
import { type Common, requireOrganization, withDatabase } from '../database.ts'
import { readInput } from '../input.ts'
import { formatTable, print, visible } from '../output.ts'

type Options = Common & { readonly source: Source; readonly org?: string; readonly cluster?: string }
type Decision = NonNullable<Receipt['decisions']>[number]
type Row = readonly [what: string, decided: string, rule: string]

export async function explainFile(file: string, options: Options): Promise<void> {
  const bytes = await readInput(file, 'that holds the payload')
  const receipt = await withDatabase(options, (deps) => tryOut(deps, bytes, options))
  const { decisions = [], rejected } = receipt
  if (options.json) return print(JSON.stringify({ decisions, rejected }, null, 2))
  for (const decision of decisions) {
    print(`item ${decision.index}: ${decision.event.kind}, ${visible(decision.event.name)}`)
    print(`${formatTable(rowsOf(decision), COLUMNS, '')}\n`)
  }
  for (const { index, error } of rejected) print(`item ${index}: rejected: ${visible(error)}`)
  if (decisions.length === 0 && rejected.length === 0) print('nothing in it: no item, no event')
}

const COLUMNS = [
  ['WHAT', ([what]: Row) => what],
  ['DECIDED', ([, decided]: Row) => decided],
  ['RULE', ([, , rule]: Row) => rule],
] as const

async function tryOut(deps: Deps, bytes: Uint8Array, { org, source, cluster = '' }: Options): Promise<Receipt> {
  const organizationId = requireOrganization(deps.db, org).key
  const receivedAt = deps.now()
  const intake = READERS[source](parseBody(bytes), receivedAt)
  const ingest = createIngest(deps)
  return await ingest.submit({
    organizationId,
    cluster,
    source,
    intake,
    receivedAt,
    idempotencyKey: null,
    dryRun: true,
    isRecalled: false,
  })
}

function rowsOf({ service, alert, event, health, correlations }: Decision): Row[] {
  const path = [service.cluster, service.namespace, service.name].filter(Boolean).join('/')
  // Only what belongs to a service has a health: a heartbeat, say, makes none.
  const standing = health === null ? ' (not made)' : service.isNew ? ' (new)' : ''
  const rows: Row[] = [['service', `${path}${standing}`, service.rule]]
  if (alert) {
    rows.push(['identity', alert.fingerprint, alert.rules.identity])
    rows.push(['alert', `${alert.change}, ${alert.status}`, ''])
    rows.push(['severity', alert.severity, alert.rules.severity])
  } else {
    rows.push(['alert', 'none', 'an event without an alert'], ['severity', event.severity, ''])
  }
  if (health) {
    const penalties = health.penalties.map(({ penalty, reason }) => `-${penalty} ${reason}`).join('; ')
    rows.push(['health', `${health.status}, ${health.score} of 100`, penalties])
  }
  for (const { change, score, band, reasons } of correlations) {
    rows.push(['correlation', `${change}, ${band} ${score.toFixed(2)}`, reasons.map(({ text }) => text).join('; ')])
  }
  return rows
}
