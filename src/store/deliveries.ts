/** Answers given under an Idempotency-Key. `source` is a webhook's source, or the method and path of a REST request. */
import type { Db } from './sqlite/open.ts'

export function findAnswer(db: Db, organizationId: number, source: string, key: string, since: number): string | null {
  const found = db.first(
    db.sql
      .selectFrom('deliveries')
      .select('answer')
      .where('organization_id', '=', organizationId)
      .where('source', '=', source)
      .where('key', '=', key)
      .where('received_at', '>', since),
  )
  return found?.answer ?? null
}

export function storeAnswer(
  db: Db,
  delivery: { organizationId: number; source: string; key: string; answer: string; receivedAt: number },
): void {
  db.run(
    db.sql.replaceInto('deliveries').values({
      organization_id: delivery.organizationId,
      source: delivery.source,
      key: delivery.key,
      answer: delivery.answer,
      received_at: delivery.receivedAt,
    }),
  )
}

/** Deletes the answers of one key. */
export function forgetAnswer(db: Db, organizationId: number, source: string, key: string): void {
  db.run(
    db.sql
      .deleteFrom('deliveries')
      .where('organization_id', '=', organizationId)
      .where('source', '=', source)
      .where('key', '=', key),
  )
}

/** Deletes the answers received at `before` or earlier. Returns how many keys were deleted. */
export function forgetAnswers(db: Db, before: number): number {
  return db.run(db.sql.deleteFrom('deliveries').where('received_at', '<=', before))
}
