/** The live state of each organization: the records that the rules need to be in memory. */
import type { ReceivedEvent } from '../../domain/alert/late-events.ts'
import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { LivePipeline } from '../../domain/correlation/change.ts'
import type { Labels, Source } from '../../domain/event/event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { Plan, Settings } from '../../domain/organization.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { LiveImage } from '../../domain/service/image.ts'
import type { Severity } from '../../domain/severity.ts'
import type { LiveSilence } from '../../domain/silence/live-silence.ts'
import type { CompiledSilence } from '../../domain/silence/silence.ts'
import { createIndex, createNames, createTable, type Index, type Names, type Table } from './collections.ts'
import { createJournal, type Journal } from './journal.ts'
import { createTimeline, type Timeline } from './timeline.ts'

export type State = {
  readonly journal: Journal
  /** Organizations by row id. An organization is loaded when its first input arrives. */
  readonly organizations: Map<number, OrganizationState>
}

/** `key`: the active silences and the service's names. `last`: the highest row id among the compared alerts. */
export type Compared = { readonly key: string; readonly last: number }

/** Tables by row id, with indexes. Only `apply` changes the tables. */
export type OrganizationState = {
  readonly rowId: number
  readonly settings: Table<'settings', Settings>
  readonly plan: Table<'plan', Plan>
  readonly services: Table<number, LiveService>
  readonly serviceById: Table<string, number>
  /** Row ids of services, by `serviceKey`. */
  readonly serviceByKey: Table<string, number>
  readonly servicesByName: Index<string, number>
  readonly servicesByNamespace: Index<string, number>
  /** Row ids of services with the same namespace and name in any cluster, by `alikeKey`. */
  readonly servicesAlike: Index<string, number>
  /** Row ids of services, by `aliasKey`. */
  readonly aliases: Table<string, number>
  /** Services by CI project (in lower case), if they pulled an image that the project may have built. */
  readonly projects: Index<string, number>
  /** Each service's images, newest first. Loaded on first use. */
  readonly images: Table<number, readonly LiveImage[]>
  readonly pipelines: Table<string, LivePipeline>
  readonly alerts: Table<number, LiveAlert>
  /** The most recently received alert for each fingerprint, by `fingerprintScope`. */
  readonly alertByFingerprint: Names
  /** The newest alert for each logical key, by source. */
  readonly alertByLogicalKey: Names
  readonly alertsOfService: Index<number, number>
  readonly alertsOfGroup: Index<number, number>
  /** The number of firing alerts per name and severity, by `namesakeKey`. */
  readonly namesakes: Table<string, number>
  readonly firing: Timeline
  readonly incidents: Table<number, LiveIncident>
  readonly incidentById: Table<string, number>
  readonly incidentsOfService: Index<number, number>
  readonly silences: Table<number, { readonly silence: LiveSilence; readonly compiled: CompiledSilence }>
  /** Senders by `senderKey`. */
  readonly senders: Table<string, LiveSender>
  /** The keys of senders by row id. */
  readonly senderKeys: Table<number, string>
  /** Groups by `groupKey`. */
  readonly groups: Table<string, LiveGroup>
  readonly groupKeys: Table<number, string>
  /** Row ids of due records, by ten-second slot. */
  readonly dueAlerts: Index<number, number>
  readonly dueServices: Index<number, number>
  /** The current batch's unsaved events that can end a condition, by service or awaited name. */
  readonly unsavedEndings: Table<number | string, readonly ReceivedEvent[]>
  /**
   * The silences with which each service's alerts were last compared. A service has no entry if its alerts have not
   * been compared since startup.
   */
  readonly compared: Table<number, Compared>
  /** Labels of alerts that the current batch opened or moved in a merge. */
  readonly unsavedLabels: Table<number, Labels>
  /** Responses stored by the current batch, by source and key. */
  readonly unsavedAnswers: Table<string, string>
  /** Until when the live alerts are known to be at their limit and firing, in ms UTC. */
  readonly room: Table<'full-until', number>
}

export function createState(): State {
  return { journal: createJournal(), organizations: new Map() }
}

/** Creates an empty organization. */
export function createOrganizationState(
  journal: Journal,
  { rowId, plan, settings }: { readonly rowId: number; readonly plan: Plan; readonly settings: Settings },
): OrganizationState {
  const alerts = createTable<number, LiveAlert>(journal, 'alerts')
  const organization: OrganizationState = {
    rowId,
    settings: createTable(journal),
    plan: createTable(journal),
    services: createTable(journal, 'services'),
    serviceById: createTable(journal),
    serviceByKey: createTable(journal),
    servicesByName: createIndex(journal),
    servicesByNamespace: createIndex(journal),
    servicesAlike: createIndex(journal),
    aliases: createTable(journal),
    projects: createIndex(journal),
    images: createTable(journal),
    pipelines: createTable(journal),
    alerts,
    alertByFingerprint: createNames(journal, (one, other) => isReceivedLater(alerts.get(one), alerts.get(other))),
    alertByLogicalKey: createNames(journal, (one, other) => one > other),
    alertsOfService: createIndex(journal),
    alertsOfGroup: createIndex(journal),
    namesakes: createTable(journal),
    firing: createTimeline(journal),
    incidents: createTable(journal, 'incidents'),
    incidentById: createTable(journal),
    incidentsOfService: createIndex(journal),
    silences: createTable(journal, 'silences'),
    senders: createTable(journal, 'senders'),
    groups: createTable(journal, 'groups'),
    senderKeys: createTable(journal),
    groupKeys: createTable(journal),
    dueAlerts: createIndex(journal),
    dueServices: createIndex(journal),
    unsavedEndings: createTable(journal),
    compared: createTable(journal),
    unsavedLabels: createTable(journal),
    unsavedAnswers: createTable(journal),
    room: createTable(journal),
  }
  organization.settings.set('settings', settings)
  organization.plan.set('plan', plan)
  return organization
}

/** @throws Error if the settings are missing, which would be a bug */
export function settingsOf({ settings, rowId }: Pick<OrganizationState, 'settings' | 'rowId'>): Settings {
  const found = settings.get('settings')
  if (!found) throw new Error(`organization ${rowId} has no settings`)
  return found
}

export function serviceKey(key: {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}): string {
  return `${key.cluster}\0${key.namespace}\0${key.name}`
}

export function alikeKey(key: { readonly namespace: string; readonly name: string }): string {
  return `${key.namespace}\0${key.name}`
}

export function namespaceKey(key: { readonly cluster: string; readonly namespace: string }): string {
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

export function senderKey(key: {
  readonly source: Source
  readonly cluster: string
  readonly receiver: string
}): string {
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
export function awaitedName(key: {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}): string {
  return `${key.cluster}/${key.namespace}/${key.name}`
}
