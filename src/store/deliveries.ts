/** Answers already given under an Idempotency-Key. */
import type { Source } from '../domain/event/event.ts'
import type { Db } from './sqlite/open.ts'

export function findAnswer(db: Db, organizationId: number, source: Source, key: string, since: number): string | null {
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
  delivery: { organizationId: number; source: Source; key: string; answer: string; receivedAt: number },
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

/** Forgets answers from before `before`; the number forgotten. */
export function forgetAnswers(db: Db, before: number): number {
  return db.run(db.sql.deleteFrom('deliveries').where('received_at', '<=', before))
}
