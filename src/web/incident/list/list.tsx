/** Lists incidents: first the unresolved incidents, then all others with the newest first. */
import type { FC } from 'hono/jsx'
import { firingText, INCIDENT_STATUSES, type IncidentStatus } from '../../../domain/incident/incident.ts'
import { silencedText } from '../../../domain/incident/lasted.ts'
import type { WhoWasTold } from '../../../domain/notification/told.ts'
import { formatDuration, formatLasted } from '../../../domain/shown-time.ts'
import { capitalized, countOf, formatCount } from '../../../domain/text.ts'
import { Icon, Mark, ServiceName, ShortName, Status, Words } from '../../kit/mark.tsx'
import { Pages, Table } from '../../kit/section.tsx'
import { Time } from '../../kit/time.tsx'
import type { IncidentBrief } from '../brief.ts'
import { CauseLine } from '../cause.tsx'
import { Declare } from '../edit.tsx'
import { ToldLine } from '../told.tsx'
import type { IncidentHead, Typed } from '../view.ts'

type ListedIncident = IncidentHead & {
  /** The common cause of the incident's group; null if the incident is in no group. */
  readonly cause: string | null
  /** Null if the likely cause is not shown. */
  readonly brief: IncidentBrief | null
  /** Who was told; null if the incident is over. */
  readonly told: WhoWasTold | null
  /** The other incidents of the group or storm that this row stands for, earliest first. */
  readonly followers: readonly IncidentHead[]
  readonly wentFirst: boolean
  /** `began within 9 min`. */
  readonly began: string
}

type IncidentListView = {
  /** The refused form, if this page answers it. */
  readonly typed: Typed | null
  readonly status: IncidentStatus | 'all'
  /** The name of the service to which the list is limited; null if the list contains all services. */
  readonly service: string | null
  readonly unresolved: number
  /** The number of incidents with each status, regardless of the selected status. */
  readonly counts: Readonly<Record<IncidentStatus | 'all', number>>
  readonly incidents: readonly ListedIncident[]
  readonly page: number
  readonly pages: number
  readonly addressOf: (to: { readonly status?: IncidentStatus | 'all'; readonly page?: number }) => string
}

const MAX_TITLE = 48
const MAX_NAME = 24
const LASTED = 'How long the problem was on, without healthy periods in between. The incident may be resolved later.'
const COLUMNS = [
  ...['Incident', 'Status', 'Service', 'Started'],
  ...[
    { name: 'Lasted', title: LASTED },
    { name: 'Alerts', class: 'number' },
  ],
]

/** Returns a title such as `2 unresolved incidents`. */
export function incidentListTitle({ unresolved }: IncidentListView): string {
  return unresolved === 0 ? 'No unresolved incident' : countOf(unresolved, 'unresolved incident')
}

export const IncidentListPage: FC<{ view: IncidentListView }> = ({ view }) => {
  const { incidents, status, service, counts, page, pages, addressOf } = view
  return (
    <>
      <div class="title">
        <h1>
          {incidentListTitle(view)}
          {status === 'all' && service === null ? <span class="rest">, {formatCount(counts.all)} in total.</span> : '.'}
        </h1>
        <Declare typed={view.typed} isFirst={view.unresolved === 0} />
      </div>
      <nav class="row filters list-filters" aria-label="Incidents by status">
        {(['all', ...INCIDENT_STATUSES] as const).map((one) => (
          <a
            class={counts[one] === 0 ? 'filter filter-none' : 'filter'}
            href={addressOf({ status: one })}
            aria-current={one === status ? 'true' : undefined}
          >
            {capitalized(one)} <strong>{formatCount(counts[one])}</strong>
          </a>
        ))}
        {service === null ? null : (
          <a class="filter active" href="/incidents" aria-label={`Remove the filter ${service}`}>
            <span class="break">{service}</span>
            <Icon name="cross" />
          </a>
        )}
      </nav>
      <div class="card">
        {incidents.length === 0 ? (
          <p class="empty">
            {status === 'all' ? 'There has been no incident yet.' : `No incident is ${status}.`}{' '}
            {status === 'all' ? null : <a href={addressOf({ status: 'all' })}>Show all incidents</a>}
          </p>
        ) : (
          <Table class="cards compact" names={COLUMNS}>
            {incidents.map((incident, index) => (
              <>
                <IncidentRow incident={incident} isFirst={index === 0} />
                {incident.followers.length > 0 ? <Followers of={incident} /> : null}
              </>
            ))}
          </Table>
        )}
        <Pages page={page} pages={pages} addressOf={(to) => addressOf({ page: to })} />
      </div>
    </>
  )
}

