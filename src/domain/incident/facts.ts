/** The facts for a postmortem: all stored records of an incident. */
import type { Alert, AlertTexts } from '../alert/alert.ts'
import { type Change, type Emptied, type Outcome, outcomeOf } from '../correlation/change.ts'
import type { Link } from '../correlation/correlation.ts'
import type { Commit, StoredEvent } from '../event/event.ts'
import type { Severity } from '../severity.ts'
import type { LiveSilence } from '../silence/silence.ts'
import type { Suspect } from '../suspect/suspect.ts'
import type { incidentName } from '../text.ts'
import type { LiveIncident } from './live-incident.ts'
import type { TimelineEntry } from './timeline-entries.ts'

/** Times in ms UTC. Lists are unordered except `suspects`. Null means unknown. */
export type PostmortemFacts = {
  readonly incident: IncidentFact
  /** The other services with alerts in the incident. Can be empty. */
  readonly services: readonly ServiceFact[]
  readonly alerts: readonly AlertFact[]
  /** The stored timeline entries. */
  readonly entries: readonly EntryFact[]
  /**
   * The services' events from `searched.from` until the resolution, or until the time of generation if there is no
   * resolution.
   */
  readonly events: readonly EventFact[]
  /** When the suspected nodes were cordoned and uncordoned within `searched`. Default: never. */
  readonly cordons?: readonly EventFact[]
  /** The services' changes within `searched`. */
  readonly changes: readonly ChangeFact[]
  readonly correlations: readonly CorrelationFact[]
  /** The changes that may be the cause, most likely first; see `likelyChanges`. */
  readonly suspects: readonly SuspectFact[]
  /** The most likely suspect that is no change, if it is likely and not the incident's own service. */
  readonly component?: (Pick<Suspect, 'kind' | 'ref' | 'score'> & { readonly incident?: OtherIncident }) | null
  /** The period that was searched for changes. */
  readonly searched: { readonly from: number; readonly to: number }
  /** The service's lowest score during the incident, 0 to 100. */
  readonly lowestScore: number | null
  /** For an incident of a node: the alerts of workloads that ran on the node. */
  readonly onNode: readonly NodeAlert[]
  /** The other incidents that opened during this one, until its problem ended, or shortly before. */
  readonly meanwhile?: readonly (OtherIncident & { readonly service?: string })[]
  readonly group?: GroupFact | null
  /** Who was told, when first (null: nobody was), and whose quiet hours delayed a message. Default: unknown. */
  readonly told?: { hasChannel: boolean; names: readonly string[]; firstAt: number | null; quiet?: readonly string[] }
  /** When the first report of the first symptom arrived, and of what time it was. Default: unknown. */
  readonly arrival?: { readonly at: number; readonly receivedAt: number } | null
  /** The incidents that were merged with this one, in either direction. */
  readonly merged?: readonly OtherIncident[]
  /** The silences that the entries refer to. */
  readonly silences?: readonly SilenceFact[]
  /** Alerts with the same service, source and name in the 90 days before the incident. */
  readonly earlier: readonly EarlierFact[]
  /**
   * The earliest time from which alerts can be stored: the organization's creation, or the start of the retention
   * period.
   */
  readonly recordedSince: number
  /** The number of the organization's webhook items that were rejected during the incident. */
  readonly rejectedEvidence: number
  /** The number of this revision: 1 for the first resolution. */
  readonly revision: number
  readonly generatedAt: number
}

/** `ref`: `silence/<uuid>`. */
type SilenceFact = Pick<LiveSilence, 'comment' | 'createdBy' | 'startsAt' | 'endsAt'> & { readonly ref: string }

/** `ref`: `incident/<uuid>`. `service`: the UUID of its service. */
type OtherIncident = Parameters<typeof incidentName>[0] & { readonly ref: string; readonly createdAt: number }

/**
 * The incidents with the same cause. `cause`: its name, such as `postgres`. `leader`: the incident of the cause; null if
 * the cause has no incident. `others`: without this incident.
 */
