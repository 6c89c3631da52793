/** Names the conditions of an incident anew whose service was renamed or merged, or whose alert moved: they are no news. */
import type { LiveAlert } from '../../../domain/alert/alert.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { renamedProblem } from '../../../domain/incident/merge.ts'
import { conditionOf, conditionWithout } from '../../../domain/text.ts'
import type { Context } from '../../state/context.ts'
import { namerOf } from './elsewhere.ts'
import { firingIn, suppress } from './incidents.ts'

/** Called when `from` has become `into`: the conditions of other services in incidents that have one of both. */
export function renameParts(ctx: Context, from: LiveService, into: LiveService): void {
  const { services, incidents } = ctx.state
  for (const incident of incidents.values()) {
    const { serviceId, problem } = incident
    const own = services.get(serviceId)
    const parts = problem.others.flatMap((rowId) => (rowId === from.rowId ? from : (services.get(rowId) ?? [])))
    const isMeant = [own, ...parts].some((one) => one?.rowId === from.rowId || one?.rowId === into.rowId)
    if (!own || parts.length === 0 || !isMeant) continue
    const nameOf = (name: string) => {
      for (const part of parts) {
        const [base, is] = [conditionWithout(name, part), part === from ? into : part]
        if (base !== null) return own.rowId === is.rowId ? base : conditionOf(base, is, own)
      }
      return name
    }
    const others = problem.others.map((rowId) => (rowId === from.rowId ? into.rowId : rowId))
    put(ctx, incident, renamedProblem(problem, nameOf), others)
  }
}

/** Called when an alert has moved to another service, for example because of an alias, and stays in an incident of a third or of that one. */
export function renamePart(ctx: Context, incident: LiveIncident, from: LiveAlert, to: LiveAlert): void {
  const { problem, serviceId } = incident
  if (!problem.others.includes(from.serviceId)) return
  const { name } = to.alert
  const was = namerOf(ctx.state, from.serviceId, serviceId)(name)
  const is = to.serviceId === serviceId ? name : namerOf(ctx.state, to.serviceId, serviceId)(name)
  const isLast = !firingIn(ctx.state, incident).some(
    (one) => one.serviceId === from.serviceId && one.alert.name === name,
  )
  const after = isLast
    ? renamedProblem(problem, (one) => (one === was ? is : one))
    : { ...problem, had: [...new Set([...problem.had, is])] }
  put(ctx, incident, after, [...problem.others, to.serviceId])
  if (to.serviceId !== serviceId) suppress(ctx, to.serviceId)
}

function put(ctx: Context, before: LiveIncident, problem: LiveIncident['problem'], others: readonly number[]): void {
  const elsewhere = [...new Set(others)].filter((rowId) => rowId !== before.serviceId)
  ctx.put.incident({ ...before, problem: { ...problem, others: elsewhere } }, before)
}
