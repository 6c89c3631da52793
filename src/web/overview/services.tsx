/** Shows the services on the overview: unhealthy services as rows and healthy services as a grid. */
import type { FC } from 'hono/jsx'
import { pipelineNumber } from '../../domain/incident/change-text.ts'
import { formatAgo } from '../../domain/shown-time.ts'
import { formatCount, serviceName } from '../../domain/text.ts'
import { Meter, Strip } from '../drawing/strip.tsx'
import { CauseLine } from '../incident/cause.tsx'
import { ToldLine } from '../incident/told.tsx'
import { stateText } from '../incident/view.ts'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, Mark, ServiceName, ShortName } from '../kit/mark.tsx'
import { SilencedMark } from '../kit/silenced.tsx'
import { Time } from '../kit/time.tsx'
import type { ServiceRowView } from './view.ts'

const MAX_PENALTIES = 4
const MAX_NAME = 34

/** Shows a row for each service that needs attention. */
type RowsProps = {
  readonly services: readonly ServiceRowView[]
  /** Whether nothing on the page is more urgent than an incident that was resolved while its alerts fire. */
  readonly isFirst: boolean
}

export const UnhealthyRows: FC<RowsProps> = ({ services, isFirst }) => (
  <table class="services cards">
    <thead>
      <tr>
        <th scope="col">Service, worst first</th>
        <th scope="col" class="number">
          Score
        </th>
        <th scope="col" class="shrink strip-head">
          {services.some(({ strip }) => strip !== null) ? (
            <>
              <span>24 h ago</span>
              <span>now</span>
            </>
          ) : (
            <span class="hidden-text">Last 24 hours</span>
          )}
        </th>
        <th scope="col">Penalties</th>
        <th scope="col">Last deploy</th>
      </tr>
    </thead>
    <tbody>
      {services.map((service) => (
        <>
          <tr class={`service-${service.status}`} data-name={service.name}>
            <td>
              <span class="service-name">
                <Mark level={service.status} label={service.status} />
                <a class="ink clip" href={service.href} title={titleOf(service)}>
                  <ServiceName namespace={service.namespace} name={service.name} />
                </a>
                {service.status === 'recovering' ? <span class="second">recovering</span> : null}
                <SilencedMark silenced={service.silenced} of={formatCount(service.silenced?.count ?? 0)} />
              </span>
            </td>
            <td class="service-score">
              <b>{service.score}</b> <Meter part={service.score / 100} level={service.status} />
            </td>
            <td class="service-strip">
              {service.strip ? (
                <Strip bins={service.strip.bins} label={`Last 24 hours: ${service.strip.text}`} />
              ) : null}
            </td>
            <td class="service-costs">
              <Costs service={service} />
            </td>
            <td class="service-deploy">{service.lastDeploy ? <Deploy deploy={service.lastDeploy} /> : null}</td>
          </tr>
          {service.resolvedEarly ? (
            <ResolvedEarly
              of={service.resolvedEarly}
              status={service.status}
              isFirst={isFirst && service === services.find(({ resolvedEarly }) => resolvedEarly)}
            />
          ) : null}
        </>
      ))}
    </tbody>
  </table>
)

/** Returns the whole name of a service if its row may cut the name. */
function titleOf(service: ServiceRowView): string | undefined {
  const name = serviceName(service)
  return name.length > MAX_NAME ? name : undefined
}

type EarlyProps = Pick<ServiceRowView, 'status'> & {
  readonly of: NonNullable<ServiceRowView['resolvedEarly']>
  readonly isFirst: boolean
}

/** The row below a service whose incident was resolved while its alerts fire. */
const ResolvedEarly: FC<EarlyProps> = ({ of, status, isFirst }) => (
  <tr class={`service-${status} service-early`}>
    <td class="early" colspan={5}>
      <p class="second break">
        {of.brief === null ? null : (
          <>
            <b>{stateText(of.brief.incident)}</b>, since <Time at={of.brief.incident.startedAt} style="moment" />
            {of.brief.incident.breaks}.{' '}
          </>
        )}
        <EarlyText of={of} />
      </p>
      {of.brief === null ? null : (
        <>
          <CauseLine one={of.brief} />
          <p class="second">
            <ToldLine told={of.brief.told} href={of.href} isOpen />
          </p>
        </>
      )}
      {getFrame().canWrite ? (
        <Action
          action={`${of.href}/status`}
          fields={{ status: 'investigating' }}
          look={isFirst ? 'small primary' : 'small'}
        >
          Reopen
        </Action>
      ) : null}
    </td>
  </tr>
)

/** Says who resolved the incident of a service although its alerts are still firing. */
export const EarlyText: FC<{ of: NonNullable<ServiceRowView['resolvedEarly']> }> = ({ of }) => (
  <>
    <a href={of.href}>Incident {of.number}</a> was resolved{' '}
    {of.by === null ? null : (
      <>
        by <bdi>{of.by}</bdi>{' '}
      </>
    )}
    <Time at={of.at} />, but {of.firing}.
  </>
)

const Costs: FC<{ service: ServiceRowView }> = ({ service }) => {
  const [shown, more] = [service.penalties.slice(0, MAX_PENALTIES), service.penalties.length - MAX_PENALTIES]
  return (
    <a class="costs ink" href={`${service.href}#score`}>
      {shown.map(({ name, penalty, severity }) => (
        <span>
          <b class={`ink-level level-${severity}`}>−{penalty}</b> <ShortName text={name} max={MAX_NAME} />
        </span>
      ))}
      {more > 0 ? <span>{more} more</span> : null}
    </a>
  )
}

const Deploy: FC<{ deploy: NonNullable<ServiceRowView['lastDeploy']> }> = ({ deploy }) => (
  <span class="second nowrap">
    {deploy.linked ? (
      <span class="deploy-linked">
        <Icon name="branch" class="change" />{' '}
      </span>
    ) : null}
    {pipelineNumber(deploy.ref)}{' '}
    <span class="quiet">
      {deploy.outcome === 'deploy failed' ? 'failed, ' : ''}started {formatAgo(deploy.at, getFrame())}
    </span>
  </span>
)

/** Shows healthy and unknown services in a compact three-column grid. */
export const HealthyGrid: FC<{ services: readonly ServiceRowView[] }> = ({ services }) => (
  <ul class="healthy">
    {services.map((service) => (
      <li>
        <Mark level={service.status === 'unknown' ? 'unknown' : 'healthy'} label={service.status} />
        <a class="ink plain" href={service.href}>
          <ServiceName namespace={service.namespace} name={service.name} />
        </a>
        <SilencedMark silenced={service.silenced} />
        {service.strip ? (
          <Strip bins={service.strip.bins} label={`Last 24 hours: ${service.strip.text}`} small />
        ) : null}
        <span class="quiet">{service.score}</span>
      </li>
    ))}
  </ul>
)
