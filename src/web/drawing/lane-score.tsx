/** Draws the score lane: a step line over a light area, in the status color. */
import type { FC } from 'hono/jsx'
import { spansOf } from '../../domain/health/strip.ts'
import type { LanePicture } from './lane-model.ts'
import { position, rounded } from './scale.ts'

const PADDING = 8
/** Below the first score, a service is degraded. Below the second score, a service is critical. */
const GUIDES = [80, 40]

export const ScoreLane: FC<{ picture: LanePicture; y: number; height: number }> = ({ picture, y, height }) => {
  const { score, span } = picture
  const spans = spansOf(score ?? [], span.from, span.to)
  const bottom = y + height - PADDING
  const place = (value: number) => rounded(bottom - (Math.min(100, Math.max(0, value)) / 100) * (height - 2 * PADDING))
  const last = spans.at(-1)
  return (
    <g class="lanes-score">
      {GUIDES.map((guide) => (
        <line class="lanes-guide" x1="0" x2="100%" y1={place(guide)} y2={place(guide)} />
      ))}
      {spans.map(({ startsAt, endsAt, status, score }, index) => {
        const [from, to] = [position(startsAt, span), position(endsAt, span)]
        const before = spans[index - 1]
        const top = place(score)
        if (status === 'unknown')
          return <line class="score-unknown" x1={`${from}%`} x2={`${to}%`} y1={bottom} y2={bottom} />
        return (
          <g class={`level-${status}`}>
            <rect x={`${from}%`} width={`${rounded(to - from)}%`} y={top} height={rounded(bottom - top)} />
            {before && before.status !== 'unknown' ? (
              <line x1={`${from}%`} x2={`${from}%`} y1={place(before.score)} y2={top} />
            ) : null}
            <line x1={`${from}%`} x2={`${to}%`} y1={top} y2={top} />
          </g>
        )
      })}
      <line class="lanes-line" x1="0" x2="100%" y1={y + height - 0.5} y2={y + height - 0.5} />
      {last && last.status !== 'unknown' && last.endsAt >= span.to ? (
        <text class="lanes-value" x="100%" dx="8" y={Math.min(bottom, Math.max(y + 18, place(last.score) + 4))}>
          {last.score}
        </text>
      ) : null}
    </g>
  )
}
