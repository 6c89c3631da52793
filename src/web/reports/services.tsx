/** The services of the report: how often each had an incident, how long it lasted, and how healthy the service was. */
import type { FC } from 'hono/jsx'
import type { StripBin } from '../../domain/health/strip.ts'
import type { Reliability, Spread } from '../../domain/report/report.ts'
import { formatDuration, formatLasted } from '../../domain/shown-time.ts'
import { capitalized, formatCount } from '../../domain/text.ts'
import { Strip } from '../drawing/strip.tsx'
import { ServiceName } from '../kit/mark.tsx'
import { Card, Section, Table } from '../kit/section.tsx'

/** The maximum number of services, whose health can have changed often. */
export const MAX_SERVICES = 30
const FIGURES = ['Incidents', 'Recurred', 'Time to acknowledge', 'Time to resolve', 'Not healthy']

/** The health of a service in the period. `illMs`: how long it was not healthy; null if unknown. */
export type ServiceHealth = {
  readonly bins: readonly StripBin[]
  readonly text: string
  readonly illMs: number | null
}

type ServicesProps = {
  readonly report: Reliability
  /** The health of the first services, by UUID. */
  readonly health: ReadonlyMap<string, ServiceHealth>
  /** `90 days` */
  readonly span: string
}

export const Services: FC<ServicesProps> = ({ report: { services, definitions }, health, span }) => (
  <Section id="services" title="Services with incidents">
    <Card empty={services.length === 0 ? 'No service had an incident.' : null}>
      <Table names={['Service', ...FIGURES.map((name) => ({ name, class: 'number' })), `Health, ${span}`]}>
        {services.slice(0, MAX_SERVICES).map(({ service, incidents, recurrences, mtta, mttr }) => (
          <tr>
            <td>
              <a class="ink break" href={`/services/${service.uuid}`}>
                <ServiceName namespace={service.namespace} name={service.name} />
              </a>
            </td>
            <td class="number" data-label="Incidents">
              <a href={`/incidents?service=${service.uuid}`}>{formatCount(incidents)}</a>
            </td>
            <td class="number" data-label="Recurred">
              {recurrences === 0 ? 'no' : `${formatCount(recurrences)} of ${formatCount(incidents)}`}
            </td>
            <td class="number nowrap" data-label="Time to acknowledge">
              {medianText(mtta)}
            </td>
            <td class="number nowrap" data-label="Time to resolve">
              {medianText(mttr)}
            </td>
            <Health health={health.get(service.uuid)} />
          </tr>
        ))}
      </Table>
    </Card>
    {services.length > MAX_SERVICES ? (
      <p class="second after">
        The {MAX_SERVICES} services whose incidents lasted longest. The CSV has all {formatCount(services.length)}.
      </p>
    ) : null}
    <p class="second quiet after">
      {[definitions.mttd, definitions.mtta, definitions.mttr].map((text) => `${capitalized(text)}. `)}
      The time to resolve includes the monitoring after the end of the problem, so the problem itself was shorter.
      Unknown times are not counted. Not healthy: how long the service was degraded or critical, as far as that is
      recorded.
    </p>
  </Section>
)

const Health: FC<{ health: ServiceHealth | undefined }> = ({ health }) => (
  <>
    <td class="number nowrap" data-label="Not healthy">
      {health?.illMs == null ? '–' : formatDuration(health.illMs)}
    </td>
    <td data-label="Health">{health ? <Strip bins={health.bins} label={health.text} /> : null}</td>
  </>
)

function medianText({ median }: Spread): string {
  return median === null ? '–' : formatLasted(median * 1000)
}
