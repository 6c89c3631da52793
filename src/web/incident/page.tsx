/** Shows one incident: its severity, duration, assignee, likely cause and timeline. */
import type { FC } from 'hono/jsx'
import { firingText, INCIDENT_STATUSES } from '../../domain/incident/incident.ts'
import { formatDuration, formatMoment } from '../../domain/shown-time.ts'
import { capitalized, countOf, formatCount } from '../../domain/text.ts'
import { GraphSection } from '../drawing/graph-section.tsx'
import { Lanes, LanesTable } from '../drawing/lane-picture.tsx'
import { isolated } from '../kit/bidi.ts'
import { Ranges } from '../kit/choice.tsx'
import { Action } from '../kit/form.tsx'
import { Icon, LegendMark, Mark, ServiceName, Status } from '../kit/mark.tsx'
import { Card, Crumbs, Section } from '../kit/section.tsx'
import { SilenceLink } from '../kit/silenced.tsx'
import { Affected } from './affected.tsx'
import { Cause, hintedGroup } from './cause.tsx'
import { ActionItems, EditIncident } from './edit.tsx'
import { Groups } from './groups.tsx'
import { Suspects } from './suspects.tsx'
import { Timeline } from './timeline.tsx'
import type { IncidentView } from './view.ts'

/** Returns the page title, with the most important fact first. */
export function incidentTitle({ incident }: IncidentView): string {
  const { title, severity, resolvedAt, endedAt, criticalMs } = incident
  if (resolvedAt !== null) return `Resolved: ${title}`
  if (endedAt !== null) return `Recovered: ${title}`
  return criticalMs < 1000 ? `${title}, ${severity}` : `${title}, ${severity} for ${formatDuration(criticalMs)}`
}

export const IncidentPage: FC<{ view: IncidentView }> = ({ view }) => (
  <>
    <Head view={view} />
    <Steps view={view} />
    <Cause {...view} />
    <Picture {...view} />
    <GraphSection found={view.graph} startsAt={view.incident.startedAt} reader={view.reader} />
    <div class="columns">
      <div>
        <Section
          id="alerts"
          title="Alerts"
          second={alertsText(view)}
          end={[view.alertsHref, 'All alerts in the history']}
        >
          <Card empty={view.groups.length === 0 ? 'This incident has no alerts.' : null}>
            <Groups
              groups={groupsBelow(view)}
              reader={view.reader}
              service={view.canWrite ? view.incident.service : null}
            />
          </Card>
        </Section>
        <Suspects {...view} />
        <Affected {...view} />
      </div>
      <div>
        <Timeline {...view} />
        <ActionItems {...view} items={view.items} />
      </div>
    </div>
    <PhoneBar {...view} />
  </>
)

/** The two buttons that a phone keeps within reach of the thumb. */
const PhoneBar: FC<IncidentView> = ({ incident: { href, status }, csrf, canWrite }) =>
  canWrite && status !== 'resolved' ? (
    <div class="phone-bar">
      {status === 'open' ? (
        <Action action={`${href}/status`} csrf={csrf} fields={{ status: 'investigating' }} look="primary">
          Acknowledge
        </Action>
      ) : null}
      <a class="button" href="#note">
        Note
      </a>
    </div>
  ) : null

/** Returns the groups without the hint that is already shown with the cause. */
function groupsBelow({ groups }: IncidentView): IncidentView['groups'] {
  const hinted = hintedGroup(groups)
  return groups.map((group) => (group === hinted ? { ...group, hint: null } : group))
}

/** Returns `5 alerts (1 failed pipeline) in 3 groups, 3 still firing`. */
function alertsText({ groups, incident: { firingAlerts } }: IncidentView): string {
  if (groups.length === 0) return ''
  const alerts = groups.reduce((sum, { count }) => sum + count, 0)
  const pipelines = countPipelines(groups, 'count')
  const failed = pipelines === 0 ? '' : ` (${countOf(pipelines, 'failed pipeline')})`
  const still = firingAlerts === alerts ? 'all' : formatCount(firingAlerts)
  const firing = firingAlerts === 0 ? '' : `, ${alerts === 1 ? '' : `${still} `}still firing`
  return `${countOf(alerts, 'alert')}${failed} in ${countOf(groups.length, 'group')}${firing}`
}

