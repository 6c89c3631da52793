import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { LiveSilence } from '../../domain/silence/live-silence.ts'

/** The tables of the live state whose changed rows are saved. */
export type Rows = {
  readonly services: LiveService
  readonly alerts: LiveAlert
  readonly incidents: LiveIncident
  readonly senders: LiveSender
  readonly groups: LiveGroup
  readonly silences: { readonly silence: LiveSilence }
}
