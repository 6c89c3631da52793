/** Shows incidents with a common cause, or a storm, as one card: the cause or what was first, how many, and a button. */
import type { FC } from 'hono/jsx'
import { formatAgo, formatDuration, formatMoment } from '../../domain/shown-time.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { CauseLine, OverdueSince } from '../incident/cause.tsx'
import { acknowledgeText } from '../incident/state-actions.tsx'
import { ToldLine } from '../incident/told.tsx'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Badge, Mark, ServiceName, ShortName, Status, Words } from '../kit/mark.tsx'
import { Time } from '../kit/time.tsx'
import { ownerOf, StateBadge } from './incidents.tsx'
import type { StormView } from './view.ts'

const MAX_NAME = 44
const MAX_TITLE = 60
const BAR_HEIGHT = 40

type Props = {
  readonly storm: StormView
  /** Whether this is the most urgent card. */
  readonly isFirst: boolean
}

export const StormCard: FC<Props> = ({ storm, isFirst }) => {
  const reader = getFrame()
  const { first, members, unowned, worst, cause, newest } = storm
  const { incident } = first
  return (
    <article class={`card first level-${worst.severity}`} aria-label={countOf(members.length, 'incident')}>
      <div class="first-text">
        <p class="row">
          <StormState storm={storm} />
          {cause === null ? null : (
            <a class="quiet plain" href={`/incidents#followers-${incident.number}`}>
              {countOf(members.length, 'incident')}
            </a>
          )}
        </p>
        <h2 class="first-title">
          <StormTitle storm={storm} max={MAX_NAME} />
        </h2>
        <StormCause storm={storm} />
        <ul class="facts second first-facts">
          <li>
            <a class="ink plain" href={cause === null ? '/alerts?status=firing' : `${incident.href}#alerts`}>
              {alertsText(storm)}
            </a>
          </li>
          <li>
            <a class="ink plain" href={newest.href}>
              last incident began {formatAgo(newest.at, reader)}
            </a>
          </li>
        </ul>
        <div class="row first-actions">
          {unowned.length > 0 && reader.canWrite ? (
            <Action
              action="/incidents/acknowledge"
              fields={{ incidents: unowned.join(',') }}
              look={isFirst ? 'primary' : ''}
            >
              {acknowledgeText(unowned.length, members.length, incident.status === 'open')}
            </Action>
          ) : null}
          <a class="button" href={incident.href}>
            Open incident {incident.number}
          </a>
          <span class="quiet">
            {ownersOf(storm, reader.now)}{' '}
            <ToldLine
              told={first.told}
              href={incident.href}
              isOpen={isFirst && unowned.length > 0}
              about={` about incident ${incident.number}`}
            />
          </span>
        </div>
      </div>
      <Bars storm={storm} />
      <details class="storm-members" id={`storm-${incident.number}`}>
        <summary>All {countOf(members.length, 'incident')}</summary>
        <ul>
          {storm.shown.map(({ href, service, severity, status }) => (
            <li>
              <Mark level={severity} label={severity} />
              <a class="ink" href={href}>
                <ServiceName namespace={service.namespace} name={service.name} />
              </a>
              {status === 'open' ? null : <Status status={status} />}
            </li>
          ))}
        </ul>
        {members.length > storm.shown.length ? (
          <p class="second">
            <a href="/incidents">{countOf(members.length - storm.shown.length, 'more incident')}</a>
          </p>
        ) : null}
      </details>
    </article>
  )
}

/** The state of the incident that leads the others, or how many of them are how severe. */
export const StormState: FC<Pick<Props, 'storm'>> = ({ storm: { isLed, first, worst } }) =>
  isLed ? (
    <>
      <StateBadge incident={first.incident} />
      <Status status={first.incident.status} />
    </>
  ) : (
    <Badge level={worst.severity} text={worst.text} />
  )

/** Returns `601 of 659 alerts are its own`, or how many alerts a storm has. */
function alertsText({ cause, alerts, first: { incident } }: StormView): string {
  if (cause === null) return countOf(alerts, 'alert')
  const own = incident.alertCount
  return `${formatCount(own)} of ${countOf(alerts, 'alert')} ${own === 1 ? 'is' : 'are'} its own`
}

/** Renders `ledger went first, 58 services followed`, or `17 incidents began within 9 min` if no cause connects them. */
export const StormTitle: FC<Pick<Props, 'storm'> & { readonly max: number }> = ({ storm, max }) => {
  const { cause, began, members, wentFirst, followers, first } = storm
  if (cause === null) return <>{`${countOf(members.length, 'incident')} ${began}`}</>
  return (
    <>
      {wentFirst ? '' : `${countOf(members.length, 'incident')}, probably because of `}
      <a class="ink plain" href={first.incident.href}>
        <ShortName text={first.incident.service.name} max={max} />
      </a>
      {wentFirst ? ` went first, ${countOf(followers, 'service')} followed` : ''}
    </>
  )
}

export const StormCause: FC<Pick<Props, 'storm'>> = ({ storm: { cause, first, members } }) =>
  cause === null ? (
    <p class="cause-line">
      No common cause found. First:{' '}
      <a href={first.incident.href}>
        <ShortName text={first.incident.title} max={MAX_TITLE} />
      </a>
      , <Time at={first.incident.startedAt} />. <OverdueSince overdue={first.overdue} />
    </p>
  ) : first.recovery !== null || first.cause.code === 'none' ? (
    <p class="cause-line">
      Likely cause of {countOf(members.length, 'incident')}: <Words in="b" class="break" text={cause} />.{' '}
      <OverdueSince overdue={first.overdue} />
    </p>
  ) : (
    <CauseLine one={first} />
  )

/** New incidents per period as bars, from the first one until now. */
const Bars: FC<Pick<Props, 'storm'>> = ({ storm: { bars, first } }) => {
  const reader = getFrame()
  const peak = Math.max(...bars.counts)
  const from = formatMoment(first.incident.startedAt, reader)
  const every = bars.ms === 60_000 ? 'minute' : formatDuration(bars.ms)
  return (
    <div class="first-picture storm-bars">
      <p class="row second">
        <span>New incidents per {every}</span>
        <span class="end">at most {peak}</span>
      </p>
      <svg
        width="100%"
        height={BAR_HEIGHT}
        viewBox={`0 0 ${bars.counts.length} ${BAR_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`New incidents per ${every} since ${from}: ${bars.counts.join(', ')}`}
      >
        <path
          d={bars.counts
            .map((count, index) =>
              count === 0 ? '' : `M${index} ${BAR_HEIGHT}v-${Math.max(4, Math.round((count / peak) * BAR_HEIGHT))}`,
            )
            .join('')}
          transform="translate(.5)"
        />
      </svg>
      <p class="row second">
        <span>{from}</span>
        <span class="end">now</span>
      </p>
    </div>
  )
}

/** Says how many incidents somebody has acknowledged; '' if nobody has and nobody has to. */
export function ownersOf({ members, unowned, owned, first }: StormView, now: number): string {
  if (owned === 0) return unowned.length === 0 ? '' : 'Nobody has acknowledged them.'
  const are = owned === 1 ? 'is' : 'are'
  const who = first.incident.status === 'open' ? '' : `${ownerOf(first, now)} `
  return owned === members.length
    ? `${who}All are acknowledged.`
    : `${who}${formatCount(owned)} of ${formatCount(members.length)} ${are} acknowledged.`
}
