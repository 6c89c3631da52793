/** Bodies as received, each different one stored once. */
import { hash } from 'node:crypto'
import type { Db } from './open.ts'
import { listed, query } from './query.ts'

/** What tells bodies apart at first sight, 48 bits of their SHA-256. */
export function payloadHash(body: string): number {
  return Number.parseInt(hash('sha256', body, 'hex').slice(0, 12), 16)
}

const byHash = query<{ hash: number; body: string }>()((sql, hole) =>
  sql.selectFrom('payloads').select('id').where('hash', '=', hole('hash')).where('body', '=', hole('body')),
)
const insert = query<{ hash: number; body: string }>()((sql, hole) =>
  sql.insertInto('payloads').values({ hash: hole('hash'), body: hole('body') }),
)

const deleteUnused = query<{ ids: string }>()((builder, hole) =>
  builder
    .deleteFrom('payloads')
    .where('id', 'in', listed(hole('ids')))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('events').select('events.id').whereRef('events.payload_id', '=', 'payloads.id'))),
    ),
)

/** Deletes those of the payloads to which no event refers any more; how many. */
export function deleteUnusedPayloads(db: Db, ids: readonly number[]): number {
  return db.run(deleteUnused, { ids: JSON.stringify(ids) })
}

/** The id of this body, stored now or before. */
export function storePayload(db: Db, { body, hash }: { readonly body: string; readonly hash: number }): number {
  return db.first(byHash, { hash, body })?.id ?? db.insert(insert, { hash, body })
}
