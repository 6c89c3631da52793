/** One delivery: its items become events, its conditions alerts, and its sender is heard. Inside a transaction. */
import type { Draft, Intake, Source } from '../domain/event.ts'
import { digest } from '../domain/fingerprint.ts'
import { beat } from '../domain/heartbeat.ts'
import { deliver, silenceOf, withPause } from '../domain/rhythm.ts'
import { findAnswer, storeAnswer } from '../store/deliveries.ts'
import { hastenGroup, hearGroup } from '../store/due-alerts.ts'
import { findGroup, insertGroup, updateGroup } from '../store/groups.ts'
import type { Db } from '../store/open.ts'
import { insertRejection } from '../store/rejections.ts'
import { findOrMakeSender, type SenderRow, updateSender } from '../store/sender-rows.ts'
import type { ItemDecision } from './decision.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { type Taken, takeItem } from './item.ts'
import { endSilence } from './silence.ts'

export type Delivery = {
  readonly organizationId: number
  /** The token's; '' where it names none. */
  readonly cluster: string
  readonly source: Source
  readonly intake: Intake
  readonly receivedAt: number
  readonly idempotencyKey: string | null
  readonly dryRun: boolean
  /** Whether this very intake was received before. */
  readonly isRecalled: boolean
}

export type Receipt = {
  /** One for each accepted item, in order. */
  readonly eventIds: string[]
  readonly rejected: { readonly index: number; readonly error: string }[]
  /** Every item said only what its alert's last event had said. */
  readonly isRepeat: boolean
  /** Of a dry run alone: what would happen to each accepted item, with the rule of each decision. */
  readonly decisions?: ItemDecision[]
}

/** Ends the savepoint of a dry run, so that what was tried is undone. */
export class DryRun extends Error {
  readonly receipt: Receipt
  constructor(receipt: Receipt) {
    super('dry run')
    this.receipt = receipt
  }
}

const REMEMBERED = 24 * 3_600_000
/** Of a dry run, the heaviest. */
const MOST_PENALTIES = 10

/** What the delivery is answered, and the services whose health it may have changed. */
export function receive(
  deps: Deps,
  delivery: Delivery,
): { receipt: Receipt; serviceIds: number[]; isAnsweredAgain: boolean } {
  const answered = answerTo(deps.db, delivery)
  if (answered) return { receipt: answered, serviceIds: [], isAnsweredAgain: true }
  const { intake, dryRun } = delivery
  const sender = hear(deps, delivery)
  const items = intake.accepted.map(({ index, draft }) => takeItem(deps, { ...delivery, index, draft, ...sender }))
  for (const rejected of intake.rejected) insertRejection(deps.db, { uuid: deps.newId(), ...delivery, ...rejected })
  const receipt = {
    eventIds: items.map(({ eventId }) => eventId),
    rejected: intake.rejected.map(({ index, error }) => ({ index, error })),
    isRepeat: items.length > 0 && items.every(({ isRepeat }) => isRepeat),
  }
  const serviceIds = [...new Set(items.flatMap((item) => item.serviceIds))]
  if (dryRun) throw new DryRun({ ...receipt, decisions: withHealth(deps, delivery, items) })
  const key = answerKey(delivery)
  if (key !== null) remember(deps, delivery, key, receipt)
  return { receipt, serviceIds, isAnsweredAgain: false }
}

/** Under what its answer is kept: two clusters may number alike. */
function answerKey({ cluster, idempotencyKey }: Pick<Delivery, 'cluster' | 'idempotencyKey'>): string | null {
  return cluster === '' || idempotencyKey === null ? idempotencyKey : `${cluster}\n${idempotencyKey}`
}

/** What a delivery of this Idempotency-Key was answered in the last 24 hours; null where there was none. */
export function answerTo(db: Db, delivery: Delivery): Receipt | null {
  const { organizationId, source, receivedAt, dryRun } = delivery
  const key = answerKey(delivery)
  if (key === null || dryRun) return null
  const answer = findAnswer(db, organizationId, source, key, receivedAt - REMEMBERED)
  return answer === null ? null : (JSON.parse(answer) as Receipt)
}

