/**
 * Shows the open incidents on the overview. The first incident is shown in full with its picture, and each other
 * incident on one line.
 */

import type { FC } from 'hono/jsx'
import { formatDuration } from '../../domain/shown-time.ts'
import { Lanes } from '../drawing/lane-picture.tsx'
import { CauseLine } from '../incident/cause.tsx'
import { ToldLine } from '../incident/told.tsx'
import { stateText } from '../incident/view.ts'
import { isolated } from '../kit/bidi.ts'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Badge, ServiceName, ShortName, Status } from '../kit/mark.tsx'
import type { OpenIncidentView } from './view.ts'

const MAX_TITLE = 80
const MAX_NAME = 40

type Props = {
  readonly one: OpenIncidentView
}

/** Shows the most urgent incident: what is wrong, since when, the likely cause, and an acknowledge button. */
export const FirstIncident: FC<Props> = ({ one }) => {
  const reader = getFrame()
  const { incident, facts, picture } = one
  const open = incident.status === 'open'
  return (
    <article class={`card first level-${incident.severity}`} aria-label={`Incident ${incident.number}`}>
      <div class="first-text">
        <p class="row">
          <StateBadge incident={incident} />
          <Status status={incident.status} />
          <span class="quiet">incident {incident.number}</span>
          <a class="plain" href={incident.service.href}>
            <ServiceName {...incident.service} max={MAX_NAME} />
          </a>
        </p>
        <h2 class="first-title">
          <a class="ink plain" href={incident.href}>
            {incident.title}
          </a>
        </h2>
        {incident.firingNow ? <p class="second break">{incident.firingNow}</p> : null}
        <CauseLine one={one} />
        {facts.length === 0 ? null : (
          <ul class="facts second first-facts">
            {facts.map((fact) => (
              <li>
                <a class="ink plain" href={fact.href}>
                  {fact.text}
                </a>
              </li>
            ))}
          </ul>
        )}
        <div class="row first-actions">
          {open && reader.canWrite ? <Acknowledge one={one} look="primary" /> : null}
          <a class={open || !reader.canWrite ? 'button' : 'button primary'} href={incident.href}>
            Open incident
          </a>
          <span class="quiet">
            {ownerOf(one, reader.now)} <ToldLine told={one.told} href={incident.href} isOpen={open} />
          </span>
        </div>
      </div>
      {picture ? (
        <div class="first-picture">
          <Lanes picture={picture} small />
        </div>
      ) : null}
    </article>
  )
}

/** "Critical for 12 min", or "Was critical for 12 min" once the problem is over. */
export const StateBadge: FC<Pick<OpenIncidentView, 'incident'>> = ({ incident }) => (
  <Badge level={incident.severity} text={stateText(incident)} />
)

/**
 * Shows an incident on one line: its duration, what is wrong, and the likely cause. `first`: whether this is the most
 * urgent incident.
 */
export const IncidentLine: FC<Props & { readonly first?: boolean }> = ({ one, first }) => {
  const reader = getFrame()
  const { incident, facts } = one
  const open = incident.status === 'open'
  return (
    <article
      class={`card row line level-${incident.severity} ${open ? 'line-open' : ''}`}
      aria-label={`Incident ${incident.number}`}
    >
      {one.recovery === null ? <StateBadge incident={{ ...incident, mutedMs: 0 }} /> : null}
      <Status status={incident.status} />
      <div class="line-text">
        <a class="ink plain" href={incident.href}>
          <b class="break">
            <ShortName text={incident.title} max={MAX_TITLE} />
          </b>
        </a>
        {incident.firingNow ? <p class="second break">{incident.firingNow}</p> : null}
        <CauseLine one={one} />
        {first ? (
          <p class="second">
            <ToldLine told={one.told} href={incident.href} isOpen={open} />
          </p>
        ) : null}
      </div>
      {facts.slice(0, 1).map((fact) => (
        <a class="end quiet plain" href={fact.href}>
          {fact.text}
        </a>
      ))}
      {open && reader.canWrite ? (
        <Acknowledge one={one} look={first ? 'small primary' : 'small'} />
      ) : (
        <span class="quiet">{ownerOf(one, reader.now)}</span>
      )}
    </article>
  )
}

const Acknowledge: FC<Pick<Props, 'one'> & { look: string }> = ({ one, look }) => (
  <Action action={`${one.incident.href}/status`} fields={{ status: 'investigating' }} look={look}>
    Acknowledge
  </Action>
)

/** Returns `Ann is investigating, 4 min.`, or who acknowledged an incident; '' if nobody knows. */
export function ownerOf({ incident }: Pick<OpenIncidentView, 'incident'>, now: number): string {
  const { status, acknowledgedAt, acknowledgedBy } = incident
  if (status === 'open') return 'Nobody has acknowledged it.'
  if (acknowledgedBy === null) return ''
  return status === 'investigating' && acknowledgedAt !== null
    ? `${isolated(acknowledgedBy)} is investigating, ${formatDuration(now - acknowledgedAt)}.`
    : `Acknowledged by ${isolated(acknowledgedBy)}.`
}
