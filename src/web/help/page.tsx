/** Searches services, incidents, firing alerts and pages, and lists the keyboard shortcuts. */
import type { Child, FC } from 'hono/jsx'
import type { GroupedAlert } from '../../domain/alert/groups.ts'
import { firingText } from '../../domain/incident/incident.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { Submit } from '../kit/form.tsx'
import { Mark, ServiceName, Status, Words } from '../kit/mark.tsx'
import { Head } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'
import type { ServiceRowView } from '../overview/view.ts'

type Props = {
  readonly q: string
  readonly services: readonly Pick<ServiceRowView, 'id' | 'namespace' | 'name' | 'status' | 'score'>[]
  /** The number of matching services that are not shown. The number can be negative if all services are shown. */
  readonly more: number
  readonly incidents: readonly (Pick<LiveIncident, 'title' | 'status' | 'startedAt'> & {
    readonly number: number
    readonly firingAlerts: number
    /** Whether only a note of the incident matches. */
    readonly isNoted: boolean
  })[]
  readonly alerts: readonly (Pick<GroupedAlert, 'id' | 'name' | 'severity' | 'summary'> & {
    readonly service: Parameters<typeof ServiceName>[0] | null
  })[]
  readonly pages: readonly (readonly [name: string, href: string])[]
}

export const SearchPage: FC<Props> = ({ q, services, more, incidents, alerts, pages }) => (
  <div class="narrow" id="found">
    <h1>Search</h1>
    <form class="row lead search-form" action="/search">
      <input type="search" name="q" value={q} aria-label="Service, or title, number or note of an incident" />
      <Submit look="primary">Search</Submit>
    </form>
    {q !== '' && services.length + incidents.length + alerts.length + pages.length === 0 ? (
      <p class="card empty">
        No service, recent incident, firing alert or page matches “{q}”.{' '}
        <a href={`/alerts?range=30d&q=${encodeURIComponent(q)}`}>Search the alerts of the last 30 days</a>
      </p>
    ) : null}
    <Found title="Services" of={services} second={more > 0 ? `${more} more match; enter more of the name` : undefined}>
      {services.map(({ id, namespace, name, status, score }) => (
        <li class="row">
          <a class="ink with-icon" href={`/services/${id}`}>
            <Mark level={status} />
            <span class="break">
              <ServiceName namespace={namespace} name={name} />
            </span>
          </a>
          <span class="second">
            {status}, score {score}
          </span>
        </li>
      ))}
    </Found>
    <Found title="Incidents" of={incidents}>
      {incidents.map(({ number, title, status, startedAt, firingAlerts, isNoted }) => (
        <li class="row">
          <Status status={status} />
          <a class="ink break" href={`/incidents/${number}`}>
            <Words in="b" text={title} />
          </a>
          <span class="quiet">
            incident {number}
            {isNoted ? ', in a note' : ''}
            {status === 'resolved' && firingAlerts > 0 ? `, but ${firingText(firingAlerts)}` : ''}
          </span>
          <Time at={startedAt} style="moment" />
        </li>
      ))}
    </Found>
    <Found title="Firing alerts" of={alerts}>
      {alerts.map(({ id, name, severity, summary, service }) => (
        <li class="row">
          <span class="item">
            <Mark level={severity} label={severity} />
            <a class="ink break" href={`/alerts/${id}`}>
              <Words in="b" text={name} />
            </a>
          </span>
          {service ? (
            <span class="break">
              <ServiceName {...service} />
            </span>
          ) : null}
          <Words in="span" class="second break" text={summary} />
        </li>
      ))}
    </Found>
    <Found title="Pages" of={pages}>
      {pages.map(([name, href]) => (
        <li>
          <a class="ink" href={href}>
            {name}
          </a>
        </li>
      ))}
    </Found>
  </div>
)

type FoundProps = {
  readonly title: string
  readonly of: readonly unknown[]
  readonly second?: string | undefined
  readonly children?: Child
}

/** One kind of results, or nothing if there are none. */
const Found: FC<FoundProps> = ({ title, of, second, children }) =>
  of.length === 0 ? null : (
    <>
      <Head title={title} {...(second === undefined ? {} : { second })} />
      <ul class="card rows">{children}</ul>
    </>
  )

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'Search'],
  ['g s', 'Services'],
  ['g i', 'Incidents'],
  ['g a', 'Alerts'],
  ['g o', 'Sources'],
  ['g r', 'Reports'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['[', 'Earlier'],
  [']', 'Later'],
  ['a', 'Acknowledge the incident'],
  ['n', 'Write a note on the incident'],
  ['?', 'This list'],
]

export const KeyboardPage: FC = () => (
  <div class="narrow">
    <h1>Keyboard</h1>
    <p class="second lead">
      Shortcuts are off while you type in a field. No shortcut resolves an incident. Turn shortcuts off in the{' '}
      <a href="/settings">settings</a>.
    </p>
    <div class="card">
      <table>
        <thead>
          <tr>
            <th class="shrink">Key</th>
            <th>What it does</th>
          </tr>
        </thead>
        <tbody>
          {KEYS.map(([key, word]) => (
            <tr>
              <td class="shrink">
                {key.split(' ').map((one) => (
                  <>
                    <kbd>{one}</kbd>{' '}
                  </>
                ))}
              </td>
              <td>{word}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  </div>
)
