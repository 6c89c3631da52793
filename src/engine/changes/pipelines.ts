/**
 * Updates a pipeline from a notification. The store recomputes the pipeline's links in the same commit. Silences the
 * service during a deploy, if the organization has enabled deploy silences.
 */

import type { Alert, LiveAlert } from '../../domain/alert/alert.ts'
import { settle } from '../../domain/alert/ending.ts'
import { deployedBy, failuresOf } from '../../domain/alert/signal-ci.ts'
import {
  absorbNotification,
  intervalOf,
  isDeploying,
  type LivePipeline,
  type PipelineFacts,
} from '../../domain/correlation/change.ts'
import { AFTER, deployedServices, runsCommit } from '../../domain/correlation/correlation.ts'
import type { JobDraft, PipelineDraft } from '../../domain/event/event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { reaches } from '../../domain/service/environment.ts'
import { formatMatchers } from '../../domain/silence/matcher.ts'
import { statusOf } from '../../domain/silence/silence.ts'
import { DAY, MINUTE } from '../../domain/units.ts'
import type { Context } from '../state/context.ts'
import type { LinksDue } from '../state/effect.ts'
import { fingerprintScope, settingsOf } from '../state/state.ts'
import { changeAlert } from './alerts.ts'
import { servicesIn } from './attribution.ts'
import { newestOf } from './live-service.ts'
import { addSilence, expireSilence } from './silences/silences.ts'

/** The author shown in timelines and lists. */
const AUTHOR = 'incmon'

/** Rules that compare only names. Another team's project can have the same name or environment. */
const WEAK_RULES: ReadonlySet<string> = new Set(['environment', 'slug'])

const TEN_MINUTES = 600_000

/**
 * Adds a pipeline or job notification to its pipeline. Returns the services of alerts that it ends.
 * @param event the stored event
 */
export function learnPipeline(
  ctx: Context,
  service: LiveService,
  draft: PipelineDraft | JobDraft,
  rule: string,
  event: { readonly rowId: number; readonly id: string },
  now: number,
): number[] {
  newestOf(ctx, service)
  const ref = refOf(ctx, draft)
  const before = findPipeline(ctx, ref)
  const facts = absorbNotification(before?.facts ?? null, draft, rule)
  const pipeline: LivePipeline = {
    kind: 'pipeline',
    ref,
    service: service.id,
    serviceId: service.rowId,
    eventId: event.id,
    facts,
    ...intervalOf(facts, service),
  }
  ctx.emit({ kind: 'pipeline-changed', organizationId: ctx.state.rowId, pipeline, eventRowId: event.rowId })
  silenceDeploy(ctx, service, pipeline, before?.facts ?? null, rule, now)
  const left = before && before.serviceId !== service.rowId ? ctx.state.services.get(before.serviceId) : null
  // If a better rule moved the pipeline to this service, the pipeline's links to conditions of the previous service are
  // removed.
  if (left) ctx.emit({ kind: 'links-due', due: { service: left, of: { kind: 'moved', change: 'pipeline', ref }, now } })
  for (const one of [service, ...targetsOf(ctx, service, pipeline)])
    ctx.emit({ kind: 'links-due', due: { service: one, of: { kind: 'pipeline', ref }, now } })
  if (draft.kind === 'job') return endFailedDeploys(ctx, { ...draft, jobs: [draft.job] }, now)
  return [...endFailedDeploys(ctx, draft, now), ...endOtherFailure(ctx, draft, before?.facts ?? null, now)]
}

/**
 * Creates a silence when a deploy of the service starts, and ends the silence when the deploy ends. Does nothing if the
 * duration is 0.
 * @param rule the rule that matched the pipeline to the service; a weak rule never creates a silence
 */
function silenceDeploy(
  ctx: Context,
  service: LiveService,
  { ref, facts, startsAt }: LivePipeline,
  before: PipelineFacts | null,
  rule: string,
  now: number,
): void {
  const deploys = (one: PipelineFacts) => isDeploying(one) && reaches(one, service)
  const [was, is] = [before !== null && deploys(before), deploys(facts)]
  if (was === is) return
  const comment = `Deploy ${ref} is running`
  if (!is) {
    endSilence(ctx, comment, now)
    return
  }
  const minutes = settingsOf(ctx.state)['deploy-silence-minutes']
  const endsAt = startsAt + minutes * MINUTE
  // A notification that arrives late creates no silence.
  if (minutes === 0 || endsAt <= now || WEAK_RULES.has(rule)) return
  const { name, namespace, cluster } = service
  const matchers = Object.entries({ service: name, namespace, cluster }).map(([label, value]) => {
    return { name: label, op: '=' as const, value }
  })
  // A service has one deploy silence at a time, so that further pipelines cannot extend the silence.
  if (activeSilences(ctx, now).some((silence) => formatMatchers(silence.matchers) === formatMatchers(matchers))) return
  addSilence(ctx, { matchers, startsAt: now, endsAt, schedule: null, comment }, AUTHOR, now)
}

function endSilence(ctx: Context, comment: string, now: number): void {
  for (const silence of activeSilences(ctx, now)) if (silence.comment === comment) expireSilence(ctx, silence.id, now)
}

function activeSilences(ctx: Context, now: number) {
  return [...ctx.state.silences.values()]
    .map(({ silence }) => silence)
    .filter((silence) => silence.createdBy === AUTHOR && statusOf(silence, now) !== 'expired')
}

