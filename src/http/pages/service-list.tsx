/** The list of all services, worst first. */
import type { FC } from 'hono/jsx'
import type { Headline, ServiceState } from '../../domain/health/headline.ts'
import { Mark, ServiceName } from './kit/mark.tsx'

export type ListedService = {
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly cluster: string
  readonly status: 'critical' | 'degraded' | 'healthy'
  readonly score: number
}

export type ServiceListProps = {
  readonly headline: Headline
  readonly counts: Readonly<Record<ServiceState, number>>
  readonly status: 'all' | 'critical' | 'degraded' | 'healthy'
  readonly q: string
  readonly services: readonly ListedService[]
}

const FILTERS = ['all', 'critical', 'degraded', 'healthy'] as const

export const ServiceListPage: FC<ServiceListProps> = ({ headline, counts, status, q, services }) => (
  <>
    <div class="title">
      <h1>
        {headline.lead} <span class="rest">{headline.rest}</span>
      </h1>
    </div>
    <div class="head">
      <h2>Services</h2>
      <nav class="filters" aria-label="Services by status">
        {FILTERS.map((one) => (
          <a
            class="filter"
            href={one === 'all' ? '/' : `/?status=${one}`}
            aria-current={one === status ? 'true' : undefined}
          >
            {one === 'all' ? null : <Mark level={one} />}
            <strong>{one === 'all' ? counts.critical + counts.degraded + counts.healthy : counts[one]}</strong> {one}
          </a>
        ))}
      </nav>
    </div>
    <div class="card">
      {services.length === 0 ? (
        <p class="empty">
          {q === '' ? `No service is ${status === 'all' ? 'known yet' : status}.` : `No service matches ${q}.`}{' '}
          {q === '' && status === 'all' ? null : <a href="/">Show all services</a>}
        </p>
      ) : (
        <table class="cards">
          <thead>
            <tr>
              <th>Service, worst first</th>
              <th>Cluster</th>
              <th class="number">Score</th>
            </tr>
          </thead>
          <tbody>
            {services.map((service) => (
              <tr>
                <td>
                  <span class="with-icon">
                    <Mark level={service.status} label={service.status} />
                    <span class="break">
                      <ServiceName namespace={service.namespace} name={service.name} />
                    </span>
                  </span>
                </td>
                <td data-label="Cluster">{service.cluster}</td>
                <td class="number" data-label="Score">
                  {service.score}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  </>
)
