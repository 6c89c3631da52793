/** The actions of an incident. */
import type { FC } from 'hono/jsx'
import { firingText } from '../../domain/incident/incident.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { Action, Form } from '../kit/form.tsx'
import { Mark } from '../kit/mark.tsx'
import { SilenceMenu } from '../kit/silenced.tsx'
import type { IncidentView } from './view.ts'

export const Actions: FC<{ view: IncidentView }> = ({ view }) => {
  const { group } = view
  const { number, href, status, service, firingAlerts, hasPostmortem, isMerged } = view.incident
  const action = `${href}/status`
  if (status === 'resolved') {
    return (
      <div class="row actions">
        {hasPostmortem ? (
          <a class={firingAlerts > 0 ? 'button' : 'button primary'} href={`${href}/postmortem`}>
            Postmortem
          </a>
        ) : null}
        {isMerged ? null : (
          <Action action={action} fields={{ status: 'investigating' }} look={firingAlerts > 0 ? 'primary' : ''}>
            Reopen
          </Action>
        )}
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
        <Action action={action} fields={{ status: 'investigating' }} look="primary" id="acknowledge">
          Acknowledge <kbd class="desk">a</kbd>
        </Action>
      ) : null}
      {group?.leader.isThis && group.cause !== null && group.unowned.length > 1 ? (
        <Action
          action="/incidents/acknowledge"
          fields={{ incidents: group.unowned.join(','), back: href }}
          look={status === 'open' ? '' : 'primary'}
        >
          {acknowledgeText(group.unowned.length, group.size, status === 'open')}
        </Action>
      ) : null}
      <SilenceMenu
        matched={{ service: service.name, namespace: service.namespace }}
        {...{ what: service.name, back: href, mutes: view.mutes }}
        class="button bare"
      />
      <details class="confirm">
        <summary class="button">Resolve…</summary>
        <Form action={action} fields={{ status: 'resolved' }}>
          <p>{warning}</p>
          <button type="submit" class={status === 'open' ? 'button' : 'button primary'}>
            Resolve incident {number}
          </button>
        </Form>
      </details>
    </div>
  )
}

/** Returns `Acknowledge all 7`, or `Acknowledge the other 6` if the first incident is acknowledged. */
export function acknowledgeText(open: number, all: number, isFirstOpen: boolean): string {
  const count = formatCount(open)
  return open === all
    ? `Acknowledge all ${count}`
    : isFirstOpen
      ? `Acknowledge ${count} of ${formatCount(all)}`
      : `Acknowledge the other ${count}`
}

/** Warns if alerts are still firing even though the incident was resolved. */
export const StillFiring: FC<Pick<IncidentView['incident'], 'status' | 'firingAlerts' | 'reportedAt'>> = ({
  status,
  firingAlerts,
  reportedAt,
}) =>
  status === 'resolved' && firingAlerts > 0 ? (
    <p class="card item warn-card">
      <Mark level="warning" />
      <span>
        {reportedAt === null ? firingText(firingAlerts) : `No end of ${countOf(firingAlerts, 'alert')} was reported`},
        though this incident is resolved. Reopen it, or wait until{' '}
        {firingAlerts === 1 ? 'it ends. Until then, it opens' : 'they end. Until then, they open'} no new incident.
      </span>
    </p>
  ) : null

/** Says that the number of firing alerts does not include the failed pipelines, which are listed with the alerts. */
function uncountedText({ groups }: IncidentView): string {
  const pipelines = countPipelines(groups, 'firing')
  return pipelines === 0 ? '' : `, not counting ${countOf(pipelines, 'failed pipeline')}`
}

export function countPipelines(groups: IncidentView['groups'], of: 'count' | 'firing'): number {
  return groups.reduce((sum, group) => sum + (group.source === 'ci' ? group[of] : 0), 0)
}
