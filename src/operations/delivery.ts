/** One delivery: its items become events, its conditions alerts, and its sender is heard. Inside a transaction. */
import type { Intake, Source } from '../domain/event/event.ts'
import { type KeyUse, useOf, withAnswer } from '../domain/idempotency.ts'
import { findAnswer, storeAnswer } from '../store/deliveries.ts'
import { insertRejection } from '../store/rejections.ts'
import type { Db } from '../store/sqlite/open.ts'
import type { ItemDecision } from './decision.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { type Taken, takeItem } from './item.ts'
import { type Heard, hear, hearMore, UNHEARD } from './senders.ts'

export type Delivery = {
  readonly organizationId: number
  /** The token's; '' where it names none. */
  readonly cluster: string
  readonly source: Source
  readonly intake: Intake
  readonly receivedAt: number
  readonly idempotencyKey: string | null
  /** Equal for equal bodies. Absent if the key itself is made from the body. */
  readonly bodyHash?: string
  readonly dryRun: boolean
  /** Whether this very intake was received before. */
  readonly isRecalled: boolean
  /** How long it was as it was sent, where that is known: what is very long is stored in parts. */
  readonly bytes?: number
  /** Of which larger delivery it is a part. */
  readonly part?: Part
}

export type Part = {
  /** All that was sent. */
  readonly whole: Intake
  /** What came of the parts before; null for the first. */
  readonly before: Pick<Received, 'receipt' | 'heard'> | null
  readonly isLast: boolean
}

/** What came of a delivery. Of a part the receipt is that of all up to it. */
export type Received = {
  readonly receipt: Receipt
  readonly heard: Heard
  /** The services whose health it may have changed. */
  readonly serviceIds: readonly number[]
  /** `part`: more of it is to come; `repeated`: answered by its Idempotency-Key. */
  readonly kind: 'stored' | 'part' | 'repeated' | 'dry run'
}

export type Receipt = {
  /** One for each accepted item, in order. */
  readonly eventIds: string[]
  readonly rejected: { readonly index: number; readonly error: string }[]
  /** Every item said only what its alert's last event had said. */
  readonly isRepeat: boolean
  /** The Idempotency-Key came with another body in the last 24 hours. */
  readonly isKeyReused?: boolean
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

/** Takes in a delivery, or the next part of one, which is heard with its first part and answered with its last. */
export function receive(deps: Deps, delivery: Delivery): Received {
  const { intake, dryRun, part } = delivery
  const before = part?.before ?? null
  const use: KeyUse<Receipt> = before ? { kind: 'new' } : keyUseOf(deps.db, delivery)
  if (use.kind === 'repeated') return { receipt: use.answer, heard: UNHEARD, serviceIds: [], kind: 'repeated' }
  const heard = before ? hearMore(deps, delivery, before.heard) : hear(deps, delivery)
  const items = intake.accepted.map(({ index, draft }) => takeItem(deps, { ...delivery, index, draft, ...heard }))
  for (const rejected of intake.rejected) insertRejection(deps.db, { uuid: deps.newId(), ...delivery, ...rejected })
  const own = {
    eventIds: items.map(({ eventId }) => eventId),
    rejected: intake.rejected.map(({ index, error }) => ({ index, error })),
    isRepeat: (part?.whole ?? intake).accepted.length > 0 && items.every(({ isRepeat }) => isRepeat),
    ...(use.kind === 'reused' ? { isKeyReused: true } : {}),
  }
  const serviceIds = [...new Set(items.flatMap((item) => item.serviceIds))]
  if (dryRun) throw new DryRun({ ...own, decisions: withHealth(deps, delivery, items) })
  const receipt = before ? joined(before.receipt, own) : own
  if (part && !part.isLast) return { receipt, heard, serviceIds, kind: 'part' }
  const key = answerKey(delivery)
  if (key !== null) remember(deps, delivery, key, receipt)
  return { receipt, heard, serviceIds, kind: 'stored' }
}

function joined(before: Receipt, own: Receipt): Receipt {
  return {
    eventIds: before.eventIds.concat(own.eventIds),
    rejected: before.rejected.concat(own.rejected),
    isRepeat: before.isRepeat && own.isRepeat,
    ...(before.isKeyReused ? { isKeyReused: true } : {}),
  }
}

/** Under what its answer is kept: two clusters may number alike. */
function answerKey({ cluster, idempotencyKey }: Pick<Delivery, 'cluster' | 'idempotencyKey'>): string | null {
  return cluster === '' || idempotencyKey === null ? idempotencyKey : `${cluster}\n${idempotencyKey}`
}

/** Tells whether a delivery with this Idempotency-Key came in the last 24 hours, with the same body or with another. */
export function keyUseOf(db: Db, delivery: Delivery): KeyUse<Receipt> {
  const { organizationId, source, receivedAt, bodyHash = '', dryRun } = delivery
  const key = answerKey(delivery)
  if (key === null || dryRun) return { kind: 'new' }
  return useOf(findAnswer(db, organizationId, source, key, receivedAt - REMEMBERED), bodyHash, receivedAt)
}

function remember(deps: Deps, delivery: Delivery, key: string, receipt: Receipt): void {
  const { organizationId, source, receivedAt, bodyHash = '' } = delivery
  // A request of which nothing was usable is answered by a refusal, and may be mended and sent again.
  if (receipt.eventIds.length === 0) return
  const stored = findAnswer(deps.db, organizationId, source, key, receivedAt - REMEMBERED)
  const answer = withAnswer(stored, bodyHash, receipt, receivedAt)
  storeAnswer(deps.db, { organizationId, source, key, answer, receivedAt })
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
