/** The pruning steps for incidents, rejections, images and service states. */
import { isIncidentDue } from '../../domain/retention.ts'
import {
  deleteImages,
  deleteRejections,
  dismantleIncident,
  listIncidentsByAge,
  listServiceKeys,
} from '../../store/retention/expired-records.ts'
import { deleteStates } from '../../store/service/states.ts'
import { FIRST, type Step } from './steps.ts'

/** Deletes expired incidents in small steps. */
export function incidentStep(): Step {
  let after = FIRST
  return ({ db, organizationId, cutoffs, rows }, tally) => {
    const found = listIncidentsByAge(db, { organizationId, ...after, until: cutoffs.alerts, limit: rows.records })
    const due = found.find((incident) => isIncidentDue(incident, cutoffs))
    if (due) {
      tally.incidents += Number(dismantleIncident(db, due.id, rows.records))
      return true
    }
    const last = found.at(-1)
    if (last) after = { at: last.createdAt, id: last.id }
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