/** Returns `, resolved after 47 min` if the incident was resolved later than the problem ended. */
function resolvedText({ startedAt, endedAt, resolvedAt }: IncidentHead): string {
  if (endedAt === null || resolvedAt === null) return ''
  const after = formatLasted(resolvedAt - startedAt)
  return resolvedAt > endedAt && after !== formatLasted(endedAt - startedAt) ? `, resolved after ${after}` : ''
}

/** `isFirst`: only the first row says that there is no channel. */
const IncidentRow: FC<{ incident: ListedIncident; isFirst: boolean }> = ({ incident, isFirst }) => {
  const { severity, href, title, number, status, service, startedAt, resolvedAt } = incident
  const { endedAt, criticalMs, isGuess, breaks, mutedMs, alertCount, acknowledgedBy } = incident
  return (
    <tr class={resolvedAt === null || endedAt === null ? undefined : 'row-resolved'}>
      <td>
        <span class="row-name">
          <Mark level={severity} label={severity} />
          <a class="ink" href={href}>
            <b class="break">
              <ShortName text={title} max={MAX_TITLE} />
            </b>
          </a>{' '}
          <span class="quiet">incident {number}</span>
        </span>
        {resolvedAt !== null && incident.firingAlerts > 0 ? (
          <b class="second break">Resolved, but {firingText(incident.firingAlerts)}</b>
        ) : null}
        {incident.firingNow ? <span class="second break">{incident.firingNow}</span> : null}
        {incident.cause !== null && incident.cause !== service.name ? (
          <span class="second break">
            probably because of <Words text={incident.cause} />
          </span>
        ) : incident.brief ? (
          <CauseLine one={incident.brief} />
        ) : resolvedAt === null ? (
          <a class="second" href={href}>
            The likely cause is on its page.
          </a>
        ) : null}
        {incident.told === null ? null : (
          <span class="second break">
            <ToldLine told={incident.told} href={href} isOpen={isFirst || incident.told.hasChannel} />
          </span>
        )}
      </td>
      <td class="nowrap" data-label="Status" data-plain>
        <span>
          <Status status={status} />
          {acknowledgedBy !== null && resolvedAt === null ? <bdi class="second break">{acknowledgedBy}</bdi> : null}
        </span>
      </td>
      <td class="readable" data-label="Service" data-plain>
        <a class="ink break" href={service.href}>
          <ServiceName namespace={service.namespace} name={service.name} max={MAX_NAME} />
        </a>
      </td>
      <td class="nowrap" data-label="Started">
        <Time at={startedAt} style="moment" />
      </td>
      <td data-label="Lasted">
        <span>
          {isGuess ? 'at least ' : ''}
          <span class="nowrap">
            {endedAt === null && !isGuess ? `${formatDuration(criticalMs)} so far` : formatLasted(criticalMs)}
          </span>
          {breaks}
          {silencedText(mutedMs)}
          {resolvedText(incident)}
        </span>
      </td>
      <td class="number" data-label="Alerts">
        <a class="ink" href={`${href}#alerts`}>
          {formatCount(alertCount)}
        </a>
      </td>
    </tr>
  )
}

/** The most followers that a row lists. The filters list all. */
const MAX_FOLLOWERS = 200

/** Returns how the other incidents of a group or storm belong to the first one. */
function followText({ number, cause, wentFirst, began }: ListedIncident): string {
  if (cause === null) return ` ${began} of incident ${number}`
  return wentFirst ? `, after incident ${number} went first` : ' of the same group'
}

/** The other incidents of a group or storm, folded into one row below the first one. */
const Followers: FC<{ of: ListedIncident }> = ({ of }) => (
  <tr>
    <td colspan={COLUMNS.length}>
      <details class="storm-members" id={`followers-${of.number}`}>
        <summary>
          {countOf(of.followers.length, 'more incident')}
          {followText(of)}
        </summary>
        <ul>
          {of.followers.slice(0, MAX_FOLLOWERS).map((one) => (
            <li class="row">
              <Mark level={one.severity} label={one.severity} />
              <a class="ink break" href={one.href}>
                <ShortName text={one.title} max={MAX_TITLE} />
              </a>
              <span class="quiet">incident {one.number}</span>
              <Status status={one.status} />
              <span class="quiet">
                <Time at={one.startedAt} style="moment" />
              </span>
            </li>
          ))}
        </ul>
        {of.followers.length > MAX_FOLLOWERS ? <p class="second">Choose a status above to list all of them.</p> : null}
      </details>
    </td>
  </tr>
)
