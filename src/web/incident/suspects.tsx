/** Lists an incident's suspects by rank, each with its likelihood in words and its reasons. */

import type { FC } from 'hono/jsx'
import { NO_SUSPECTS, SUSPECTS_IN_ORDER, standingOf } from '../../domain/suspect/likely-cause.ts'
import { formatScore } from '../../domain/text.ts'
import { Meter } from '../drawing/strip.tsx'
import { getFrame } from '../kit/frame.ts'
import { External, Icon, Words } from '../kit/mark.tsx'
import { Section } from '../kit/section.tsx'
import { SuspectName, Verdict } from './cause.tsx'
import { withTimes } from './timeline.tsx'
import type { IncidentView, ReasonView, SuspectView } from './view.ts'

const MAX_SUSPECTS = 5
/** The maximum number of folded suspects. A link leads to the page with all of them. */
const MAX_FOLDED = 5
const MAX_REASONS = 3

type Props = Pick<IncidentView, 'suspects' | 'allSuspects' | 'cause' | 'incident'>

export const Suspects: FC<Props> = ({ suspects, allSuspects, cause, incident }) => {
  // The first suspect is always shown. After it, those that are not likely are folded.
  const unlikely = suspects.findIndex(
    (one, rank) => rank > 0 && one.verdict === null && standingOf(one, incident.startedAt) !== 'likely',
  )
  const end = unlikely === -1 ? MAX_SUSPECTS : Math.min(unlikely, MAX_SUSPECTS)
  const [shown, more] = [suspects.slice(0, end), suspects.slice(end)]
  const folded = allSuspects ? more : more.slice(0, MAX_FOLDED)
  const row = (suspect: SuspectView, index: number) => (
    <SuspectRow
      suspect={suspect}
      rank={index + 1}
      standing={standingOf(suspect, incident.startedAt)}
      isCause={suspect.ref === cause.suspect?.ref}
      action={`${incident.href}/verdict`}
    />
  )
  return (
    <Section id="suspects" title="Suspects" second={`across all services, ${SUSPECTS_IN_ORDER}`}>
      {suspects.length === 0 ? (
        <p class="card empty">{NO_SUSPECTS}</p>
      ) : (
        <div class="card">
          <ol class="rows suspects">{shown.map(row)}</ol>
          {more.length === 0 ? null : (
            <details class="more" open={allSuspects}>
              <summary>Show {folded.length} more</summary>
              <ol class="rows suspects">{folded.map((one, index) => row(one, index + end))}</ol>
              {folded.length === more.length ? null : (
                <p class="body">
                  <a href={`${incident.href}?suspects=all#suspects`}>All {suspects.length} suspects</a>
                </p>
              )}
            </details>
          )}
        </div>
      )}
    </Section>
  )
}

type RowProps = {
  readonly suspect: SuspectView
  readonly rank: number
  readonly standing: ReturnType<typeof standingOf>
  /** Whether the suspect's link and verdict are already shown with the cause, elsewhere on the page. */
  readonly isCause: boolean
  readonly action: string
}

const SuspectRow: FC<RowProps> = ({ suspect, rank, standing, isCause, action }) => {
  const { kind, score, reasons, verdict } = suspect
  const change = kind === 'pipeline' || kind === 'rollout'
  const [first, rest] = [reasons.slice(0, MAX_REASONS), reasons.slice(MAX_REASONS)]
  return (
    <li class={verdict === 'rejected' ? 'item suspect suspect-rejected' : 'item suspect'}>
      <span class="suspect-rank quiet">{rank}</span>
      <div class="grow">
        <div class="suspect-head">
          <strong>
            <SuspectName suspect={suspect} />
          </strong>
          {suspect.isOwn ? <span class="quiet">the service itself</span> : null}
          <span
            class="with-icon nowrap suspect-score end"
            title={`Score ${formatScore(score)}. Scores are comparable only within this list.`}
          >
            <Meter part={score} level={change ? 'change' : 'neutral'} width={56} height={6} />
            {standing}
          </span>
        </div>
        {suspect.rollouts.map((ref) => (
          <p class="second">
            → rollout{' '}
            <span class="suspect-name change">
              <Icon name="layers" />
              <Words in="span" class="break" text={ref} />
            </span>
          </p>
        ))}
        <Reasons reasons={first} />
        {rest.length === 0 ? null : (
          <details class="second">
            <summary>All reasons</summary>
            <Reasons reasons={rest} />
          </details>
        )}
        {suspect.external && !isCause ? (
          <p class="second">
            <External {...suspect.external} />
          </p>
        ) : null}
        {change && !isCause ? <Verdict suspect={suspect} action={action} /> : null}
      </div>
    </li>
  )
}

const Reasons: FC<{ reasons: readonly ReasonView[] }> = ({ reasons }) => (
  <ul class="reasons second">
    {reasons.map(({ condition, text }) => (
      <li class="break">
        {condition === '' ? null : (
          <b>
            <Words text={condition} />{' '}
          </b>
        )}
        <Words text={withTimes(text, getFrame())} />
      </li>
    ))}
  </ul>
)
