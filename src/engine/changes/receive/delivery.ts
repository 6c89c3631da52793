/** Processes a webhook request, or one chunk of a large request: its events, its alerts and its response. */
import { identityText, rulesText } from '../../../domain/alert/rules.ts'
import { BACKLOG } from '../../../domain/alert/unavailable.ts'
import type { Intake, Source } from '../../../domain/event/event.ts'
import { digest } from '../../../domain/event/fingerprint.ts'
import { shownPenalty } from '../../../domain/health/penalty-text.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { type KeyUse, useOf, withAnswer } from '../../../domain/request/idempotency.ts'
import { corrected } from '../../../domain/sender/sender.ts'
import { ruleText } from '../../../domain/service/service.ts'
import { warningsAbout } from '../../../domain/service/warnings.ts'
import { SECOND } from '../../../domain/units.ts'
import type { WatchUpdate } from '../../../domain/watch/object.ts'
import type { Context } from '../../state/context.ts'
import { findService } from '../attribution.ts'
import { evaluate } from '../evaluate.ts'
import { makeDue } from '../live-service.ts'
import { outcomeOf } from '../outcome.ts'
import { reportShortages, shortageWarning } from '../shortage.ts'
import { decideItem, type ItemResult } from './item.ts'
import type { ItemDecision, Receipt, Warning } from './receipt.ts'
import { countLaterChunk, NO_SENDER, type SenderFacts, updateSender } from './senders.ts'
import { endSkipped } from './skipped-ends.ts'

/** A request with items of one sender. */
export type Delivery = {
  readonly organizationId: number
  readonly source: Source
  /** The cluster assigned to the token, or ''. */
  readonly cluster: string
  readonly intake: Intake
  readonly receivedAt: number
  readonly idempotencyKey: string | null
  /** A hash of the body. Absent if the Idempotency-Key itself is computed from the body. */
  readonly bodyHash?: string
  readonly dryRun: boolean
  /** The name of the token. Absent if the items came without one. */
  readonly token?: string
  /** Whether the same bytes were received before. If so, the parsed items came from the cache. */
  readonly isFromCache: boolean
  /** The size of the body, if known. A large body is stored in chunks. */
  readonly bytes?: number
  /** What a watch of a cluster saves together with its observations. */
  readonly watch?: WatchUpdate
  /** Set if this delivery is a chunk of a larger delivery. */
  readonly part?: Chunk
}

type Chunk = {
  /** The parsed items of the whole request. */
  readonly whole: Intake
  /** The result of the earlier chunks; null for the first chunk. */
  readonly before: Pick<Received, 'receipt' | 'sent' | 'waiting'> | null
  readonly isLast: boolean
}

/** The result of a delivery. The receipt of a chunk also includes the earlier chunks. */
export type Received = {
  readonly receipt: Receipt
  readonly sent: SenderFacts
  /** Row ids of services whose health may have changed. */
  readonly serviceIds: readonly number[]
  /** Of a chunk that is not the last one: row ids of the services to evaluate with the last chunk. */
  readonly waiting: ReadonlySet<number>
  /**
   * `part`: more chunks follow. `repeated`: the Idempotency-Key was already used, so the stored response is returned.
   */
  readonly kind: 'stored' | 'part' | 'repeated' | 'dry run'
}

const NONE: ReadonlySet<number> = new Set()
/** How long a service waits for the last chunk, so that what is sent together is told together. */
const WAITS = SECOND
/** The maximum number of services of earlier chunks that are evaluated with the last one. The sweep evaluates the rest. */
const MAX_WAITING = 50

const MAX_WARNINGS = 100
/** The maximum number of penalties in the response to a dry run. Only the largest penalties are included. */
const MAX_PENALTIES = 10

