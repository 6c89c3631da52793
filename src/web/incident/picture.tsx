/** The picture of an incident, with its legend. */
import type { FC } from 'hono/jsx'
import { Lanes, LanesTable } from '../drawing/lane-picture.tsx'
import { bestLinks } from '../drawing/links.ts'
import { type Zoom, ZoomStrip } from '../drawing/strip.tsx'
import { Ranges } from '../kit/choice.tsx'
import { Icon, LegendMark } from '../kit/mark.tsx'
import type { IncidentView } from './view.ts'

type Props = Pick<IncidentView, 'ranges' | 'picture'> & { readonly zoom?: Zoom | null; readonly scores?: boolean }

/**
 * Draws the lane picture for an incident or service. With `zoom`, the picture shows a part of a longer period. `scores`:
 * whether the links have the scores of an incident's suspects.
 */
export const Picture: FC<Props> = ({ ranges, picture, zoom = null, scores = false }) => (
  <section class="card picture" aria-labelledby="picture">
    <div class="row picture-head">
      <h2 id="picture">What happened when</h2>
      <Ranges ranges={ranges} />
    </div>
    {zoom === null ? null : <ZoomStrip zoom={zoom} zone={picture.zone} />}
    <Lanes picture={picture} scores={scores} />
    <div class="row picture-foot">
      <Legend picture={picture} scores={scores} />
      <button type="button" class="button small end needs-script" data-image>
        <Icon name="copy" />
        Copy as image
      </button>
      <LanesTable picture={picture} />
    </div>
  </section>
)

/** Explains what the picture contains, and nothing else. */
const Legend: FC<Pick<Props, 'picture' | 'scores'>> = ({ picture, scores }) => {
  const { bars, span, now } = picture
  const shown = bars.filter(({ startsAt, endsAt }) => startsAt <= span.to && (endsAt ?? now) >= span.from)
  return (
    <p class="legend">
      {bestLinks(picture, shown).length > 0 ? (
        <span class="with-icon change">
          <Icon name="link" />
          <span class="quiet">
            {scores ? 'a change, its alerts, and the score of the change' : 'a change and its alerts'}
          </span>
        </span>
      ) : null}
      {(['critical', 'error', 'warning', 'info'] as const)
        .filter((level) => shown.some((bar) => bar.level === level))
        .map((level) => (
          <LegendMark level={level} />
        ))}
    </p>
  )
}