function remember(deps: Deps, { organizationId, source, receivedAt }: Delivery, key: string, receipt: Receipt): void {
  // A request of which nothing was usable is answered by a refusal, and may be mended and sent again.
  if (receipt.eventIds.length === 0) return
  storeAnswer(deps.db, { organizationId, source, key, answer: JSON.stringify(receipt), receivedAt })
}

function withHealth(deps: Deps, { receivedAt }: Delivery, items: readonly Taken[]): ItemDecision[] {
  const ids = new Set(items.flatMap(({ serviceIds: [id] }) => id ?? []))
  const found = new Map([...ids].map((id) => [id, evaluate(deps, id, receivedAt)]))
  return items.flatMap(({ decision, serviceIds: [serviceId] }) => {
    if (!decision) return []
    const health = serviceId === undefined ? null : found.get(serviceId)
    if (!health) return decision
    const { status, score } = health
    // Every item bears them: of a storm all of them together would be more than can be sent.
    const penalties = health.penalties.slice(0, MOST_PENALTIES)
    return { ...decision, health: { status, score, penalties } }
  })
}

/** Counts the delivery for its sender, learns the rhythm of its group, and hears the heart beat. */
function hear(deps: Deps, delivery: Delivery): { groupId: number | null; silence: number | null } {
  const { organizationId, source, cluster, intake, receivedAt } = delivery
  const receiver = intake.group?.receiver ?? ''
  const before = findOrMakeSender(deps.db, { organizationId, source, cluster, receiver })
  const reportsEnds = before.reportsEnds || intake.accepted.some(({ draft }) => isReportedEnd(draft))
  const counted = count({ ...before, reportsEnds }, intake, receivedAt)
  const { sender, groupId, rhythm } = intake.group
    ? hearMembers(deps, counted, intake.group, receivedAt)
    : { sender: counted, groupId: null, rhythm: null }
  const beats = intake.accepted.some(({ draft }) => isBeat(draft))
  updateSender(deps.db, beats ? { ...sender, ...beat(sender, receivedAt, sender.rhythm) } : sender)
  if (beats && before.heartbeatAt !== null && before.heartbeatDueAt === null) endSilence(deps, before, receivedAt)
  return { groupId, silence: reportsEnds ? null : silenceOf(rhythm, sender.rhythm) }
}

function isReportedEnd(draft: Draft): boolean {
  return (draft.source === 'metrics' || draft.source === 'dashboard') && draft.status === 'resolved'
}

/** Watchdog alone, while it fires: InfoInhibitor comes and goes, and an end says that nobody is awake any more. */
function isBeat(draft: Draft): boolean {
  return 'nature' in draft && draft.nature === 'heartbeat' && draft.name === 'Watchdog' && draft.status === 'firing'
}

function count(sender: SenderRow, { accepted, rejected }: Intake, at: number): SenderRow {
  return {
    ...sender,
    events: sender.events + accepted.length,
    rejections: sender.rejections + rejected.length,
    // What is imported may have been received before.
    lastEventAt: accepted.length > 0 ? Math.max(sender.lastEventAt ?? at, at) : sender.lastEventAt,
    lastRejectionAt: rejected.length > 0 ? at : sender.lastRejectionAt,
  }
}

function hearMembers(deps: Deps, sender: SenderRow, sent: NonNullable<Intake['group']>, at: number) {
  const { members, truncated } = sent
  const key = digest(sent.key)
  const before = findGroup(deps.db, sender.id, key)
  const delivered = deliver(before, { members, at })
  const { group } = delivered
  const groupId = before?.id ?? insertGroup(deps.db, sender.id, key, group)
  if (before) updateGroup(deps.db, sender.id, key, { id: groupId, ...group })
  const rhythm = withPause(sender.rhythm, before, delivered)
  if (truncated) hearGroup(deps.db, groupId, at)
  // Members of this delivery are heard with it; only what is missing from it may be due sooner than was known.
  const silence = silenceOf(group, rhythm)
  if (!sender.reportsEnds && silence < silenceOf(before, sender.rhythm)) hastenGroup(deps.db, groupId, silence)
  return { sender: { ...sender, rhythm }, groupId, rhythm: group }
}
