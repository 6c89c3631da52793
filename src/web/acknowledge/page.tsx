/** The page behind the acknowledge link in a message. The page also works without signing in. */
import type { Child, FC } from 'hono/jsx'
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import type { LiveIncident } from '../../domain/state/live.ts'
import { Hidden, Submit } from '../kit/form.tsx'
import { Alone } from '../kit/section.tsx'

type AcknowledgeView = Pick<LiveIncident, 'title' | 'severity' | 'status'> & {
  readonly number: number
  readonly channel: string
  readonly organization: string
  /** The signed-in person, or null. Without a person, the timeline names the channel. */
  readonly person: string | null
  /** The values from the link. */
  readonly fields: Readonly<Record<string, string>>
}

const Card: FC<{ children?: Child }> = ({ children }) => (
  <Alone>
    <div class="card">
      <div class="body stack">{children}</div>
    </div>
  </Alone>
)

export const AcknowledgePage: FC<{ view: AcknowledgeView }> = ({ view }) => {
  const { title, number, severity, status, organization } = view
  return (
    <Card>
      <h1>{title}</h1>
      <p class="second">
        Incident #{number} of {organization}, {severity}
      </p>
      {status === 'open' ? <Ask view={view} /> : <p role="status">{STATES[status]}</p>}
      <p>
        <a href={`/incidents/${number}`}>Show the incident</a> (requires signing in)
      </p>
    </Card>
  )
}

const Ask: FC<{ view: AcknowledgeView }> = ({ view: { person, channel, fields } }) => (
  <form class="stack" method="post" action="/acknowledge">
    <p>Let others know that you are working on this incident. Reminders will stop.</p>
    <Hidden fields={fields} />
    <Submit look="primary wide">{person === null ? 'Acknowledge' : `Acknowledge as ${person}`}</Submit>
    {person === null ? <p class="hint">The timeline will say: by link in #{channel.replace(/^#/, '')}.</p> : null}
  </form>
)

const STATES: Readonly<Record<Exclude<IncidentStatus, 'open'>, string>> = {
  investigating: 'This incident is acknowledged: somebody is working on it.',
  identified: 'This incident is acknowledged: somebody has found the cause.',
  monitoring: 'The problem seems to be over. The incident is being monitored.',
  resolved: 'This incident is resolved. There is nothing left to acknowledge.',
}

const REASONS = {
  expired: 'Links in messages expire after three days.',
  reopened: 'The incident was resolved and reopened after this message. Use the link in a newer message.',
  invalid: 'The link is incomplete or was changed, its channel was disabled or deleted, or the incident was deleted.',
} as const

/** The page for a link that has expired or was modified. */
export const DeadLinkPage: FC<{ reason: keyof typeof REASONS }> = ({ reason }) => (
  <Card>
    <h1>This link no longer works</h1>
    <p>{REASONS[reason]} Sign in and acknowledge the incident on its page.</p>
    <p>
      <a href="/incidents">Show the incidents</a>
    </p>
  </Card>
)
