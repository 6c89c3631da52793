/**
 * Responses to requests with an Idempotency-Key. `route`: the source of a webhook, or the method and path of a REST
 * request.
 */
import type { Db } from './sqlite/open.ts'

export function findAnswer(db: Db, organizationId: number, route: string, key: string, since: number): string | null {
  const answers = db.sql.selectFrom('idempotency_keys').select('answer').where('organization_id', '=', organizationId)
  const ofKey = answers.where('route', '=', route).where('key', '=', key)
  return db.first(ofKey.where('received_at', '>', since))?.answer ?? null
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

export function forgetAnswer(db: Db, organizationId: number, route: string, key: string): void {
  const answers = db.sql.deleteFrom('idempotency_keys').where('organization_id', '=', organizationId)
  db.run(answers.where('route', '=', route).where('key', '=', key))
}
