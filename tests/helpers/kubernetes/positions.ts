/** How far a server has read its only cluster. */
import { join } from 'node:path'
import { RESOURCES } from '../../../src/kubernetes/stream.ts'
import { openStore } from '../../../src/store/sqlite/open.ts'

/** Returns the lowest resource version up to which everything is stored, or 0 before every first list is stored. */
export function positionIn(directory: string): number {
  const db = openStore(join(directory, 'incmon.db'))
  const rows = db.all(db.sql.selectFrom('kubernetes_positions').select(['resource', 'version']))
  db.close()
  return rows.length < RESOURCES.length ? 0 : Math.min(...rows.map(({ version }) => Number(version)))
}
