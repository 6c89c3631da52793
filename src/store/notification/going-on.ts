/** Finds what goes on of a service although the problem of one of its incidents is over. */
import { isConditionOf } from '../../domain/incident/merge.ts'
import { phaseOf } from '../../domain/incident/problem.ts'
import { selectIncidents, toLiveIncident } from '../incident/live-incidents.ts'
import type { Db } from '../sqlite/open.ts'

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
  const incidents = db.all(open.orderBy('id', 'desc').limit(MAX_INCIDENTS)).map(toLiveIncident)
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
