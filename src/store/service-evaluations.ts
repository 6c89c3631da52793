/** The last evaluation of each service, and when time alone may change it. */
import type { Health } from '../domain/health/health.ts'
import { type ServiceRow, selectServices, toServiceRow } from './service-rows.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

/** A service with its last evaluation. */
export type EvaluatedService = ServiceRow & {
  readonly status: Health['status']
  readonly healthySince: number | null
  /** A person resolved an incident while the trouble went on. */
  readonly believed: boolean
}

const evaluated = query<{ id: number }>()((sql, hole) =>
  selectServices(sql).select(['status', 'healthy_since', 'believed']).where('id', '=', hole('id')),
)

/** Null where a merge has removed it. */
export function findEvaluatedService(db: Db, id: number): EvaluatedService | null {
  const row = db.first(evaluated, { id })
  if (!row) return null
  const { status, healthy_since: healthySince, believed } = row
  return { ...toServiceRow(row), status, healthySince, believed: believed === 1 }
}

const storeHealth = query<{
  id: number
  status: Health['status']
  score: number
  health: string
  healthySince: number | null
  believed: number
  evaluateAt: number | null
}>({ keepsMemory: true })((sql, hole) =>
  sql
    .updateTable('services')
    .set({
      status: hole('status'),
      score: hole('score'),
      health: hole('health'),
      healthy_since: hole('healthySince'),
      believed: hole('believed'),
      evaluate_at: hole('evaluateAt'),
    })
    .where('id', '=', hole('id')),
)

export function storeEvaluation(
  db: Db,
  id: number,
  found: { health: Health; healthySince: number | null; believed: boolean; evaluateAt: number | null },
): void {
  const { health, healthySince, believed, evaluateAt } = found
  const { status, score, penalties } = health
  db.run(storeHealth, {
    id,
    status,
    score,
    health: JSON.stringify(penalties),
    healthySince,
    believed: believed ? 1 : 0,
    evaluateAt,
  })
}

/** A person said that it is over. */
export function believePerson(db: Db, id: number): void {
  db.run(db.sql.updateTable('services').set({ believed: 1 }).where('id', '=', id))
}

/** It is evaluated again then. */
export function postponeService(db: Db, id: number, evaluateAt: number): void {
  db.run(db.sql.updateTable('services').set({ evaluate_at: evaluateAt }).where('id', '=', id))
}

/** The services whose evaluation time alone may change, the longest due first. */
export function listDueServices(db: Db, now: number, limit: number): number[] {
  const due = db.sql.selectFrom('services').select('id').where('evaluate_at', '<=', now)
  return db.all(due.orderBy('evaluate_at').limit(limit)).map(({ id }) => id)
}
