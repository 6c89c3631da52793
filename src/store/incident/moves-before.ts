/** Finds what became of alerts before they belonged to an incident. */
import { isNotification } from '../../domain/event/event.ts'
import type { EntryFact } from '../../domain/incident/facts.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { rank } from '../../domain/severity.ts'
import { findAlertGaps } from '../history/alert-gaps.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import type { AlertRows } from './alert-facts.ts'

/** The maximum number of alerts of an incident to look at, earliest first. */
const MAX_EARLY = 20

/**
 * Adds to the entries of an incident what became of its alerts before: when they ended and fired again, and when they got
 * worse. The stored entries begin with the incident.
 */
export function withMovesBefore(
  db: Db,
  { organizationId, createdAt }: Pick<LiveIncident, 'organizationId' | 'createdAt'>,
  alerts: readonly Early[],
  entries: readonly EntryFact[],
): readonly EntryFact[] {
  const isEarly = ({ source, startsAt, occurrences }: Early) =>
    isNotification({ source }) && startsAt < createdAt && occurrences > 2
  const early = alerts.filter(isEarly).slice(0, MAX_EARLY)
  const ids = early.map(({ uuid }) => uuid)
  const gaps = findAlertGaps(db, organizationId, ids)
  const moves = early.flatMap(({ uuid, rowId, name: text, severity: to }) => {
    const common = { actor: null, ref: `alert/${uuid}`, text }
    const known = entries.filter(({ ref }) => ref === common.ref)
    const first = Math.min(createdAt, ...known.map(({ at }) => at))
    const own = (gaps.get(uuid) ?? []).filter(([from]) => from < first)
    if (own.length === 0) return []
    const rises = db.all(firstOfSeverity, { rowId }).filter(({ at }) => at <= first)
    const [was, now] = [rises.findLast(({ severity }) => rank(severity) < rank(to)), rises.at(-1)]
    const isRise = was && now?.severity === to && known.every(({ code }) => code !== 'severity')
    const facts = { code: 'severity', from: was?.severity ?? null, to } as const
    return [
      ...own.flatMap(([from, to]) => [
        { ...common, at: from, kind: 'ended', code: 'reported' },
        { ...common, at: to, kind: 'alert', code: 'again' },
      ]),
      ...(isRise ? [{ ...common, at: now.at, kind: 'alert', code: 'severity', facts }] : []),
    ]
  })
  return [...moves, ...entries]
}

type Early = Pick<AlertRows[number], 'uuid' | 'rowId' | 'name' | 'source' | 'severity' | 'startsAt' | 'occurrences'>

/** Selects when an alert was first reported with each severity. */
const firstOfSeverity = query<{ rowId: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(({ fn }) => ['severity', fn.min('at').as('at')])
    .where('alert_id', '=', hole('rowId'))
    .where('kind', '=', 'firing')
    .groupBy('severity')
    .orderBy('at'),
)
