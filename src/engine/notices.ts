/** Derives the notices for clients from the changes of a batch. */

import type { Notice } from '../domain/notice.ts'
import type { Changes } from './state/journal.ts'

/** Returns one notice for each record with a visible change. */
export function noticesOf({ rows, effects }: Changes): Notice[] {
  const notices: Notice[] = []
  const add = (kind: Notice['kind'], { id, organizationId }: Omit<Notice, 'kind'>) =>
    void notices.push({ kind, id, organizationId })
  for (const { before, after, isGone } of rows.services) {
    if (!isGone && (before?.health.status !== after.health.status || before.name !== after.name)) add('service', after)
  }
  for (const effect of effects) if (effect.kind === 'service-merged') add('service', effect.into)
  for (const { before, after } of rows.alerts) {
    const [was, is] = [before?.alert, after.alert]
    if (was?.status !== is.status || was.severity !== is.severity) add('alert', after)
  }
  for (const effect of effects) if (effect.kind === 'event-stored') add('event', effect.event)
  for (const change of rows.incidents)
    if (INCIDENT_FIELDS.some((name) => change.before?.[name] !== change.after[name])) add('incident', change.after)
  for (const { after } of rows.silences) add('silence', after.silence)
  return notices
}

/** The fields of an incident that clients can see. */
const INCIDENT_FIELDS = [
  ...(['alertCount', 'status', 'severity', 'title', 'serviceId', 'startedAt'] as const),
  ...(['acknowledgedAt', 'resolvedAt', 'touchedAt'] as const),
] as const
