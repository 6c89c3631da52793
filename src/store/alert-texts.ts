/** The texts of an alert as they are stored: what another column says, or most alerts have, is not repeated. */
import { sql } from 'kysely'
import type { AlertTexts } from '../domain/alert/alert.ts'
import type { Rules } from '../domain/alert/rules.ts'
import type { Severity } from '../domain/severity.ts'
import { query } from './sqlite/query.ts'

/** Stored instead of a link to the runbook if the address in the annotation is no link. */
const NO_LINK = 0

/** Returns the columns with the texts that events can change. A link that the annotation repeats is not stored. */
export function textColumnsOf({ annotations, links }: AlertTexts) {
  const { runbook, ...others } = links
  const address = annotations.runbook_url
  const stored =
    address === undefined ? links : { ...others, ...(runbook === address ? {} : { runbook: runbook ?? NO_LINK }) }
  return { annotations: JSON.stringify(annotations), links: JSON.stringify(stored) }
}

const [kept, address] = [sql`alerts.links ->> '$.runbook'`, sql`alerts.annotations ->> '$.runbook_url'`]

/** Selects the links of an alert as JSON. An older version stored each link, so an address without one may be none. */
export const linksColumn = sql<string>`CASE
  WHEN ${kept} = ${sql.lit(NO_LINK)} THEN json_remove(alerts.links, '$.runbook')
  WHEN ${kept} IS NULL AND ${address} GLOB 'http*://*' THEN json_set(alerts.links, '$.runbook', ${address})
  ELSE alerts.links END`.as('links')

/** The rules of most alerts. They are not stored. */
const USUAL = ['label severity', 'labels'] as const

/** Formats rules as a list: the rule of the service, or only its label, and the unusual rules of severity and identity. */
export function storedRules({ service, severity, identity }: Rules): string {
  const isLabel = 'by' in service && service.by === 'label' && Object.keys(service).length === 2
  const named = isLabel ? service.label : service
  if (identity !== USUAL[1]) return JSON.stringify([named, severity, identity])
  return JSON.stringify(severity === USUAL[0] ? [named] : [named, severity])
}

/** Reads rules, also those that an older version stored as an object. */
export function readRules(text: string): Rules {
  const stored: Rules | readonly [string | Rules['service'], Rules['severity']?, Rules['identity']?] = JSON.parse(text)
  if ('service' in stored) return stored
  const [rule, severity = USUAL[0], identity = USUAL[1]] = stored
  return { service: typeof rule === 'string' ? { by: 'label', label: rule } : rule, severity, identity }
}

/** Selects the last text with which an alert was reported as this severe. */
export const summaryOf = query<{ alertId: number; severity: Severity }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select('text')
    .where('alert_id', '=', hole('alertId'))
    .where('kind', '=', 'firing')
    .where('severity', '=', hole('severity'))
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
)
