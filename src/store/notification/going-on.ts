/** Finds what goes on of a service in other incidents, and of other services in an incident. */

import { type Problem, phaseOf } from '../../domain/incident/problem.ts'
import { isConditionOf } from '../../domain/text.ts'
import { LEFT_FOR, listLeftIncidents, selectIncidents, toLiveIncident } from '../incident/live-incidents.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { conditionName } from './ruled-alerts.ts'

/** An incident whose problem is over. `namespace`, `name`: those of its service. */
type Over = {
  readonly rowId: number
  readonly organizationId: number
  readonly serviceId: number
  readonly namespace: string
  readonly name: string
  readonly problem: string
}

const MAX_INCIDENTS = 500

/**
 * Lists for each incident the titles of the others about its service that go on, or are only silenced: those of the
 * service, and those of a node or after a merge that have its conditions. An incident of
 * `unattributed` is about one alert.
 */
export function listGoingOn(db: Db, over: readonly Over[], now: number): ReadonlyMap<number, readonly string[]> {
  const [first] = over
  if (!first) return new Map()
  const open = selectIncidents(db.sql)
    .where('organization_id', '=', first.organizationId)
    .where('resolved_at', 'is', null)
  const unresolved = db.all(open.orderBy('id', 'desc').limit(MAX_INCIDENTS)).map(toLiveIncident)
  // What a user left on goes on, for example since its service was merged into this one.
  const incidents = [...unresolved, ...listLeftIncidents(db, first.organizationId, now - LEFT_FOR, MAX_INCIDENTS)]
  const going = incidents.filter(({ cause, problem }) => cause === 'service' && IS_ON.has(phaseOf(problem, now)))
  return new Map(
    over.map(({ rowId, serviceId, ...service }) => {
      const concerns = going.filter((one) => {
        if (one.rowId === rowId || one.problem.about !== null) return false
        const { others, firing } = one.problem
        const isElsewhere = others.includes(serviceId) && firing.some((condition) => isConditionOf(condition, service))
        return one.serviceId === serviceId || isElsewhere
      })
      return [rowId, concerns.map(({ title }) => title)]
    }),
  )
}

const IS_ON: ReadonlySet<string> = new Set(['on', 'muted'])

/**
 * Lists the services whose conditions go on in an incident that has conditions of other services, each with the start of its
 * first alert, earliest first; [] if what a user declared goes on, too.
 */
export function listBurning(db: Db, incident: { rowId: number; serviceId: number; problem: Problem }) {
  const { rowId, serviceId: ownId, problem } = incident
  if (problem.others.length === 0 || problem.declared.length > 0) return []
  const conditionOf = (row: { alert: string; serviceId: number }) => conditionName(db, row.alert, row.serviceId, ownId)
  const rows = db.all(firing, { rowId }).filter((row) => problem.firing.includes(conditionOf(row)))
  const known = new Set(rows.map(conditionOf))
  if (!problem.firing.every((name) => known.has(name))) return []
  const byService = Map.groupBy(rows, ({ serviceId }) => serviceId)
  return [...byService].flatMap(([serviceId, [first]]) => {
    if (!first) return []
    const { name, namespace, cluster, since } = first
    return [{ serviceId, service: { name, namespace, cluster }, since }]
  })
}

const firing = query<{ rowId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .innerJoin('services', 'services.id', 'alerts.service_id')
    .select(['service_id as serviceId', 'services.name', 'services.namespace', 'services.cluster'])
    .select((eb) => ['alerts.name as alert', eb.fn.min('starts_at').as('since')])
    .where('incident_id', '=', hole('rowId'))
    .where('ends_at', 'is', null)
    .groupBy(['service_id', 'alerts.name'])
    .orderBy('since')
    .limit(MAX_INCIDENTS),
)