/** Processes a delivery or a chunk. The first chunk updates the sender, and the last chunk stores the response. */
export function receive(ctx: Context, delivery: Delivery): Received {
  const { intake, part } = delivery
  const incidents = new Map(delivery.dryRun ? [...ctx.state.incidents.values()].map((one) => [one.rowId, one]) : [])
  const before = part?.before ?? null
  const use: KeyUse<Receipt> = before ? { kind: 'new' } : keyUseOf(ctx, delivery)
  if (use.kind === 'repeated')
    return { receipt: use.answer, sent: NO_SENDER, serviceIds: [], waiting: NONE, kind: 'repeated' }
  const { organizationId, source, cluster, token = null, receivedAt, isFromCache } = delivery
  const whole = part?.whole ?? intake
  const sending = { source, cluster, token, intake, whole, receivedAt }
  if (before) countLaterChunk(ctx, sending)
  const sent = before?.sent ?? updateSender(ctx, sending)
  const drafted = intake.accepted.map((accepted) => {
    return { accepted, draft: corrected(accepted.draft, sent.clockOffset, receivedAt) }
  })
  endSkipped(ctx, sent, cluster, drafted, receivedAt)
  const decided = drafted.map(({ accepted, draft }) => {
    return { accepted, ...decideItem(ctx, { ...sent, cluster, receivedAt, isFromCache, draft }) }
  })
  const items = decided.flatMap((one) => ('refused' in one ? [] : [one]))
  const refused = decided.flatMap((one) => ('refused' in one ? [one.refused] : []))
  for (const rejected of intake.rejected) {
    const rejection = { id: ctx.newId(), organizationId, source, receivedAt, ...rejected }
    ctx.emit({ kind: 'item-rejected', rejection })
  }
  const own: Receipt = {
    eventIds: items.map(({ eventId }) => eventId),
    rejected: intake.rejected.map(({ index, error }) => ({ index, error })),
    isRepeat: whole.accepted.length > 0 && refused.length === 0 && items.every(({ isRepeat }) => isRepeat),
    ...(use.kind === 'reused' ? { isKeyReused: true } : {}),
    ...(refused[0] ? { refused: { items: refused.length, shortage: refused[0] } } : {}),
    ...warningsOf(ctx, delivery, items, sent.clockOffset),
  }
  if (delivery.dryRun) return dryRunReceipt(ctx, delivery, items, own, { sent, incidents })
  const shortages = new Set([...refused, ...items.flatMap(({ shortage }) => shortage ?? [])])
  const serviceIds = [...items.flatMap((item) => item.serviceIds), ...reportShortages(ctx, shortages, receivedAt)]
  const receipt = before ? joined(before.receipt, own) : own
  if (part && !part.isLast) {
    for (const id of serviceIds) makeDue(ctx, id, receivedAt + WAITS)
    const waiting = new Set([...(before?.waiting ?? NONE), ...serviceIds])
    return { receipt, sent, serviceIds: [], waiting, kind: 'part' }
  }
  if (delivery.watch) ctx.emit({ kind: 'watch-saved', organizationId, update: delivery.watch })
  // If the same request arrives again, its refused items may find room.
  if (!receipt.refused) rememberAnswer(ctx, delivery, receipt)
  const waiting = [...(before?.waiting ?? NONE)]
  for (const id of waiting.slice(MAX_WAITING)) makeDue(ctx, id, receivedAt)
  return {
    ...{ receipt, sent, waiting: NONE, kind: 'stored' },
    serviceIds: [...serviceIds, ...waiting.slice(0, MAX_WAITING)],
  }
}

/** A stored item with the accepted item of the request. */
type StoredItem = ItemResult & { readonly accepted: Intake['accepted'][number] }

function warningsOf(
  ctx: Context,
  { cluster }: Delivery,
  items: readonly StoredItem[],
  clockOffset: number,
): Pick<Receipt, 'warnings'> {
  const warnings: Warning[] = []
  for (const { accepted, match, shortage } of items) {
    if (warnings.length >= MAX_WARNINGS) break
    const { index, draft, warnings: own = [] } = accepted
    if (shortage) warnings.push({ index, warning: shortageWarning(shortage, ctx.limits()) })
    const found = [...own, ...warningsAbout(draft, match.attribution.rule, cluster, clockOffset)]
    for (const warning of found) warnings.push({ index, warning })
  }
  return warnings.length > 0 ? { warnings: warnings.slice(0, MAX_WARNINGS) } : {}
}

function joined(before: Receipt, own: Receipt): Receipt {
  return {
    eventIds: before.eventIds.concat(own.eventIds),
    rejected: before.rejected.concat(own.rejected),
    isRepeat: before.isRepeat && own.isRepeat,
    ...joinedRefusals(before.refused, own.refused),
    ...(before.isKeyReused ? { isKeyReused: true } : {}),
    ...(before.warnings || own.warnings
      ? { warnings: [...(before.warnings ?? []), ...(own.warnings ?? [])].slice(0, MAX_WARNINGS) }
      : {}),
  }
}

function joinedRefusals(before: Receipt['refused'], own: Receipt['refused']): Pick<Receipt, 'refused'> {
  if (!before || !own) return before || own ? { refused: before ?? own } : {}
  return { refused: { ...before, items: before.items + own.items } }
}

