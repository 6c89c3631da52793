/** The page shown if there is no postmortem. It explains why and what to do. */
import type { FC } from 'hono/jsx'

type Props = {
  readonly incident: { readonly number: string; readonly href: string; readonly resolved: boolean }
  /** Whether the organization's plan includes postmortems. */
  readonly hasPlan: boolean
}

export const NO_POSTMORTEM = 'There is no postmortem'

export const NoPostmortemPage: FC<Props> = ({ incident, hasPlan }) => (
  <>
    <ul class="crumbs">
      <li>
        <a href="/incidents">Incidents</a>
      </li>
      <li>
        <a href={incident.href}>{incident.number}</a>
      </li>
      <li>Postmortem</li>
    </ul>
    <div class="title">
      <h1>{NO_POSTMORTEM}.</h1>
    </div>
    <div class="card body">
      <p>{hasPlan ? whyNone(incident) : 'The plan of this organization has no postmortems. Team and Pro have them.'}</p>
      <p class="row">
        <a class="button primary" href={incident.href}>
          {incident.resolved || !hasPlan ? `Open incident ${incident.number}` : `Resolve incident ${incident.number}…`}
        </a>
      </p>
    </div>
  </>
)

function whyNone({ resolved }: Props['incident']): string {
  return resolved
    ? 'None was written when this incident was resolved. Reopen the incident and resolve it again to create one.'
    : 'It is written when the incident is resolved. Choose “Resolve…” on the page of the incident when the problem is over.'
}
