/** Shows the likely cause: a sentence, its evidence, where to look, and the user's verdict. */
import type { FC } from 'hono/jsx'
import { leadText } from '../../domain/suspect/likely-cause.ts'
import { uncapitalized } from '../../domain/text.ts'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Command, External, Icon, Words } from '../kit/mark.tsx'
import { Time } from '../kit/time.tsx'
import type { IncidentBrief } from './brief.ts'
import type { IncidentView, Overdue, SuspectView } from './view.ts'

const MAX_REASONS = 4

type Props = Pick<IncidentView, 'cause' | 'fix' | 'groups' | 'lastGoodDeploy' | 'incident'>

export const Cause: FC<Props> = ({ cause, fix, groups, lastGoodDeploy, incident }) => {
  const { code, heading, suspect, before, after } = cause
  const hint = hintedGroup(groups)?.hint
  const known = suspect !== null && code !== 'none'
  // Without a suspected change, that deploy may be what was running when the problem began.
  const isChange = known && (suspect.kind === 'pipeline' || suspect.kind === 'rollout')
  return (
    <section class={known ? 'card row cause' : 'card row cause cause-unknown'} aria-label={heading}>
      <div class="cause-text">
        <p class="cause-heading">{heading}</p>
        <p class="cause-sentence">
          {before}
          {suspect ? <SuspectName suspect={suspect} /> : null}
          {after}
        </p>
        {suspect && suspect.support.length > 0 ? (
          <ul class="facts cause-reasons">
            {suspect.support.slice(0, MAX_REASONS).map((text) => (
              <li>
                <Icon name="check" />
                <Words in="span" class="break" text={text} />
              </li>
            ))}
          </ul>
        ) : null}
        {fix ? (
          <p class="fix">
            <Icon name="check" /> Probable fix: {fix.noun} <Words in="b" class="break" text={fix.ref} />, {fix.when}.
          </p>
        ) : null}
        <p class="second row">
          {suspect?.external ? <External {...suspect.external} /> : null}
          {lastGoodDeploy ? (
            <span>
              <LastGoodDeploy deploy={lastGoodDeploy} label={isChange ? undefined : 'Earlier deploy'} />
            </span>
          ) : null}
        </p>
        {hint ? (
          <p class="second group-hint">
            {hint.text} <Command text={hint.command} />
          </p>
        ) : null}
      </div>
      {suspect && known ? <Verdict suspect={suspect} action={`${incident.href}/verdict`} /> : null}
    </section>
  )
}

export type CausedIncident = Pick<IncidentBrief, 'cause' | 'firstAlertAt' | 'recovery' | 'overdue'>

/** Renders `Likely cause: deploy shop/checkout#4711, started 3 min before the first alert. Not heard since 14:06.` */
export const CauseLine: FC<{ one: CausedIncident }> = ({ one }) => {
  const { cause, firstAlertAt, recovery, overdue } = one
  if (recovery !== null) return <p class="cause-line">{recovery}</p>
  const { code, heading, suspect, before } = cause
  if (!suspect)
    return (
      <p class="cause-line">
        {heading}. <OverdueSince overdue={overdue} />
      </p>
    )
  const change = code !== 'none'
  const lead = change ? leadText(suspect, firstAlertAt) : ''
  return (
    <p class="cause-line">
      {change ? `${heading}: ${uncapitalized(before)}` : `${heading}. ${before}`}
      <SuspectName suspect={suspect} />
      {lead === '' ? '.' : `, ${lead}.`} <OverdueSince overdue={overdue} />
    </p>
  )
}

/** Returns the group whose hint is shown with the cause. */
export function hintedGroup(groups: IncidentView['groups']): IncidentView['groups'][number] | undefined {
  return groups.find(({ firing, hint }) => firing > 0 && hint !== null)
}

/** Renders the last good deploy, linked to its pipeline if the sender provided a URL. */
export const LastGoodDeploy: FC<{
  deploy: NonNullable<IncidentView['lastGoodDeploy']>
  label?: string | undefined
}> = ({ deploy: { text, href, at }, label = 'Last good deploy' }) => {
  return (
    <>
      {label}:{' '}
      {href === null ? (
        text
      ) : (
        <a href={href} rel="noreferrer">
          {text}
        </a>
      )}
      , <Time at={at} style="moment" />
    </>
  )
}

/** Renders the suspect's icon and name, as a link if it has a page. */
export const SuspectName: FC<{ suspect: SuspectView }> = ({ suspect }) => {
  const change = suspect.kind === 'pipeline' || suspect.kind === 'rollout'
  const look = change ? 'suspect-name plain change' : 'suspect-name plain'
  const shown = (
    <>
      <Icon name={ICONS[suspect.kind]} />
      <Words in="span" class="break" text={suspect.ref} />
    </>
  )
  return suspect.href === null ? (
    <span class={look}>{shown}</span>
  ) : (
    <a class={look} href={suspect.href}>
      {shown}
    </a>
  )
}

const ICONS = { pipeline: 'branch', rollout: 'layers', node: 'server', object: 'workload' } as const

/** Renders the verdict buttons, or the verdict with an undo button. */
export const Verdict: FC<{ suspect: SuspectView; action: string }> = ({ suspect, action }) => {
  const { canWrite } = getFrame()
  if (!suspect.judgeable || !canWrite) return null
  const fields = (verdict: string) => ({ ref: suspect.ref, kind: suspect.kind, verdict })
  if (suspect.verdict !== null) {
    return (
      <div class="row verdict">
        <span class="second">
          {suspect.verdict === 'confirmed' ? 'Confirmed' : 'Rejected'} by {suspect.verdictBy ?? 'a user'}.
        </span>
        <Action action={action} fields={fields('')} look="bare small">
          Undo
        </Action>
      </div>
    )
  }
  return (
    <div class="row verdict">
      <Action action={action} fields={fields('confirmed')} look="small">
        <Icon name="check" />
        Confirm
      </Action>
      <Action action={action} fields={fields('rejected')} look="bare small">
        Not the cause
      </Action>
    </div>
  )
}

/** Renders `Not heard since 14:06.` */
export const OverdueSince: FC<{ overdue: Overdue }> = ({ overdue }) =>
  overdue === null ? null : (
    <span class="warn-text">
      {overdue.word} since <Time at={overdue.at} style="moment" />.
    </span>
  )
