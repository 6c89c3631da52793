/** Shows many services as cells, by namespace. */
import type { FC } from 'hono/jsx'
import { BUDGETS } from '../../domain/budgets.ts'
import { SERVICE_STATES } from '../../domain/health/headline.ts'
import { ordered } from '../../domain/order.ts'
import { countOf, formatCount, serviceName } from '../../domain/text.ts'
import { Mark } from '../kit/mark.tsx'
import type { ServiceRowView } from './view.ts'

/**
 * The maximum number of cells on the wall. The remaining healthy services are shown as a number with a link to the
 * list.
 */
const MAX_CELLS = 600
const MAX_SHOWN = BUDGETS['shown-services'].value

/**
 * Shows each service as a cell. Cells are grouped by namespace, with the worst service first. The style sheet draws the
 * common marks, because hundreds of SVG elements would double the size of the page. `listOf` returns the URL of a
 * namespace's list.
 */
export const Wall: FC<{ services: readonly ServiceRowView[]; listOf: (namespace: string) => string }> = (props) => {
  const { services, listOf } = props
  const groups = wallOf(services)
  const shown = groups.filter(({ cells }) => cells.length > 0)
  const hidden = groups.filter(({ cells }) => cells.length === 0)
  return (
    <div class="card wall">
      {shown.map(({ namespace, of, cells }) => (
        <section class="wall-group" aria-label={namespace || 'no namespace'}>
          <p class="wall-head">
            <b class="break">{namespace || 'no namespace'}</b> <span class="quiet">{countsText(of)}</span>
          </p>
          <div class="wall-cells">
            {cells.map((one) => (
              <a
                class={`cell-${one.status === 'recovering' ? 'degraded' : one.status}${one.silenced ? ' cell-silenced' : ''}`}
                href={one.shortHref}
                title={cellText(one)}
              >
                {one.status === 'unknown' ? <Mark level="unknown" /> : null}
              </a>
            ))}
            <Hidden count={of.length - cells.length} href={listOf(namespace)} />
          </div>
        </section>
      ))}
      {hidden.length === 0 ? null : (
        <p class="second">
          <a href={listOf('')}>
            {countOf(
              hidden.reduce((sum, { of }) => sum + of.length, 0),
              'more service',
            )}
          </a>{' '}
          in {countOf(hidden.length, 'more namespace')}
        </p>
      )}
    </div>
  )
}

type WallGroup = {
  readonly namespace: string
  readonly of: readonly ServiceRowView[]
  readonly cells: readonly ServiceRowView[]
}

/**
 * Returns the services by namespace, the worst namespace first, and then the largest. Unhealthy services get their cells
 * before healthy ones. `services` are sorted from worst to best.
 */
function wallOf(services: readonly ServiceRowView[]): readonly WallGroup[] {
  const first = new Set(services.slice(0, MAX_SHOWN))
  const groups = [...Map.groupBy(services, ({ namespace }) => namespace)].map(([namespace, of]) => ({
    namespace,
    of,
    worst: of.reduce((least, { status }) => Math.min(least, SERVICE_STATES.indexOf(status)), SERVICE_STATES.length),
  }))
  let room = MAX_SHOWN - [...first].filter(({ status }) => status !== 'healthy').length
  return ordered(groups, ({ worst, of, namespace }) => [worst, -of.length, namespace]).map(({ namespace, of }) => {
    const wanted = cellsOf(of, services.length)
    const ill = wanted.filter((one) => one.status !== 'healthy' && first.has(one))
    const well = wanted.filter(({ status }) => status === 'healthy').slice(0, room)
    room -= well.length
    return { namespace, of, cells: [...ill, ...well] }
  })
}

/**
 * Returns the services in a namespace that get a cell, the worst first. Healthy services get only the cells that remain
 * in the namespace's share of the wall.
 */
function cellsOf(of: readonly ServiceRowView[], total: number): readonly ServiceRowView[] {
  const inOrder = ordered(of, ({ status, score, name }) => [SERVICE_STATES.indexOf(status), score, name])
  const unhealthy = inOrder.filter(({ status }) => status !== 'healthy').length
  return inOrder.slice(0, Math.max(unhealthy, Math.ceil((of.length * MAX_CELLS) / Math.max(MAX_CELLS, total))))
}

const Hidden: FC<{ count: number; href: string }> = ({ count, href }) =>
  count === 0 ? null : (
    <a class="cell-more second" href={href}>
      {formatCount(count)} more
    </a>
  )

function cellText({ namespace, name, status, score, silenced }: ServiceRowView): string {
  const quiet = silenced ? `, ${countOf(silenced.count, 'alert')} silenced` : ''
  return `${serviceName({ namespace, name })}: ${status}, score ${score}${quiet}`
}

/** Returns the number of services, in total and by unhealthy status, such as `124, 1 critical, 2 degraded`. */
function countsText(of: readonly ServiceRowView[]): string {
  const parts = SERVICE_STATES.filter((status) => status !== 'healthy').flatMap((status) => {
    const count = of.filter((one) => one.status === status).length
    return count === 0 ? [] : [`${formatCount(count)} ${status}`]
  })
  return [formatCount(of.length), ...parts].join(', ')
}
