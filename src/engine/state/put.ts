/** Adds and replaces rows of the live state. A change is described only once: by the row after it. */
import type { AlertTexts } from '../../domain/alert/alert.ts'
import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { LiveImage } from '../../domain/service/image.ts'
import type { LiveSilence } from '../../domain/silence/silence.ts'
import { putAlert, replaceAlert } from './alerts.ts'
import { loadIncident, putGroup, putIncident, putSender, putSilence } from './apply.ts'
import type { Effect } from './effect.ts'
import { putService, replaceService } from './services.ts'
import { awaitedName, type Compared, type OrganizationState } from './state.ts'

export type Put = {
  readonly service: (after: LiveService) => void
  /** `texts`: null if unchanged. A new alert must have texts. */
  readonly alert: (after: LiveAlert, texts?: AlertTexts | null) => void
  /** `before`: the saved incident, in case it is not in the live state. */
  readonly incident: (after: LiveIncident, before?: LiveIncident | null) => void
  readonly sender: (after: LiveSender) => void
  readonly group: (after: LiveGroup) => void
  readonly silence: (after: LiveSilence) => void
  /** Keeps all images of a service, newest first. Only in the live state; see the effect `image-pulled`. */
  readonly images: (serviceId: number, images: readonly LiveImage[]) => void
  /** Notes that a service's firing alerts, `rowIds`, were matched against the silences. Only in the live state. */
  readonly compared: (serviceId: number, compared: Compared, rowIds: readonly number[]) => void
}

/** @param renamed called when a service is added or renamed */
export function putInto(state: OrganizationState, emit: (effect: Effect) => void, renamed: () => void): Put {
  return {
    service: (after) => {
      const before = state.services.get(after.rowId)
      if (before) replaceService(state, before, after)
      else createService(state, after)
      if (before?.name !== after.name || before.cluster !== after.cluster) renamed()
    },
    alert: (after, texts = null) => {
      const before = state.alerts.get(after.rowId)
      if (before) replaceAlert(state, before, after)
      else {
        if (texts) state.unsavedLabels.set(after.rowId, texts.labels)
        putAlert(state, after)
      }
      if (texts) emit({ kind: 'alert-texts', alertId: after.rowId, texts })
    },
    incident: (after, before = null) => {
      if (before && state.incidents.get(after.rowId) === undefined) loadIncident(state, before)
      putIncident(state, after)
    },
    sender: (after) => putSender(state, after),
    group: (after) => putGroup(state, after),
    silence: (after) => putSilence(state, after),
    images: (serviceId, images) => state.images.set(serviceId, images),
    compared: (serviceId, compared, rowIds) => {
      state.compared.set(serviceId, compared)
      for (const rowId of rowIds) state.uncompared.remove(serviceId, rowId)
    },
  }
}

/** Adds a new service, and assigns to it the events that were waiting for it. */
function createService(state: OrganizationState, service: LiveService): void {
  putService(state, service)
  const endings = state.unsavedEndings.get(awaitedName(service))
  if (endings) state.unsavedEndings.set(service.rowId, endings)
}
