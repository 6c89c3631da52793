/** The pruning steps for incidents, pipelines, rejections, images and service states. */
import { type AgedIncident, type Cursor, isIncidentDue, referencesPipeline } from '../../domain/retention.ts'
import { searchedSpan } from '../../domain/suspect/searched.ts'
import { listEventsByRef, listEventsOf } from '../../store/retention/expired-events.ts'
import {
  deleteImages,
  deleteRejections,
  dismantleIncident,
  listIncidentsByAge,
  listPipelinesByAge,
  listServiceKeys,
} from '../../store/retention/expired-records.ts'
import { addSpan, deleteRows, findCursor, moveCursor } from '../../store/retention/pruning.ts'
import { deleteStates } from '../../store/service/states.ts'
import { deleteUncited, keysOf, type Pass, type Step } from './steps.ts'

const FIRST: Cursor = { at: 0, id: 0 }

/** Deletes expired incidents in small steps, and schedules a recheck of the events around them. */
export function incidentStep(): Step {
  let after = FIRST
  return (pass, tally) => {
    const { db, organizationId, cutoffs, rows } = pass
    const found = listIncidentsByAge(db, { organizationId, ...after, until: cutoffs.alerts, limit: rows.records })
    const due = found.find((incident) => isIncidentDue(incident, cutoffs))
    if (!due) {
      const last = found.at(-1)
      if (last) after = { at: last.createdAt, id: last.id }
      return found.length === rows.records
    }
    const { isGone, refs } = dismantleIncident(db, due.id, rows.records)
    tally.events += deleteUncited(
      pass,
      refs.flatMap((ref) => listEventsByRef(db, ref)),
    )
    if (isGone) tally.incidents += 1
    if (isGone) recheckEvents(pass, due)
    return true
  }
}

function recheckEvents({ db, organizationId, cutoffs }: Pass, incident: AgedIncident): void {
  const { scalingsFrom, to } = searchedSpan(incident, cutoffs.now)
  // An open incident also references events after `to`. Events after the alert cutoff have not been checked yet.
  addSpan(db, organizationId, { from: scalingsFrom, to: Math.max(to, cutoffs.alerts) })
  const from = Math.min(scalingsFrom, incident.createdAt)
  if (findCursor(db, organizationId, 'alerts').at > from) {
    moveCursor(db, organizationId, 'alerts', { at: from, id: 0 })
  }
}

/** Deletes expired pipelines. Pipelines referenced by a correlation are kept. */
export function pipelineStep(): Step {
  let after = FIRST
  return (pass, tally) => {
    const { db, organizationId, cutoffs, reachesNear, rows } = pass
    const found = listPipelinesByAge(db, { organizationId, ...after, until: cutoffs.alerts, limit: rows.records })
    const [first] = found
    const last = found.at(-1)
    if (!first || !last) return false
    after = { at: last.startsAt, id: last.id }
    const reaches = reachesNear({ from: first.startsAt, to: last.startsAt })
    const due = found.filter(
      (pipeline) =>
        pipeline.isLinked === 0 &&
        Math.max(pipeline.endsAt, pipeline.receivedAt) <= cutoffs.alerts &&
        !reaches.some((reach) => referencesPipeline(pipeline, reach)),
    )
    tally.pipelines += deleteRows(db, 'pipelines', keysOf(due))
    const eventIds = due.map(({ eventId }) => eventId)
    tally.events += deleteUncited(pass, listEventsOf(db, 'id', eventIds))
    return found.length === rows.records
  }
}

export const rejectionStep: Step = ({ db, organizationId, cutoffs, rows }, tally) => {
  const deleted = deleteRejections(db, organizationId, cutoffs.events, rows.records)
  tally.rejections += deleted
  return deleted === rows.records
}

export function imageStep(): Step {
  const servicesAStep = 20
  let after = 0
  return ({ db, organizationId, cutoffs }, tally) => {
    const services = listServiceKeys(db, organizationId, after, servicesAStep)
    for (const id of services) tally.images += deleteImages(db, id, cutoffs.alerts)
    after = services.at(-1) ?? after
    return services.length === servicesAStep
  }
}

/** Deletes service states older than the alert retention period. There are few states, so no cursor is needed. */
export const stateStep: Step = ({ db, organizationId, cutoffs }) => {
  deleteStates(db, organizationId, cutoffs.alerts)
  return false
}