/** Says that the number of firing alerts does not include the failed pipelines, which are listed with the alerts. */
function uncountedText({ groups }: IncidentView): string {
  const pipelines = countPipelines(groups, 'firing')
  return pipelines === 0 ? '' : `, not counting ${countOf(pipelines, 'failed pipeline')}`
}

function countPipelines(groups: IncidentView['groups'], of: 'count' | 'firing'): number {
  return groups.reduce((sum, group) => sum + (group.source === 'ci' ? group[of] : 0), 0)
}

const Head: FC<{ view: IncidentView }> = ({ view }) => {
  const { incident, reader, canWrite } = view
  const { number, title, severity, service, startedAt, endedAt: until, criticalMs, status, opened } = incident
  return (
    <>
      <Crumbs path={[['Incidents', '/incidents'], [number]]} />
      <div class="title">
        <div class="incident-title">
          <h1>
            <Mark level={severity} label={severity} />
            <span>{title}</span>
          </h1>
          <p class="facts">
            <b>
              {until === null ? capitalized(severity) : `Was ${severity}`}
              {criticalMs < 1000 ? '' : ` for ${formatDuration(criticalMs)}`}
            </b>
            <span>
              {until === null
                ? `since ${formatMoment(startedAt, reader)}`
                : `from ${formatMoment(startedAt, reader)} to ${formatMoment(until, reader)}`}
            </span>
            <a href={service.href}>
              <ServiceName namespace={service.namespace} name={service.name} />
            </a>
            <span>
              {opened}
              {status === 'open' ? ' Nobody has acknowledged it.' : ''}
            </span>
          </p>
          <Related {...view} />
        </div>
        {canWrite ? <Actions view={view} /> : null}
        {canWrite ? <EditIncident {...view} /> : null}
      </div>
      <StillFiring {...incident} />
    </>
  )
}

/** The group, the previous incident, and who was told. */
const Related: FC<IncidentView> = ({ group, previous, timeline, hasChannel, incident: { status } }) => {
  const told =
    timeline.findLast(({ kind }) => kind === 'message') ?? timeline.findLast(({ kind }) => kind === 'not-told')
  return (
    <p class="facts">
      {group === null ? null : (
        <span>
          One of {group.others + 1} incidents, probably because of <bdi>{group.cause}</bdi>.
        </span>
      )}
      {previous === null ? null : (
        <span>
          It continues <a href={previous.href}>incident {previous.number}</a>.
        </span>
      )}
      {told === undefined ? (
        status === 'open' && !hasChannel ? (
          <span>
            Nobody is notified: <a href="/settings/notifications">add a channel</a>.
          </span>
        ) : null
      ) : (
        <span>{capitalized(told.text)}.</span>
      )}
    </p>
  )
}

const Actions: FC<{ view: IncidentView }> = ({ view }) => {
  const { csrf } = view
  const { number, href, status, service, firingAlerts, hasPostmortem } = view.incident
  const action = `${href}/status`
  if (status === 'resolved') {
    return (
      <div class="row actions">
        {hasPostmortem ? (
          <a class="button primary" href={`${href}/postmortem`}>
            Postmortem
          </a>
        ) : null}
        <Action action={action} csrf={csrf} fields={{ status: 'investigating' }}>
          Reopen
        </Action>
      </div>
    )
  }
  const warning =
    firingAlerts === 0
      ? `${view.groups.length === 0 ? 'It has no alerts' : 'All its alerts have ended'}${uncountedText(view)}.`
      : `${firingText(firingAlerts)}${uncountedText(view)}. ${firingAlerts === 1 ? 'It opens' : 'They open'} no new incident until ${firingAlerts === 1 ? 'it has' : 'they have'} ended.${view.hasChannel ? ' Your channels will get a reminder after 30 minutes.' : ''}`
  return (
    <div class="row actions">
      {status === 'open' ? (
        <Action action={action} csrf={csrf} fields={{ status: 'investigating' }} look="primary" id="acknowledge">
          Acknowledge <kbd class="desk">a</kbd>
        </Action>
      ) : null}
      <SilenceLink
        matched={{ service: service.name, namespace: service.namespace }}
        what={service.name}
        class="button bare"
      />
      <details class="confirm">
        <summary class="button">Resolve…</summary>
        <form method="post" action={action}>
          <p>{warning}</p>
          <input type="hidden" name="csrf" value={csrf} />
          <input type="hidden" name="status" value="resolved" />
          <button type="submit" class={status === 'open' ? 'button' : 'button primary'}>
            Resolve incident {number}
          </button>
        </form>
      </details>
    </div>
  )
}

