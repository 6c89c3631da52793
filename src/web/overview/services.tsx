/**
 * Shows the services on the overview: unhealthy services as rows and healthy services as a grid. If there are many
 * services, shows all of them as a wall.
 */
import type { FC } from 'hono/jsx'
import type { ServiceState } from '../../domain/health/headline.ts'
import { ordered } from '../../domain/order.ts'
import { formatAgo, type Reader } from '../../domain/shown-time.ts'
import { countOf, formatCount, serviceName } from '../../domain/text.ts'
import { Meter, Strip } from '../drawing/strip.tsx'
import { Icon, Mark, ServiceName, ShortName } from '../kit/mark.tsx'
import { SilencedMark } from '../kit/silenced.tsx'
import { Time } from '../kit/time.tsx'
import type { DeployView, ServiceRowView } from './view.ts'

const MAX_PENALTIES = 4
const MAX_NAME = 34

/** Shows a row for each service that needs attention. */
export const UnhealthyRows: FC<{ services: readonly ServiceRowView[]; reader: Reader }> = ({ services, reader }) => (
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
        <tr class={`service-${service.status}`} data-level={service.status} data-name={service.name}>
          <td>
            <span class="service-name">
              <Mark level={service.status} label={service.status} />
              <a class="ink clip" href={service.href} title={serviceName(service)}>
                <ServiceName namespace={service.namespace} name={service.name} />
              </a>
              <SilencedMark
                silenced={service.silenced}
                reader={reader}
                of={formatCount(service.silenced?.count ?? 0)}
              />
            </span>
            <ResolvedEarly of={service.resolvedEarly ?? null} reader={reader} />
          </td>
          <td class="number shrink service-score">
            <b>{service.score}</b> <Meter part={service.score / 100} level={service.status} />
          </td>
          <td class="shrink service-strip">
            {service.strip ? <Strip bins={service.strip.bins} label={`Last 24 hours: ${service.strip.text}`} /> : null}
          </td>
          <td class="service-costs">
            <Costs service={service} />
          </td>
          <td class="shrink service-deploy">
            {service.lastDeploy ? <Deploy deploy={service.lastDeploy} reader={reader} /> : null}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

const ResolvedEarly: FC<{ of: NonNullable<ServiceRowView['resolvedEarly']> | null; reader: Reader }> = ({
  of,
  reader,
}) =>
  of === null ? null : (
    <p class="second break">
      <a href={of.href}>Incident {of.number}</a> was resolved{' '}
      {of.by === null ? null : (
        <>
          by <bdi>{of.by}</bdi>{' '}
        </>
      )}
      <Time at={of.at} reader={reader} />, but {of.firing}.
    </p>
  )

const Costs: FC<{ service: ServiceRowView }> = ({ service }) => {
  const [shown, more] = [service.penalties.slice(0, MAX_PENALTIES), service.penalties.length - MAX_PENALTIES]
  return (
    <a class="costs ink" href={`${service.href}#score`}>
      {shown.map(({ name, penalty, severity }) => (
        <span class="second break">
          <b class={`ink-level level-${severity}`}>−{penalty}</b> <ShortName text={name} max={MAX_NAME} />
        </span>
      ))}
      {more > 0 ? <span class="second">{more} more</span> : null}
    </a>
  )
}

const Deploy: FC<{ deploy: DeployView; reader: Reader }> = ({ deploy, reader }) => (
  <span class="second nowrap">
    {deploy.linked ? (
      <span class="deploy-linked">
        <Icon name="branch" class="change" />{' '}
      </span>
    ) : null}
    {deploy.href === null ? (
      deploy.text
    ) : (
      <a class={deploy.linked ? 'change' : 'ink'} href={deploy.href}>
        {deploy.text}
      </a>
    )}{' '}
    <span class="quiet">
      {deploy.failed ? 'failed, ' : ''}started {formatAgo(deploy.at, reader)}
    </span>
  </span>
)

/** Shows healthy and unknown services in a compact three-column grid. */
export const HealthyGrid: FC<{ services: readonly ServiceRowView[]; reader: Reader }> = ({ services, reader }) => (
  <ul class="healthy">
    {services.map((service) => (
      <li>
        <Mark level={service.status === 'unknown' ? 'unknown' : 'healthy'} label={service.status} />
        <a class="ink plain" href={service.href}>
          <ServiceName namespace={service.namespace} name={service.name} />
        </a>
        <SilencedMark silenced={service.silenced} reader={reader} />
        {service.strip ? (
          <Strip bins={service.strip.bins} label={`Last 24 hours: ${service.strip.text}`} small />
        ) : null}
        <span class="quiet">{service.score}</span>
      </li>
    ))}
  </ul>
)

const ORDER: readonly ServiceState[] = ['critical', 'degraded', 'unknown', 'healthy']

/**
 * The maximum number of cells on the wall. The remaining healthy services are shown as a number with a link to the
 * list.
 */
const MAX_CELLS = 600

/**
 * Shows each service as a cell. Cells are grouped by namespace, with the worst service first. The style sheet draws the
 * common marks, because hundreds of SVG elements would double the size of the page. `listOf` returns the URL of a
 * namespace's list.
 */
export const Wall: FC<{ services: readonly ServiceRowView[]; listOf: (namespace: string) => string }> = (props) => {
  const { services, listOf } = props
  const groups = [...Map.groupBy(services, ({ namespace }) => namespace)].map(([namespace, of]) => ({
    ...{ namespace, of, cells: cellsOf(of, services.length) },
  }))
  const worst = ({ of }: (typeof groups)[number]) => Math.min(...of.map(({ status }) => ORDER.indexOf(status)))
  const order = ordered(groups, (group) => [worst(group), -group.of.length, group.namespace])
  return (
    <div class="card wall">
      {order.map(({ namespace, of, cells }) => (
        <section class="wall-group" aria-label={namespace || 'no namespace'}>
          <p class="wall-head">
            <b class="break">{namespace || 'no namespace'}</b> <span class="quiet">{countsText(of)}</span>
          </p>
          <ul class="wall-cells">
            {cells.map((one) => (
              <li>
                <a
                  class={`cell cell-${one.status}${one.silenced ? ' cell-silenced' : ''}`}
                  href={one.href}
                  title={cellText(one)}
                >
                  {one.status === 'unknown' ? <Mark level="unknown" /> : null}
                </a>
              </li>
            ))}
            <Hidden count={of.length - cells.length} href={listOf(namespace)} />
          </ul>
        </section>
      ))}
    </div>
  )
}

/**
 * Returns the services in a namespace that get a cell, the worst first. Healthy services get only the cells that remain
 * in the namespace's share of the wall.
 */
function cellsOf(of: readonly ServiceRowView[], total: number): readonly ServiceRowView[] {
  const inOrder = ordered(of, ({ status, score, name }) => [ORDER.indexOf(status), score, name])
  const unhealthy = inOrder.filter(({ status }) => status !== 'healthy').length
  return inOrder.slice(0, Math.max(unhealthy, Math.ceil((of.length * MAX_CELLS) / Math.max(MAX_CELLS, total))))
}

const Hidden: FC<{ count: number; href: string }> = ({ count, href }) =>
  count === 0 ? null : (
    <li>
      <a class="cell-more second" href={href}>
        {formatCount(count)} more
      </a>
    </li>
  )

function cellText({ namespace, name, status, score, silenced }: ServiceRowView): string {
  const quiet = silenced ? `, ${countOf(silenced.count, 'alert')} silenced` : ''
  return `${serviceName({ namespace, name })}: ${status}, score ${score}${quiet}`
}

/** Returns the number of services, in total and by unhealthy status, such as `124, 1 critical, 2 degraded`. */
function countsText(of: readonly ServiceRowView[]): string {
  const parts = (['critical', 'degraded', 'unknown'] as const).flatMap((status) => {
    const count = of.filter((one) => one.status === status).length
    return count === 0 ? [] : [`${formatCount(count)} ${status}`]
  })
  return [formatCount(of.length), ...parts].join(', ')
}
