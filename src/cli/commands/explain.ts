/** incmon explain: what a payload would do here, each decision with the rule that made it; nothing is stored. */

import type { Receipt } from '../../domain/decide/delivery.ts'
import type { Source } from '../../domain/event/event.ts'
import { shownSpan } from '../../domain/shown-time.ts'
import { type Api, Refused, withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { NegativeAnswer } from '../failure.ts'
import { readInput } from '../input.ts'
import { formatTable, print, visible } from '../output.ts'

type Options = OfOrganization & { readonly source: Source; readonly cluster?: string }
type Decision = NonNullable<Receipt['decisions']>[number]
type Tried = { readonly decisions: readonly Decision[]; readonly rejected?: Receipt['rejected'] }
type Row = readonly [what: string, decided: string, rule: string]

/** @throws NegativeAnswer if an item is rejected; CommandError if nothing in the payload can be used */
export async function explainFile(file: string, options: Options): Promise<void> {
  const bytes = await readInput(file, 'that holds the payload')
  const tried = withApi(options, (api) => tryOut(api, bytes, options))
  const { decisions, rejected = [] } = await tried.catch((error: unknown) => {
    if (error instanceof Refused && error.errors.length > 0) output([], error.errors.map(itemOf), options.json)
    throw error
  })
  output(decisions, rejected, options.json)
  if (rejected.length > 0) throw new NegativeAnswer()
}

/** `alerts[2].labels` is the field `labels` of the third item. */
function itemOf({ path, message }: Refused['errors'][number]): Receipt['rejected'][number] {
  const [, index = '0', field = path] = /^alerts\[(\d+)\]\.?(.*)$/s.exec(path) ?? []
  return { index: Number(index), error: field === '' ? message : `${field}: ${message}` }
}

function output(decisions: readonly Decision[], rejected: Receipt['rejected'], json: boolean | undefined): void {
  if (json) print(JSON.stringify({ decisions, rejected }, null, 2))
  else show(decisions, rejected)
}

function show(decisions: readonly Decision[], rejected: Receipt['rejected']): void {
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

async function tryOut(api: Api, bytes: Uint8Array, { source, cluster, ...options }: Options): Promise<Tried> {
  const { id } = await requireOrganization(api, options)
  const payload = Buffer.from(bytes)
  return api.json('POST', `/api/webhooks/${source}?dryRun=1`, { organization: id, cluster, payload })
}

function rowsOf({ service, alert, event, health, correlations, clockOffset }: Decision): Row[] {
  const path = [service.cluster, service.namespace, service.name].filter(Boolean).join('/')
  // Only what belongs to a service has a health: a heartbeat, say, makes none.
  const standing = health === null ? ' (not made)' : service.isNew ? ' (new)' : ''
  const rows: Row[] = [['service', `${path}${standing}`, service.rule]]
  if (clockOffset !== 0) {
    const side = clockOffset > 0 ? 'ahead' : 'behind'
    rows.push(['time', 'corrected', `the clock of the sender is ${shownSpan(Math.abs(clockOffset))} ${side}`])
  }
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
