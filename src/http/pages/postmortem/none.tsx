/** The page shown if there is no postmortem. The page explains why, and what to do. */
import type { FC } from 'hono/jsx'
import { Crumbs } from '../kit/section.tsx'

type Props = {
  readonly incident: { readonly number: string; readonly href: string; readonly resolved: boolean }
  /** Whether the organization's plan includes postmortems. */
  readonly hasPlan: boolean
}

export const NO_POSTMORTEM = 'There is no postmortem'

export const NoPostmortemPage: FC<Props> = ({ incident, hasPlan }) => (
  <>
    <Crumbs path={[['Incidents', '/incidents'], [incident.number, incident.href], ['Postmortem']]} />
    <div class="title">
      <h1>{NO_POSTMORTEM}.</h1>
    </div>
    <div class="card body">
      <p>
        {hasPlan
          ? whyNone(incident)
          : 'The plan of this organization does not include postmortems. The Team and Pro plans do.'}
      </p>
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
    ? 'No postmortem was created when this incident was resolved. Reopen the incident and resolve it again to create one.'
    : 'The postmortem is created when the incident is resolved. When the problem is over, choose “Resolve…” on the incident page.'
}