/** Returns the other services that a pipeline deployed: those that run an image of its commit, else by environment. */
function targetsOf(ctx: Context, own: LiveService, { facts }: LivePipeline): LiveService[] {
  const running = [...ctx.state.projects.get(facts.project.toLowerCase())].flatMap((rowId) => {
    const service = rowId === own.rowId ? undefined : ctx.state.services.get(rowId)
    if (!service) return []
    const images = ctx.state.images.get(rowId) ?? ctx.fact('images', { serviceId: rowId })
    return runsCommit(images, facts) ? [service] : []
  })
  if (running.length > 0) return running
  const named = (name: string) => servicesIn(ctx.state, ctx.state.servicesByName.get(name))
  return deployedServices(facts, named).filter((service) => service.rowId !== own.rowId)
}

/** Ends the failed deploys to each environment to which a pipeline or a job has now deployed. */
function endFailedDeploys(ctx: Context, draft: Parameters<typeof deployedBy>[0], now: number): number[] {
  return deployedBy(draft).flatMap(({ fingerprint, at }) => {
    const live = firingFailure(ctx, fingerprint)
    return live && live.alert.lastSeenAt <= at ? [endFailure(ctx, live, at, now)] : []
  })
}

/**
 * A pipeline that failed, was retried and failed in another way has one alert: that of its last failure. Ends the alert
 * of the earlier failure, in whatever order the two are reported.
 */
function endOtherFailure(ctx: Context, draft: PipelineDraft, before: PipelineFacts | null, now: number): number[] {
  if (draft.status !== 'failed' || before?.status !== 'failed' || draft.pipelineId === null) return []
  const [earlier, later] = [draft.at, before.statusAt].sort((a, b) => a - b)
  const failures = failuresOf(draft).flatMap((fingerprint) => firingFailure(ctx, fingerprint) ?? [])
  const isLast = failures.some(({ alert }) => alert.lastSeenAt === later)
  if (earlier === later || later === undefined || !isLast) return []
  return failures.filter(({ alert }) => alert.lastSeenAt === earlier).map((live) => endFailure(ctx, live, later, now))
}

function firingFailure(ctx: Context, fingerprint: string): LiveAlert | null {
  const rowId = ctx.state.alertByFingerprint.get(fingerprintScope('ci', ''), fingerprint)
  const live = rowId === undefined ? undefined : ctx.state.alerts.get(rowId)
  return live?.alert.status === 'firing' ? live : null
}

/** Ends the alert of a failed pipeline. Returns its service. */
function endFailure(ctx: Context, live: LiveAlert, at: number, now: number): number {
  const ended = { ...live.alert, status: 'resolved', resolution: 'reported', endsAt: at, endedAt: now } as const
  const { alert, dueAt } = settle(ended, { delivery: null, metricsFiring: false, repeats: true }, now)
  changeAlert(ctx, live, { ...live, alert, dueAt, fingerprints: null }, now)
  return live.serviceId
}

/** Schedules a recomputation of a service's links after an image pull, because a pipeline may have built the image. */
export function linkImage(ctx: Context, service: LiveService, at: number, now: number): void {
  const of = { kind: 'changes', from: at - DAY, to: at + AFTER } as const
  ctx.emit({ kind: 'links-due', due: { service, of, now } })
}

/**
 * Schedules a recomputation of the links between a condition and the service's changes around the same time.
 * @param previous the alert before the item, or null if the item opened the alert
 */
export function linkCondition(
  ctx: Context,
  service: LiveService,
  { alertId, firstSeenAt, at }: { readonly alertId: number; readonly firstSeenAt: number; readonly at: number },
  { startsAt, previous, now }: { readonly startsAt: number; readonly previous: Alert | null; readonly now: number },
): void {
  const from = Math.max(firstSeenAt, at - DAY)
  const newestAt = newestOf(ctx, service).changeAt + 2 * DAY
  const emit = (of: LinksDue['of']) => ctx.emit({ kind: 'links-due', due: { service, of, now } })
  if (from <= newestAt) emit({ kind: 'condition', alertId, firstSeenAt: from, at })
  const isNewStart = startsAt < (previous?.startsAt ?? from)
  if (isNewStart && startsAt <= newestAt) emit({ kind: 'start', alertId, at: startsAt })
}

function findPipeline(ctx: Context, ref: string): LivePipeline | null {
  return ctx.state.pipelines.get(ref) ?? ctx.fact('pipeline', { ref })
}

/**
 * Returns the pipeline's reference. The minimal payload has no id, so notifications with the same ref, status and
 * duration within ten minutes are treated as one pipeline.
 */
function refOf(ctx: Context, draft: PipelineDraft | JobDraft): string {
  if (draft.pipelineId !== null) return `${draft.project.path}#${draft.pipelineId}`
  if (draft.kind === 'job') return `${draft.project.path}@${draft.ref}`
  const duration = draft.duration === null ? '' : ` ${draft.duration}s`
  const base = `${draft.project.path}@${draft.ref} ${draft.status}${duration}`
  const slot = Math.floor(draft.at / TEN_MINUTES)
  const known = [slot - 1, slot, slot + 1]
    .map((near) => `${base} ${near}`)
    .find((ref) => {
      const pipeline = findPipeline(ctx, ref)
      return pipeline !== null && Math.abs(pipeline.facts.statusAt - draft.at) <= TEN_MINUTES
    })
  return known ?? `${base} ${slot}`
}
