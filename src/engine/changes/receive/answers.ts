/** The answers to earlier requests, so that a request that is sent again has no effect. */
import type { Intake, Source } from '../../../domain/event/event.ts'
import { digest } from '../../../domain/event/fingerprint.ts'
import { type KeyUse, useOf, withAnswer } from '../../../domain/request/idempotency.ts'
import type { Context } from '../../state/context.ts'

/** A request with items of one sender. */
export type SentRequest = {
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
}

const REMEMBERED = 24 * 3_600_000
/** Copies of one GitLab event arrive within this time. */
const COPY_WITHIN = 10 * 60_000

/**
 * Returns the key under which the response is stored. The key includes the cluster because two clusters can send the
 * same Idempotency-Key.
 */
function answerKey({ cluster, idempotencyKey }: Pick<SentRequest, 'cluster' | 'idempotencyKey'>): string | null {
  return cluster === '' || idempotencyKey === null ? idempotencyKey : `${cluster}\n${idempotencyKey}`
}

/** Returns whether the Idempotency-Key was used in the last 24 hours, and if so, whether the body was the same. */
export function keyUseOf<Receipt>(ctx: Context, delivery: SentRequest): KeyUse<Receipt> {
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

function storedAnswer(
  ctx: Context,
  { source, receivedAt }: SentRequest,
  key: string,
  within = REMEMBERED,
): string | null {
  const unsaved = ctx.state.unsavedAnswers.get(`${source} ${key}`)
  return unsaved ?? ctx.fact('answer', { source, key, since: receivedAt - within })
}

export function rememberAnswer(
  ctx: Context,
  delivery: SentRequest,
  receipt: { readonly eventIds: readonly string[] },
): void {
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
