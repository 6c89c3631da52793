/** Derives the notices for clients from a committed batch. */
import type { Notice } from '../domain/notice.ts'
import type { Effect } from '../domain/state/effect.ts'

/** Returns one notice for each record with a visible change. */
export function noticesOf(effects: readonly Effect[]): Notice[] {
  const notices: Notice[] = []
  const told = new Set<string>()
  for (const effect of effects) {
    const notice = noticeOf(effect)
    if (!notice) continue
    // An event appears in only one effect, so there is nothing to deduplicate.
    if (notice.kind !== 'event') {
      if (told.has(notice.id)) continue
      told.add(notice.id)
    }
    notices.push(notice)
  }
  return notices
}

/** The fields of an incident that clients can see. */
const INCIDENT_FIELDS = [
  ...(['alertCount', 'status', 'severity', 'title', 'serviceId', 'startedAt'] as const),
  ...(['acknowledgedAt', 'resolvedAt', 'touchedAt'] as const),
] as const

function noticeOf(effect: Effect): Notice | null {
  switch (effect.kind) {
    case 'service-created':
      return about('service', effect.service)
    case 'service-changed': {
      const { before, after } = effect
      const hasChanged = before.health.status !== after.health.status || before.name !== after.name
      return hasChanged ? about('service', after) : null
    }
    case 'service-merged':
      return about('service', effect.into)
    case 'alert-opened':
      return about('alert', effect.alert)
    case 'alert-changed': {
      const [before, after] = [effect.before.alert, effect.after.alert]
      const hasChanged = before.status !== after.status || before.severity !== after.severity
      return hasChanged ? about('alert', effect.after) : null
    }
    case 'event-stored':
      return about('event', effect.event)
    case 'incident-opened':
      return about('incident', effect.incident)
    case 'incident-changed': {
      const { before, after } = effect
      const hasChanged = INCIDENT_FIELDS.some((name) => before[name] !== after[name])
      return hasChanged ? about('incident', after) : null
    }
    case 'silence-saved':
      return about('silence', effect.silence)
    default:
      return null
  }
}

function about(kind: Notice['kind'], { id, organizationId }: Omit<Notice, 'kind'>): Notice {
  return { kind, id, organizationId }
}
