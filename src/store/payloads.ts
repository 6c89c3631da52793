/** Bodies as received, each different one stored once. */
import { createHash } from 'node:crypto'
import type { Db } from './open.ts'
import { query } from './query.ts'

const byHash = query<{ hash: number; body: string }>()((sql, hole) =>
  sql.selectFrom('payloads').select('id').where('hash', '=', hole('hash')).where('body', '=', hole('body')),
)
const insert = query<{ hash: number; body: string }>()((sql, hole) =>
  sql.insertInto('payloads').values({ hash: hole('hash'), body: hole('body') }),
)

/** The id of this body, stored now or before. */
export function storePayload(db: Db, body: string): number {
  const hash = createHash('sha256').update(body).digest().readUIntBE(0, 6)
  return db.first(byHash, { hash, body })?.id ?? db.insert(insert, { hash, body })
}