/** Warns if alerts are still firing even though the incident was resolved. */
const StillFiring: FC<Pick<IncidentView['incident'], 'status' | 'firingAlerts'>> = ({ status, firingAlerts }) =>
  status === 'resolved' && firingAlerts > 0 ? (
    <p class="card body item warn-card">
      <Mark level="warning" />
      <span>
        {capitalized(firingText(firingAlerts))}, though this incident is resolved. Reopen it, or wait until{' '}
        {firingAlerts === 1 ? 'it ends. Until then, it opens' : 'they end. Until then, they open'} no new incident.
      </span>
    </p>
  ) : null

/** Renders the five statuses as steps. The current status shows its duration. All other statuses are buttons. */
const Steps: FC<{ view: IncidentView }> = ({ view }) => {
  const { incident, csrf, canWrite } = view
  return (
    <ol class="card steps" aria-label="Status">
      {INCIDENT_STATUSES.map((status) => {
        const current = status === incident.status
        const movable = canWrite && !current && status !== 'open' && status !== 'resolved'
        return (
          <li
            class={`step ${current ? `step-current step-${status}` : ''}`}
            aria-current={current ? 'step' : undefined}
          >
            {movable ? (
              <Action action={`${incident.href}/status`} csrf={csrf} fields={{ status }} look="bare">
                <Status status={status} />
              </Action>
            ) : (
              <Status status={status} />
            )}
            {current ? <span class="step-detail">{detailOf(view)}</span> : null}
          </li>
        )
      })}
    </ol>
  )
}

/** Returns who set the status and how long ago. The name is isolated because it might be written right to left. */
function detailOf({ incident, reader }: IncidentView): string {
  const { status, movedAt, movedBy } = incident
  if (status === 'open') return formatDuration(reader.now - movedAt)
  const who = movedBy === null ? 'incmon' : isolated(movedBy)
  return `${who}, ${status === 'resolved' ? formatMoment(movedAt, reader) : formatDuration(reader.now - movedAt)}`
}

/** Draws the lane picture for an incident or service. */
export const Picture: FC<Pick<IncidentView, 'ranges' | 'picture'>> = ({ ranges, picture }) => (
  <section class="card picture" aria-labelledby="picture">
    <div class="row picture-head">
      <h2 id="picture">What happened when</h2>
      <Ranges ranges={ranges} />
    </div>
    <Lanes picture={picture} />
    <div class="row picture-foot">
      <Legend picture={picture} />
      <LanesTable picture={picture} />
    </div>
  </section>
)

/** Explains what the picture contains, and nothing else. */
const Legend: FC<Pick<IncidentView, 'picture'>> = ({ picture: { bars, links, span, now } }) => {
  const shown = bars.filter(({ startsAt, endsAt }) => startsAt <= span.to && (endsAt ?? now) >= span.from)
  const ids = new Set(shown.map(({ id }) => id))
  const hasLink = links.some((one) => one.verdict !== 'rejected' && ids.has(one.change) && ids.has(one.condition))
  return (
    <p class="legend">
      {hasLink ? (
        <span class="with-icon change">
          <Icon name="link" />
          <span class="quiet">a change, its alerts, and the score of the link</span>
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
