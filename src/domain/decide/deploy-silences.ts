/** Silences of deploys: a setting lets a running deploy silence its own service. */
import { isDeploying, type PipelineFacts } from '../correlation/change.ts'
import { statusOf } from '../silence/silence.ts'
import type { Context } from '../state/context.ts'
import type { LivePipeline, LiveService } from '../state/live.ts'
import { createSilence, expireSilence } from './silences.ts'

const MINUTE = 60_000
/** The author that timelines and lists show. */
const AUTHOR = 'incmon'

/** Creates a silence when a deploy of the service begins, and ends it with the deploy. The setting 0 turns this off. */
export function silenceDeploy(
  ctx: Context,
  service: LiveService,
  { ref, facts, startsAt }: LivePipeline,
  before: PipelineFacts | null,
  now: number,
): void {
  const [was, is] = [before !== null && isDeploying(before), isDeploying(facts)]
  if (was === is) return
  const comment = `Deploy ${ref} is running`
  if (!is) {
    endSilence(ctx, comment, now)
    return
  }
  const minutes = ctx.state.settings.get('settings')?.['deploy-silence-minutes'] ?? 0
  const endsAt = startsAt + minutes * MINUTE
  // A notification that comes late silences nothing.
  if (minutes === 0 || endsAt <= now) return
  const { name, namespace, cluster } = service
  const matchers = Object.entries({ service: name, namespace, cluster })
    .filter(([, value]) => value !== '')
    .map(([label, value]) => ({ name: label, op: '=' as const, value }))
  createSilence(ctx, { matchers, startsAt: now, endsAt, schedule: null, comment }, AUTHOR, now)
}

function endSilence(ctx: Context, comment: string, now: number): void {
  for (const { silence } of [...ctx.state.silences.values()]) {
    const isOwn = silence.createdBy === AUTHOR && silence.comment === comment
    if (isOwn && statusOf(silence, now) !== 'expired') expireSilence(ctx, silence.id, now)
  }
}
