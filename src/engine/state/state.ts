/** The live state of each organization: the records that the rules need to be in memory. */

import type { LiveAlert } from '../../domain/alert/alert.ts'
import type { ReceivedEvent } from '../../domain/alert/late-events.ts'
import type { LivePipeline } from '../../domain/correlation/change.ts'
import type { Labels, Source } from '../../domain/event/event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { Plan, Settings } from '../../domain/organization.ts'
import type { Awaited } from '../../domain/sender/beats.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { LiveImage } from '../../domain/service/image.ts'
import type { Name, ServiceKey } from '../../domain/service/service.ts'
import type { Severity } from '../../domain/severity.ts'
import type { CompiledSilence, LiveSilence } from '../../domain/silence/silence.ts'
import { createIndex, createJournal, createNames, createTable, type Journal, type Undo } from './journal.ts'

export type State = {
  readonly journal: Journal
  /** Organizations by row id. An organization is loaded when its first input arrives. */
  readonly organizations: Map<number, OrganizationState>
}

/**
 * `key`: a hash of the active silences and the service's names. `last`: the highest row id among the compared alerts.
 * `ahead`: the silences of the alerts that were compared for an evaluation that is still due.
 */
export type Compared = Readonly<{ key: number; last: number; ahead: ReadonlyMap<number, readonly number[]> }>

/** Tables by row id, with indexes. Only `apply` changes the tables. */
export type OrganizationState = Readonly<ReturnType<typeof createTables>> & { readonly rowId: number }

export function createState(): State {
  return { journal: createJournal(), organizations: new Map() }
}

/** Creates an empty organization. */
export function createOrganizationState(
  journal: Journal,
  { rowId, plan, settings }: { readonly rowId: number; readonly plan: Plan; readonly settings: Settings },
): OrganizationState {
  const organization = { rowId, ...createTables(journal) }
  organization.settings.set('settings', settings)
  organization.plan.set('plan', plan)
  return organization
}

function createTables(journal: Journal) {
  const alerts = createTable<number, LiveAlert>(journal, 'alerts')
  return {
    settings: createTable<'settings', Settings>(journal),
    plan: createTable<'plan', Plan>(journal),
    /** The time after a stop in which the senders may repeat what they could not deliver. Not stored. */
    awaited: createTable<'period', Awaited>(journal),
    services: createTable<number, LiveService>(journal, 'services'),
    serviceById: createTable<string, number>(journal),
    /** Row ids of services, by `serviceKey`. */
    serviceByKey: createTable<string, number>(journal),
    servicesByName: createIndex<string, number>(journal),
    servicesByNamespace: createIndex<string, number>(journal),
    /** Row ids of services with the same namespace and name in any cluster, by `alikeKey`. */
    servicesAlike: createIndex<string, number>(journal),
    /** Row ids of services, by `aliasKey`. */
    aliases: createTable<string, number>(journal),
    /** The other names of each service: those of its aliases that are workloads. */
    otherNames: createIndex<number, string>(journal),
    /** Services by CI project (in lower case), if they pulled an image that the project may have built. */
    projects: createIndex<string, number>(journal),
    /** Each service's images, newest first. Loaded on first use. */
    images: createTable<number, readonly LiveImage[]>(journal),
    pipelines: createTable<string, LivePipeline>(journal),
    alerts,
    /** The most recently received alert for each fingerprint, by `fingerprintScope`. */
    alertByFingerprint: createNames(journal, (one, other) => isReceivedLater(alerts.get(one), alerts.get(other))),
    /** The newest alert for each logical key, by source. */
    alertByLogicalKey: createNames(journal, (one, other) => one > other),
    alertsOfService: createIndex<number, number>(journal),
    alertsOfGroup: createIndex<number, number>(journal),
    /** Alerts that fire, by the node they name; Kubernetes alerts without a node by an empty name. */
    alertsOnNode: createIndex<string, number>(journal),
    /** The services of nodes that have live alerts, by cluster. */
    nodesWithAlerts: createIndex<string, number>(journal),
    /** The number of firing alerts per name and severity, by `namesakeKey`. */
    namesakes: createTable<string, number>(journal),
    firing: createTimeline(journal),
    incidents: createTable<number, LiveIncident>(journal, 'incidents'),
    incidentById: createTable<string, number>(journal),
    incidentsOfService: createIndex<number, number>(journal),
    silences: createTable<number, { readonly silence: LiveSilence; readonly compiled: CompiledSilence }>(
      journal,
      'silences',
    ),
    /** Senders by `senderKey`. */
    senders: createTable<string, LiveSender>(journal, 'senders'),
    /** The keys of senders by row id. */
    senderKeys: createTable<number, string>(journal),
    /** Groups by `groupKey`. */
    groups: createTable<string, LiveGroup>(journal, 'groups'),
    groupKeys: createTable<number, string>(journal),
    /** Row ids of due records, by ten-second slot. */
    dueAlerts: createIndex<number, number>(journal),
    dueServices: createIndex<number, number>(journal),
    /** The current batch's unsaved events that can end a condition, by service or awaited name. */
    unsavedEndings: createTable<number | string, readonly ReceivedEvent[]>(journal),
    /** The silences with which each service's alerts were last compared, unless they have not been since startup. */
    compared: createTable<number, Compared>(journal),
    /** Alerts that changed since they were compared, by service. */
    uncompared: createIndex<number, number>(journal),
    /** Labels of alerts that the current batch opened or moved in a merge. */
    unsavedLabels: createTable<number, Labels>(journal),
    /** Responses stored by the current batch, by source and key. */
    unsavedAnswers: createTable<string, string>(journal),
    /** Until when the live alerts are known to be at their limit and firing, in ms UTC. */
    room: createTable<'full-until', number>(journal),
  }
}