type GroupFact = {
  readonly cause: string
  readonly leader: string | null
  readonly others: readonly (OtherIncident & {
    readonly startedAt: number
    readonly service: Pick<ServiceFact, 'namespace' | 'name'>
  })[]
}

/** `cause`: `silence` is a missing heartbeat. `acknowledgedAt`: the first acknowledgement, even if it has lapsed. */
export type IncidentFact = Pick<
  LiveIncident,
  'title' | 'severity' | 'origin' | 'cause' | 'createdAt' | 'startedAt' | 'acknowledgedAt' | 'resolvedAt'
> & {
  readonly uuid: string
  /** The number that people use. Default: unknown. */
  readonly number?: number | undefined
  readonly service: ServiceFact
  readonly acknowledgedBy: string | null
  /** Whether the first acknowledgement lapsed, because the problem came back. */
  readonly hasLapsed?: boolean
  readonly critical: CriticalFact
  /** For an incident that is not about a critical service: how long it was open or the sender was silent, in ms. */
  readonly lastedMs?: number
  /** What users declared in incidents that were merged into this one: `“Customers pay twice” of pay`. Default: none. */
  readonly declared?: readonly string[]
  /** How severe it was, and for how long, as `severeOf` says. Default: as its severity, all the time. */
  readonly severe?: { readonly severity: Severity; readonly ms: number }
  /** For the service `unattributed`: the name of the alert that the incident is about. */
  readonly about: string | null
}

/**
 * How long the service was critical during the incident, in milliseconds, without the periods in which it was not.
 * `until`: when the last critical period ended; null if it went on or if there was none. `mutedMs`: for how long
 * silences covered the problem. `ms` does not contain this time. `reportedAt`: the last end that a sender reported while
 * the problem went on.
 */
type CriticalFact = Readonly<{ ms: number; until: number | null; mutedMs?: number; reportedAt?: number | null }>

/** `cluster`: absent if the organization has only one. */
export type ServiceFact = {
  readonly uuid: string
  readonly namespace: string
  readonly name: string
  readonly cluster?: string
}

/** `endsAt` and `resolution`: null while firing. `occurrences`: the number of events that reported the alert. */
export type AlertFact = KnownAlert & {
  readonly uuid: string
  /** The UUID of the alert's service. */
  readonly serviceId: string
  /** The objects that the alert's events are about, for example `Pod/cart-1` or `Node/worker-3`. */
  readonly objects: readonly string[]
  /** The nodes that the alert's events name. */
  readonly nodes: readonly string[]
  /** A hint about the usual cause. */
  readonly hint: string | null
  /** The text of the alert's first event, if a later event replaced the summary. */
  readonly firstText?: string
  /** Whether Prometheus sent the alert without an Alertmanager. */
  readonly isDirect?: boolean
  /** When the alert's sender sent no heartbeat after it last reported the alert. Absent if it always did. */
  readonly unheard?: Unheard
}

/** `ref`: the incident about the silence. `to`: when the heartbeat was back; null if it was not. */
export type Unheard = {
  readonly ref: string
  readonly sender: string
  readonly from: number
  readonly to: number | null
}

type KnownAlert = Pick<AlertTexts, 'labels' | 'links'> &
  Omit<
    Alert,
    'status' | 'said' | 'fingerprint' | 'logicalKey' | 'rules' | 'evidence' | 'receivedAt' | 'endedAt' | 'expiresAt'
  >

export type EntryFact = Omit<TimelineEntry, 'kind' | 'code'> & { readonly kind: string; readonly code: string | null }

/** `uuid` and `alertId` are UUIDs. */
export type EventFact = Pick<StoredEvent, 'at' | 'source' | 'kind' | 'name' | 'object' | 'text'> & {
  readonly uuid: string
  readonly alertId: string | null
  /** The incident to which the alert belongs. */
  readonly incident?: Parameters<typeof incidentName>[0] | null
}

