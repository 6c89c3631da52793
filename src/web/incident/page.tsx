/** Shows one incident: its severity, duration, assignee, likely cause and timeline. */
import type { FC } from 'hono/jsx'
import { INCIDENT_STATUSES } from '../../domain/incident/incident.ts'
import { silencedText } from '../../domain/incident/lasted.ts'
import { noAlertsText } from '../../domain/incident/timeline-entries.ts'
import { formatDuration, formatMoment, type Reader } from '../../domain/shown-time.ts'
import { countOf, formatCount, joinNames } from '../../domain/text.ts'
import { GraphSection } from '../drawing/graph-section.tsx'
import { isolated } from '../kit/bidi.ts'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Mark, ServiceName, ShortName, Status, Words } from '../kit/mark.tsx'
import { Card, Crumbs, Section } from '../kit/section.tsx'
import { InKubernetes } from '../kit/workload.tsx'
import { Cause, hintedGroup, OverdueSince } from './cause.tsx'
import { ActionItems, EditIncident } from './edit.tsx'
import { Affected, Groups, groupsText } from './groups.tsx'
import { Picture } from './picture.tsx'
import { Actions, countPipelines, StillFiring } from './state-actions.tsx'
import { Suspects } from './suspects.tsx'
import { entryText, Timeline } from './timeline.tsx'
import { ToldLine } from './told.tsx'
import { type IncidentView, periodText, stateText } from './view.ts'

/** A longer title is cut in its middle. Its parts are below, with the service and the alerts. */
const MAX_TITLE = 72

export const IncidentPage: FC<{ view: IncidentView }> = ({ view }) => (
  <>
    <Head view={view} />
    <Steps view={view} />
    <Cause {...view} />
    <Picture {...view} scores />
    <GraphSection found={view.graph} startsAt={view.incident.startedAt} />
    <div class="columns">
      <div>
        <Section
          id="alerts"
          title="Alerts"
          second={alertsText(view)}
          end={[view.alertsHref, 'All alerts in the history']}
        >
          <Card empty={view.groups.length === 0 ? noAlertsText(view.incident.isMerged) : null}>
            <Groups
              groups={groupsBelow(view)}
              service={view.incident.service}
              isQuiet={view.incident.reportedAt !== null}
            />
          </Card>
        </Section>
        <Suspects {...view} />
        <Affected {...view} />
      </div>
      <div>
        <InKubernetes now={view.workload} />
        <Timeline {...view} />
        <ActionItems {...view} items={view.items} />
      </div>
    </div>
    <PhoneBar {...view} />
  </>
)

/** The two buttons that a phone keeps within reach of the thumb. */
const PhoneBar: FC<IncidentView> = ({ incident: { href, status } }) =>
  getFrame().canWrite && status !== 'resolved' ? (
    <div class="phone-bar">
      {status === 'open' ? (
        <Action action={`${href}/status`} fields={{ status: 'investigating' }} look="primary">
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
  return `${countOf(alerts, 'alert')}${failed}${groupsText(groups)}${firing}`
}

const Head: FC<{ view: IncidentView }> = ({ view }) => {
  const reader = getFrame()
  const { incident } = view
  const { number, title, severity, service, endedAt, status, opened, breaks } = incident
  const others = view.affected.filter((one) => one.severity === 'critical' && one.href !== service.href).length
  return (
    <>
      <Crumbs path={[['Incidents', '/incidents'], [number]]} />
      <div class="title">
        <div class="incident-title">
          <h1>
            <Mark level={severity} label={severity} />
            <ShortName text={title} max={MAX_TITLE} />
          </h1>
          <p class="facts">
            <b>{view.muted ?? stateText({ ...incident, mutedMs: 0 })}</b>
            <span>
              {periodText(incident, reader)}
              {view.muted ? '' : silencedText(incident.mutedMs)}
              {endedAt === null ? breaks : ''}
            </span>
            <a href={service.href}>
              <ServiceName namespace={service.namespace} name={service.name} />
            </a>
            {others > 0 ? <span>and {countOf(others, 'other service')}</span> : null}
            {incident.declared.length > 0 ? (
              <Words in="span" class="break" text={`and ${joinNames(incident.declared)}`} />
            ) : null}
            <span>
              {opened}
              {status === 'open' ? ' Nobody has acknowledged it.' : ''}
            </span>
            {incident.firingNow ? <span>{incident.firingNow}</span> : null}
          </p>
          <Related {...view} />
        </div>
        {reader.canWrite ? <Actions view={view} /> : null}
        {reader.canWrite ? <EditIncident {...view} /> : null}
      </div>
      <StillFiring {...incident} />
    </>
  )
}

/** The incident that it was merged into, the group, the previous incident, and who was told. */
const Related: FC<IncidentView> = ({ group, previous, overdue, told, incident, timeline }) => {
  const { status, isMerged, resolvedAt } = incident
  const merge = isMerged ? timeline.find(({ kind, at }) => kind === 'merged' && at === resolvedAt) : undefined
  return (
    <p class="facts">
      {merge?.href ? <a href={merge.href}>{entryText(merge)}</a> : null}
      <OverdueSince overdue={overdue} />
      {group === null ? null : <GroupText group={group} />}
      {previous === null ? null : (
        <span>
          The service’s previous incident was <a href={previous.href}>incident {previous.number}</a>.
        </span>
      )}
      <span>
        <ToldLine told={told} href="" isOpen={status === 'open'} />
      </span>
    </p>
  )
}

const GroupText: FC<{ group: NonNullable<IncidentView['group']> }> = ({
  group: { cause, size, leader, wentFirst, began },
}) => {
  const one = leader.isThis ? <b>this one</b> : <a href={leader.href}>incident {leader.number}</a>
  const all = <a href={`/incidents#followers-${leader.number}`}>{formatCount(size)} incidents</a>
  return cause === null ? (
    <span>
      One of {all} that {began}; {one} was the first.
    </span>
  ) : (
    <span>
      One of {all}, probably because of <bdi>{cause}</bdi>
      {wentFirst ? <>: {one} went first.</> : <> ({one}).</>}
    </span>
  )
}

/** Renders the five statuses as steps. The current status shows its duration. All other statuses are buttons. */
const Steps: FC<{ view: IncidentView }> = ({ view }) => {
  const reader = getFrame()
  const { incident } = view
  return (
    <ol class="card steps" aria-label="Status">
      {INCIDENT_STATUSES.map((status) => {
        const current = status === incident.status
        const movable = reader.canWrite && !current && status !== 'open' && status !== 'resolved'
        return (
          <li
            class={`step ${current ? `step-current step-${status}` : ''}`}
            aria-current={current ? 'step' : undefined}
          >
            {movable ? (
              <Action action={`${incident.href}/status`} fields={{ status }} look="bare">
                <Status status={status} />
              </Action>
            ) : (
              <Status status={status} />
            )}
            {current ? <span class="step-detail">{detailOf(incident, reader)}</span> : null}
          </li>
        )
      })}
    </ol>
  )
}

/** Returns who set the status and how long ago. The name is isolated because it might be written right to left. */
function detailOf({ status, movedAt, movedBy }: IncidentView['incident'], reader: Reader): string {
  if (status === 'open') return formatDuration(reader.now - movedAt)
  const who = movedBy === null ? 'incmon' : isolated(movedBy)
  return `${who}, ${status === 'resolved' ? formatMoment(movedAt, reader) : formatDuration(reader.now - movedAt)}`
}
