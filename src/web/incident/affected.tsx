/** Lists the services that an incident affects, with the time since when. */
import type { FC } from 'hono/jsx'
import { formatMoment, type Reader } from '../../domain/shown-time.ts'
import { countOf } from '../../domain/text.ts'
import { Icon, Mark, ServiceName } from '../kit/mark.tsx'
import { Card, Section } from '../kit/section.tsx'
import type { AffectedView, IncidentView } from './view.ts'

export const Affected: FC<Pick<IncidentView, 'affected' | 'reader'>> = ({ affected, reader }) => (
  <Section id="affected" title="Affected" second={affected.length === 0 ? null : countOf(affected.length, 'service')}>
    <Card empty={affected.length === 0 ? 'No affected service is known.' : null}>
      <ul class="rows groups">
        {affected.map((one) => (
          <li class="item group">
            {one.severity === null ? <Icon name="workload" /> : <Mark level={one.severity} label={one.severity} />}
            <div class="grow group-body">
              <a class="ink break" href={one.href}>
                <ServiceName namespace={one.namespace} name={one.name} />
              </a>
              {one.detail === '' ? null : <p class="second break">{one.detail}</p>}
            </div>
            <span class="group-time second">{timeText(one, reader)}</span>
          </li>
        ))}
      </ul>
    </Card>
  </Section>
)

/** Returns `since 03:02`, `03:02 to 03:20` if the problem has ended, or `at 03:02` if it lasted less than a minute. */
function timeText({ since, until }: AffectedView, reader: Reader): string {
  const from = formatMoment(since, reader)
  if (until === null) return `since ${from}`
  const to = formatMoment(until, reader)
  return from === to ? `at ${from}` : `${from} to ${to}`
}