/** `branch`, `sha`, `commit` and `url`: null for a rollout, or if unknown. */
export type ChangeFact = Pick<Change, 'kind' | 'ref' | 'eventId' | 'startsAt' | 'endsAt'> & {
  /** For a rollout: whether the Deployment had this pod template before. */
  readonly isRollback: boolean
  /** For a rollout of a watched cluster: the images, and who changed them. */
  readonly template?: string
  /** For a rollout that left nothing to serve. */
  readonly emptied?: Emptied
  /** Null for a rollout. */
  readonly outcome: Outcome | null
  readonly branch: string | null
  readonly sha: string | null
  readonly commit: Commit | null
  /** The pipeline's page in GitLab. */
  readonly url: string | null
  /** The failed jobs, with the reason if the sender reported one. */
  readonly failedJobs: readonly { readonly name: string; readonly reason: string | null }[]
}

export type CorrelationFact = Omit<Link, 'evidence'> & {
  readonly uuid: string
  readonly change: Pick<Change, 'kind' | 'ref'>
  readonly alertId: string
  readonly verdict: 'confirmed' | 'rejected' | null
  /** The name of the token or user; null without a verdict or if it was not recorded. */
  readonly verdictBy: string | null
  readonly createdAt: number
  /** The start of the earliest alert, if this record combines the links to several similar alerts. */
  readonly symptomAt?: number
}

/** `score`: 0 to 1. `change`: null if only a link to the change is stored. */
export type SuspectFact = Pick<Change, 'kind' | 'ref'> &
  Pick<Link, 'score' | 'reasons'> & {
    readonly change: ChangeFact | null
    /** The refs of the rollouts that a suspected pipeline caused. */
    readonly rollouts?: readonly string[]
  }

/** An alert about a workload on a node. `objects`: the objects of the alert's events on this node. */
type NodeAlert = EarlierFact & { readonly service: string; readonly objects: readonly string[] }

/** `ref`: `alert/<uuid>`. `incident`: the number of its incident; null if it has none. */
type EarlierFact = Readonly<{ ref: string; name: string; startsAt: number; incident?: number | null }>

/** Converts a change to a fact for a postmortem. */
export function changeFact(change: Change): ChangeFact {
  const { kind, ref, eventId, startsAt, endsAt } = change
  const isRollback = change.kind === 'rollout' && change.isRollback === true
  const emptied = change.kind === 'rollout' && change.emptied ? { emptied: change.emptied } : {}
  const template = change.kind === 'rollout' && change.template ? { template: change.template } : {}
  const common = { kind, ref, eventId, startsAt, endsAt, isRollback, ...emptied, ...template }
  if (change.kind === 'rollout')
    return { ...common, outcome: null, branch: null, sha: null, commit: null, url: null, failedJobs: [] }
  const { branch, sha, commit, url, jobs } = change.facts
  const failed = jobs.filter(({ status, allowFailure }) => status === 'failed' && !allowFailure)
  const failedJobs = failed.map(({ name, failureReason }) => ({ name, reason: failureReason }))
  const known = { branch, sha, commit: commit ?? null, url: url ?? null }
  return { ...common, ...known, outcome: outcomeOf(change.facts), failedJobs }
}

/**
 * Adds the images to rollouts about which the sender says nothing more: the pods of the new template pulled them. Says so
 * if they are those of the workload's previous rollout. `changes`: each workload's in order of time.
 */
export function withImages(changes: readonly ChangeFact[], events: readonly EventFact[]): ChangeFact[] {
  const pulled = events.filter(({ name }) => name === 'Pulled')
  const last = new Map<string, string>()
  return changes.map((change) => {
    if (change.kind !== 'rollout' || change.template !== undefined) return change
    const [workload = '', hash] = change.ref.split('@')
    const pods = `Pod/${workload.slice(workload.lastIndexOf('/') + 1)}-${hash}-`
    const own = pulled.filter(({ object }) => object.startsWith(pods))
    const images = [...new Set(own.flatMap(({ text }) => IMAGE.exec(text)?.[1] ?? []))].sort().join(', ')
    const isSame = last.get(workload) === images
    last.set(workload, images)
    return images === '' ? change : { ...change, template: `${isSame ? 'same image ' : ''}${images}` }
  })
}

/** The name and the tag of the image in the message of a kubelet. */
const IMAGE = /image "(?:[^"]*\/)?([^"/]+)"/
