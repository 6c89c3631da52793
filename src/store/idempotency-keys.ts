/**
 * Responses to requests with an Idempotency-Key. `route`: the source of a webhook, or the method and path of a REST
 * request.
 */
import type { Db } from './sqlite/open.ts'

export function findAnswer(db: Db, organizationId: number, route: string, key: string, since: number): string | null {
  const answers = db.sql.selectFrom('idempotency_keys').select('answer').where('received_at', '>', since)
  return db.first(answers.where((eb) => eb.and({ organization_id: organizationId, route, key })))?.answer ?? null
}

export function storeAnswer(
  db: Db,
  answered: { organizationId: number; route: string; key: string; answer: string; receivedAt: number },
): void {
  db.run(
    db.sql.replaceInto('idempotency_keys').values({
      organization_id: answered.organizationId,
      route: answered.route,
      key: answered.key,
      answer: answered.answer,
      received_at: answered.receivedAt,
    }),
  )
}

/** Deletes the responses for one key. */
export function forgetAnswer(db: Db, organizationId: number, route: string, key: string): void {
  const answers = db.sql.deleteFrom('idempotency_keys')
  db.run(answers.where((eb) => eb.and({ organization_id: organizationId, route, key })))
}

/** Deletes responses to requests received at or before `before`. Returns the number of deleted keys. */
export function forgetAnswers(db: Db, before: number): number {
  return db.run(db.sql.deleteFrom('idempotency_keys').where('received_at', '<=', before))
}