/** @throws Error if the settings are missing, which would be a bug */
export function settingsOf({ settings, rowId }: Pick<OrganizationState, 'settings' | 'rowId'>): Settings {
  const found = settings.get('settings')
  if (!found) throw new Error(`organization ${rowId} has no settings`)
  return found
}

export function serviceKey(key: ServiceKey): string {
  return `${key.cluster}\0${key.namespace}\0${key.name}`
}

export function alikeKey(key: Name): string {
  return `${key.namespace}\0${key.name}`
}

export function namespaceKey(key: Omit<ServiceKey, 'name'>): string {
  return `${key.cluster}\0${key.namespace}`
}

export function aliasKey(alias: { readonly kind: string; readonly value: string }): string {
  return `${alias.kind} ${alias.value}`
}

/**
 * Returns the scope in which a fingerprint is unique. Fingerprints from Alertmanager and Grafana are unique only within
 * a cluster. The fingerprints of Kubernetes events and CI are computed by incmon and are globally unique.
 */
export function fingerprintScope(source: Source, cluster: string): string {
  return source === 'cluster' || source === 'ci' ? source : `${source} ${cluster}`
}

/** Compares only stored values, so that the same alert is found after a restart. */
function isReceivedLater(one: LiveAlert | undefined, other: LiveAlert | undefined): boolean {
  if (!one || !other) return one !== undefined
  const later = one.alert.receivedAt - other.alert.receivedAt
  return later > 0 || (later === 0 && one.rowId > other.rowId)
}

export function namesakeKey(
  serviceId: number,
  { source, name }: { readonly source: Source; readonly name: string },
  severity: Severity,
): string {
  return `${serviceId} ${severity} ${source} ${name}`
}

export function senderKey(key: Pick<LiveSender, 'source' | 'cluster' | 'receiver'>): string {
  return `${key.source} ${key.cluster}\0${key.receiver}`
}

export function groupKey(senderId: number, key: string): string {
  return `${senderId} ${key}`
}

const DUE_STEP = 10_000
/** The latest time that a JavaScript date can represent. Records with this due time are never due. */
const NEVER = 8_640_000_000_000_000

/** Returns the ten-second slot for a due time, or null for never. */
export function dueStep(at: number | null): number | null {
  return at === null || at >= NEVER ? null : Math.floor(at / DUE_STEP)
}

/** Returns the name under which events wait for a service that does not exist yet. */
export function awaitedName(key: ServiceKey): string {
  return `${key.cluster}/${key.namespace}/${key.name}`
}

/** Creates a list of row ids that is sorted by time and then by row id. */
function createTimeline(journal: Journal) {
  const times: number[] = []
  const rowIds: number[] = []
  const position = (time: number, rowId: number) => {
    let [low, high] = [0, times.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const at = times[middle] ?? 0
      if (at < time || (at === time && (rowIds[middle] ?? 0) < rowId)) low = middle + 1
      else high = middle
    }
    return low
  }
  const put = (time: number, rowId: number) => {
    const index = position(time, rowId)
    // New entries usually have the latest time and go to the end.
    if (index === times.length) {
      times.push(time)
      rowIds.push(rowId)
    } else {
      times.splice(index, 0, time)
      rowIds.splice(index, 0, rowId)
    }
  }
  const drop = (time: number, rowId: number) => {
    const index = position(time, rowId)
    times.splice(index, 1)
    rowIds.splice(index, 1)
  }
  return {
    add: (time: number, rowId: number) => {
      journal.record(drop as Undo, time as never, rowId as never)
      put(time, rowId)
    },
    remove: (time: number, rowId: number) => {
      journal.record(put as Undo, time as never, rowId as never)
      drop(time, rowId)
    },
    size: () => times.length,
    at: (index: number) => rowIds[index],
    /** Returns the number of entries before a time. */
    before: (time: number) => position(time, -1),
  }
}
