/** Finds the services that an incident affects: services with alerts in the incident, and connected services. */
import { isOnlyTime } from '../../domain/suspect/likely-cause.ts'
import type { IncidentFacts } from './data.ts'
import type { AffectedView } from './view.ts'

const MAX_PODS = 3

/**
 * Returns the affected services, earliest first. Services with alerts in the incident are affected, except those whose
 * only alerts are about pipelines. A connected service is affected if its own problem began after the incident and it is
 * not the likely cause. `causeRef`: the likely cause.
 */
export function affectedOf(facts: IncidentFacts, causeRef: string | null): readonly AffectedView[] {
  const alerting = withAlerts(facts)
  const own = alerting.length === 0 ? declared(facts) : alerting
  const known = new Set(own.map(({ href }) => href))
  const others = [...connected(facts, causeRef), ...callers(facts)].filter(({ href }) => !known.has(href))
  return [...own, ...others].sort((a, b) => a.since - b.since || (a.name < b.name ? -1 : 1))
}

/** An incident that a person declared has no alerts at first, but it is about a service. */
function declared({ incident, service }: IncidentFacts): AffectedView[] {
  if (!service) return []
  const { namespace, name } = service
  const until = incident.resolvedAt
  const place = { namespace, name, href: `/services/${service.id}` }
  return [{ ...place, severity: incident.severity, since: incident.startedAt, until, detail: 'named by the incident' }]
}

function withAlerts({ groups, names }: IncidentFacts): AffectedView[] {
  const conditions = groups.filter(({ source }) => source !== 'ci')
  return [...Map.groupBy(conditions, ({ serviceId }) => serviceId)].map(([id, of]) => {
    const { namespace = '', name = 'unknown service' } = names.get(id) ?? {}
    const members = of.flatMap((group) => group.members)
    const named = members.flatMap(({ labels }) => podOf(labels) ?? [])
    const pods = [...new Set([...named, ...of.flatMap((group) => group.pods ?? [])])].sort()
    return {
      ...{ namespace, name, href: `/services/${id}`, severity: of[0]?.severity ?? null },
      since: Math.min(...of.map(({ firstStartsAt }) => firstStartsAt)),
      until: of.some(({ firing }) => firing > 0)
        ? null
        : Math.max(...of.map(({ endsAt, lastStartsAt }) => endsAt ?? lastStartsAt)),
      detail: podsText(pods),
    }
  })
}

function podOf({ pod, kind, name }: Readonly<Record<string, string>>): string | undefined {
  return pod ?? (kind === 'Pod' ? name : undefined)
}

function podsText(pods: readonly string[]): string {
  if (pods.length === 0) return ''
  const shown = pods.slice(0, MAX_PODS).join(', ')
  return `${pods.length === 1 ? 'Pod' : 'Pods'}: ${shown}${pods.length > MAX_PODS ? ', …' : ''}`
}

/** The alerts of other services can have ended before or after an incident that is over. */
function ongoing({ resolvedAt }: IncidentFacts['incident']): Pick<AffectedView, 'severity' | 'until'> {
  return { severity: null, until: resolvedAt === null ? null : undefined }
}

function connected({ incident, suspects }: IncidentFacts, causeRef: string | null): AffectedView[] {
  return suspects.flatMap(({ kind, ref, serviceId, since = 0, reasons }) => {
    const isLater = kind === 'object' && serviceId !== null && since >= incident.startedAt
    if (!isLater || isOnlyTime(reasons) || ref === causeRef || serviceId === incident.serviceId) return []
    const [namespace = '', name = ref] = ref.includes('/') ? ref.split(/\/(.*)/s) : ['', ref]
    const detail = reasons.at(-1)?.text ?? ''
    return [{ namespace, name, href: `/services/${serviceId}`, since, ...ongoing(incident), detail }]
  })
}

/** Returns the services whose alerts name the incident's service as the one that fails, and that began after it. */
function callers({ incident, suspects }: IncidentFacts): AffectedView[] {
  const own = suspects.find(({ kind, serviceId }) => kind === 'object' && serviceId === incident.serviceId)
  const later = (own?.callers ?? []).filter(({ since }) => since >= incident.startedAt)
  return [...Map.groupBy(later, ({ id }) => id)].flatMap(([id, [first, ...others]]) => {
    if (!first) return []
    const { namespace, name } = first
    const since = Math.min(first.since, ...others.map((one) => one.since))
    const detail = 'named the incident’s service in an alert'
    return [{ namespace, name, href: `/services/${id}`, since, ...ongoing(incident), detail }]
  })
}
