/** Draws the score as a bar of 100 points: the remaining points, then the penalties. */
import type { FC } from 'hono/jsx'
import type { Severity } from '../../domain/severity.ts'
import { formatCount } from '../../domain/text.ts'
import { rounded } from './scale.ts'

/** One penalty in points, with the name of its condition. */
type BillLine = { readonly name: string; readonly penalty: number; readonly severity: Severity }

const HEIGHT = 26
/** A part shows its number only if it covers at least this percentage of the bar. */
const ROOM = 4
/** The maximum number of penalties in the description. */
const NAMED = 20

/** Draws the bar. Penalties beyond 100 points are cut off. */
export const Bill: FC<{ score: number; lines: readonly BillLine[] }> = ({ score, lines }) => {
  const costs = lines.slice(0, NAMED).map(({ name, penalty }) => `${name} costs ${penalty}`)
  const more = lines.length > NAMED ? `, and ${formatCount(lines.length - NAMED)} more` : ''
  const label = `Score ${score}: ${costs.join(', ') || 'no penalties'}${more}`
  let x = score
  const parts = lines.flatMap((line) => {
    const width = Math.min(line.penalty, 100 - x)
    if (width <= 0) return []
    const part = { ...line, x, width }
    x += width
    return [part]
  })
  return (
    <svg class="bill" width="100%" height={HEIGHT} role="img" aria-label={label}>
      {score > 0 ? (
        <>
          <rect class="bill-left" width={`${score}%`} height={HEIGHT} rx="4" />
          {score >= ROOM ? <Points x={score / 2} text={`${score}`} /> : null}
        </>
      ) : null}
      {parts.map(({ severity, x, width, penalty }) => (
        <g class={`fill-level level-${severity}`}>
          <rect class="bar-fill" x={`${rounded(x)}%`} width={`${rounded(width)}%`} height={HEIGHT} rx="4" />
          <svg x={`${rounded(x)}%`} class="lanes-bar">
            <rect class="bill-gap" x="-3" width="3" height={HEIGHT} />
            <rect width="3" height={HEIGHT} rx="1" />
          </svg>
          {width >= ROOM ? <Points x={x + width / 2} text={`−${penalty}`} /> : null}
        </g>
      ))}
    </svg>
  )
}

const Points: FC<{ x: number; text: string }> = ({ x, text }) => (
  <text class="bill-number" x={`${rounded(x)}%`} y="17" text-anchor="middle">
    {text}
  </text>
)