/** Builds the receipt for a dry run. The engine then adds the links and rolls the effects back. */
function dryRunReceipt(
  ctx: Context,
  { receivedAt }: Delivery,
  items: readonly StoredItem[],
  own: Receipt,
  { sent, incidents }: { readonly sent: SenderFacts; readonly incidents: ReadonlyMap<number, LiveIncident> },
): Received {
  // A pipeline can create a service without an alert.
  const affected = items.map(({ match, result }) => {
    return result?.live.serviceId ?? match.service?.rowId ?? findService(ctx.state, match.key)?.rowId
  })
  // A recorded Kubernetes event is late, and a late event opens its incident a moment after its receipt.
  const health = new Map(
    [...new Set(affected)].map((id) => [id, id === undefined ? null : evaluate(ctx, id, receivedAt + BACKLOG)]),
  )
  const decisions = items.map((item, position): ItemDecision => {
    const found = health.get(affected[position])
    const tried = item.result ? outcomeOf(ctx, incidents, item.result.live.rowId, receivedAt) : null
    const decision = { ...explain(item.accepted.index, item, sent), ...tried }
    if (!found) return decision
    const { status, score } = found
    // Listing every penalty for every item would make the response too large.
    return {
      ...decision,
      health: { status, score, penalties: found.penalties.slice(0, MAX_PENALTIES).map(shownPenalty) },
    }
  })
  return { receipt: { ...own, decisions }, sent, serviceIds: [], waiting: NONE, kind: 'dry run' }
}

function explain(
  index: number,
  { match, event, result, byLabels }: ItemResult,
  { clockOffset }: SenderFacts,
): ItemDecision {
  const { cluster, namespace, name } = match.key
  const alert = result?.live.alert
  return {
    index,
    ...(result ? { alertRowId: result.live.rowId } : {}),
    event,
    clockOffset,
    service: { cluster, namespace, name, rule: ruleText(match.attribution.rule), isNew: match.service === null },
    alert: alert
      ? {
          change: result.change,
          name: alert.name,
          severity: alert.severity,
          status: alert.status,
          fingerprint: alert.fingerprint,
          rules: { ...rulesText(alert.rules), identity: identityText(alert.rules, byLabels) },
        }
      : null,
    health: null,
    correlations: [],
    outcome: null,
    suspects: [],
  }
}

// The answers to earlier requests, so that a request that is sent again has no effect.

const REMEMBERED = 24 * 3_600_000
/** Copies of one GitLab event arrive within this time. */
const COPY_WITHIN = 10 * 60_000

/**
 * Returns the key under which the response is stored. The key includes the cluster because two clusters can send the
 * same Idempotency-Key.
 */
function answerKey({ cluster, idempotencyKey }: Pick<Delivery, 'cluster' | 'idempotencyKey'>): string | null {
  return cluster === '' || idempotencyKey === null ? idempotencyKey : `${cluster}\n${idempotencyKey}`
}

/** Returns whether the Idempotency-Key was used in the last 24 hours, and if so, whether the body was the same. */
function keyUseOf<Receipt>(ctx: Context, delivery: Delivery): KeyUse<Receipt> {
  const { receivedAt, bodyHash = '', dryRun } = delivery
  if (dryRun) return { kind: 'new' }
  const key = answerKey(delivery)
  const use: KeyUse<Receipt> =
    key === null ? { kind: 'new' } : useOf(storedAnswer(ctx, delivery, key), bodyHash, receivedAt)
  const event = use.kind === 'repeated' ? null : eventKey(delivery.intake)
  const copy = event === null ? null : useOf<Receipt>(storedAnswer(ctx, delivery, event, COPY_WITHIN), '', receivedAt)
  return copy?.kind === 'repeated' ? copy : use
}

/**
 * Returns a key that is equal for copies of one GitLab event, or null for other senders. A project hook and a group hook
 * send the same event under different Idempotency-Keys. A pipeline or job that has ended is the same event if its status
 * and the time of its end are the same.
 */
function eventKey({ accepted }: Intake): string | null {
  const draft = accepted[0]?.draft
  if (draft?.source !== 'ci') return null
  const { kind, project } = draft
  const id = kind === 'pipeline' ? draft.pipelineId : kind === 'job' ? draft.job.id : null
  const { status, finishedAt } =
    kind === 'pipeline' ? draft : kind === 'job' ? draft.job : { status: '', finishedAt: null }
  if (!project || id === null || finishedAt === null) return `event ${digest(draft.payload)}`
  return `event ${digest(kind, project.path, id, status, String(finishedAt))}`
}

function storedAnswer(ctx: Context, { source, receivedAt }: Delivery, key: string, within = REMEMBERED): string | null {
  const unsaved = ctx.state.unsavedAnswers.get(`${source} ${key}`)
  return unsaved ?? ctx.fact('answer', { source, key, since: receivedAt - within })
}

function rememberAnswer(ctx: Context, delivery: Delivery, receipt: { readonly eventIds: readonly string[] }): void {
  // A request without any usable item can be corrected and sent again under the same key.
  if (receipt.eventIds.length === 0) return
  const { organizationId, source, receivedAt, bodyHash = '' } = delivery
  const store = (key: string | null, hash: string) => {
    if (key === null) return
    const answer = withAnswer(storedAnswer(ctx, delivery, key), hash, receipt, receivedAt)
    ctx.emit({ kind: 'answer-stored', answer: { organizationId, source, key, answer, receivedAt } })
  }
  store(answerKey(delivery), bodyHash)
  store(eventKey(delivery.intake), '')
}
