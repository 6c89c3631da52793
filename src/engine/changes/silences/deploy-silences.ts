/** Silences a service during deploys, if the organization has enabled deploy silences. */

import type { LivePipeline } from '../../../domain/correlation/change.ts'
import { isDeploying, type PipelineFacts } from '../../../domain/correlation/change.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import { reaches } from '../../../domain/service/environment.ts'
import { formatMatchers } from '../../../domain/silence/matcher.ts'
import { statusOf } from '../../../domain/silence/silence.ts'
import { MINUTE } from '../../../domain/units.ts'
import type { Context } from '../../state/context.ts'
import { settingsOf } from '../../state/state.ts'
import { addSilence, expireSilence } from './silences.ts'

/** The author shown in timelines and lists. */
const AUTHOR = 'incmon'

/** Rules that compare only names. Another team's project can have the same name or environment. */
const WEAK_RULES: ReadonlySet<string> = new Set(['environment', 'slug'])

/**
 * Creates a silence when a deploy of the service starts, and ends the silence when the deploy ends. Does nothing if the
 * duration is 0.
 * @param rule the rule that matched the pipeline to the service; a weak rule never creates a silence
 */
export function silenceDeploy(
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
