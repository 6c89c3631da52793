/** Small incidents for the tests of suspects: services, alerts, events and deploys at given minutes. */
import type { Change } from '../../src/domain/correlation/change.ts'
import type { Severity } from '../../src/domain/severity.ts'
import type { SuspectAlert, SuspectEvent, SuspectFacts } from '../../src/domain/suspect/suspect.ts'

const START = Date.parse('2026-03-14T02:00:00Z')
/** Converts minutes after the start of the incident to a time. */
export const at = (minutes: number) => START + minutes * 60_000

/** The services related to the incident. */
export const SERVICES = ['cart', 'pay', 'search', 'web'].map((name) => ({
  id: name,
  cluster: '',
  namespace: 'shop',
  name,
}))
/** A service that is present in every incident but unrelated to it, unless a test says otherwise. */
export const UNRELATED = { id: 'ledger', cluster: '', namespace: 'bank', name: 'ledger' }
export const NODE = { id: 'n1', cluster: '', namespace: '', name: 'node/worker-1' }

/** Returns facts about an incident of the service `of` that started at minute 0. */
export function facts(given: Partial<Omit<SuspectFacts, 'incident'>> & { of?: string }): SuspectFacts {
  const { of = 'web', ...rest } = given
  return {
    incident: { service: of, startedAt: START, endedAt: null },
    services: [...SERVICES, UNRELATED, NODE],
    changes: [],
    alerts: [],
    events: [],
    images: [],
    assigned: [],
    ...rest,
  }
}

/** Returns an alert that fires from this minute on. */
export function alert(service: string, name: string, minutes: number, more: Partial<SuspectAlert> = {}): SuspectAlert {
  const id = `${service} ${name} ${minutes} ${Object.values(more.labels ?? {})}`
  const [startsAt, lastSeenAt] = [at(minutes), at(10)]
  const rest = { source: 'metrics' as const, severity: 'warning' as Severity, summary: name, node: null, labels: {} }
  const inIncident = false
  const words = more.summary ?? name
  return {
    id,
    words,
    service,
    name,
    startsAt,
    lastSeenAt,
    endsAt: null,
    resolution: null,
    inIncident,
    ...rest,
    ...more,
  }
}

/** Returns an event for a pod of the service. */
export function event(service: string, name: string, minutes: number, more: Partial<SuspectEvent> = {}): SuspectEvent {
  const id = `${service} ${name} ${minutes} ${more.object ?? ''}`
  const object = `Pod/${service}-5d4f8c7b9-x2x4z`
  const times = { firstSeenAt: more.at ?? at(minutes), at: at(minutes), count: 1 }
  return { id, service, name, object, text: name, alertId: null, kind: 'firing', ...times, ...more }
}

/** Returns a one-minute deploy, successful unless `status` says otherwise. */
export function deploy(service: string, minutes: number, status = 'success'): Change {
  const job = { id: '1', name: 'deploy', stage: 'deploy', status, allowFailure: false, failureReason: null }
  const [startsAt, endsAt] = [at(minutes), at(minutes + 1)]
  return {
    kind: 'pipeline',
    ref: `shop/${service}#1`,
    service,
    eventId: `deploy ${service}`,
    startsAt,
    endsAt,
    facts: {
      project: `shop/${service}`,
      branch: 'main',
      sha: null,
      status,
      statusAt: endsAt,
      createdAt: startsAt,
      finishedAt: endsAt,
      mergeRequest: false,
      commit: null,
      url: null,
      jobs: [{ ...job, startedAt: startsAt, finishedAt: endsAt, environment: null }],
      rule: 'slug',
    },
  }
}

/** Says that a pod was assigned to a node an hour before the incident. */
export const assigned = (pod: string, node: string) => ({ pod, node, at: at(-60) })
