/** Records that incmon was not running, in the timelines of the incidents that were unresolved then. */
import { formatDuration } from '../../domain/shown-time.ts'
import { MINUTE } from '../../domain/units.ts'
import type { Db } from '../sqlite/open.ts'

/** A restart that takes less time loses nothing, because senders try again. */
const LEAST_STOP = MINUTE

/** When incmon was not running, as Unix times in milliseconds. */
export type Stop = { readonly from: number; readonly to: number }

/**
 * Adds an entry to each unresolved incident if incmon was not running for a minute or more. Returns when, or null. Times
 * are in ms UTC.
 */
export function recordStop(db: Db, from: number | null, to: number): Stop | null {
  if (from === null || to - from < LEAST_STOP) return null
  const text = `no report was received for ${formatDuration(to - from)}, because incmon was not running`
  const unresolved = db.sql
    .selectFrom('incidents')
    .select((eb) => ['id', eb.val(from).as('at'), eb.val('gap').as('kind'), eb.val(text).as('text')])
    .where('organization_id', 'in', (eb) => eb.selectFrom('organizations').select('id'))
    .where('resolved_at', 'is', null)
  db.run(db.sql.insertInto('timeline').columns(['incident_id', 'at', 'kind', 'text']).expression(unresolved))
  return { from, to }
}
