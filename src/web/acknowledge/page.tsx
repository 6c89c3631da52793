/** The page behind the acknowledge link in a message. The page also works without signing in. */
import type { Child, FC } from 'hono/jsx'
import type { IncidentStatus } from '../../domain/incident/incident.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { type Fault, Faults, Hidden, Input, Submit } from '../kit/form.tsx'
import { Alone } from '../kit/section.tsx'

type AcknowledgeView = Pick<LiveIncident, 'title' | 'severity' | 'status'> & {
  readonly number: number
  /** One sentence about the present state: whether the problem goes on, and for how long. */
  readonly state: string
  /** The number of the incident into which this one was merged; null if there is none. */
  readonly into: number | null
  /** The likely cause; '' if unknown. */
  readonly cause: string
  readonly organization: string
  /** The signed-in person, or null. Without a person, the page asks for a name. */
  readonly person: string | null
  /** The name that was used last in this browser. */
  readonly knownName: string
  readonly acknowledgedBy: string | null
  /** The other open incidents with the same cause, by title; null if there are none. */
  readonly group: { readonly cause: string; readonly titles: readonly string[] } | null
  readonly faults: readonly Fault[]
  /** The values from the link. */
  readonly fields: Readonly<Record<string, string>>
}

/** The maximum number of other incidents to name. */
const MAX_TITLES = 40

const Card: FC<{ children?: Child }> = ({ children }) => (
  <Alone>
    <div class="card">
      <div class="body stack">{children}</div>
    </div>
  </Alone>
)

export const AcknowledgePage: FC<{ view: AcknowledgeView }> = ({ view }) => {
  const { title, number, severity, status, organization, into } = view
  return (
    <Card>
      <h1 class="break">{title}</h1>
      <p class="second">
        Incident #{number} of {organization}, {severity}
      </p>
      <p class="break">{view.state}</p>
      {view.cause === '' ? null : <p class="break">{view.cause}</p>}
      {status === 'open' || into ? null : <p role="status">{stateText(view, status)}</p>}
      {status === 'open' || view.group ? <Ask view={view} /> : null}
      {view.group ? <Others group={view.group} /> : null}
      <p>
        <a href={`/incidents/${into ?? number}`}>Show {into ? `incident #${into}` : 'the incident'}</a> (requires
        signing in)
      </p>
    </Card>
  )
}

const Others: FC<{ group: NonNullable<AcknowledgeView['group']> }> = ({ group: { cause, titles } }) => (
  <details>
    <summary class="break">
      {countOf(titles.length, 'other incident')} that nobody has acknowledged, probably because of {cause}
    </summary>
    <ul>
      {titles.slice(0, MAX_TITLES).map((title) => (
        <li class="break">{title}</li>
      ))}
      {titles.length > MAX_TITLES ? <li>{formatCount(titles.length - MAX_TITLES)} more</li> : null}
    </ul>
  </details>
)

const Ask: FC<{ view: AcknowledgeView }> = ({ view: { status, group, person, knownName, fields, faults } }) => (
  <form class="stack" method="post" action="/acknowledge">
    <Faults faults={faults} />
    <Hidden fields={fields} />
    {person === null ? (
      <Input
        id="name"
        label="Your name"
        hint="Messages and the timeline show this name. This browser remembers it."
        value={knownName}
        maxlength={100}
        required
        autocomplete="name"
      />
    ) : null}
    {group ? (
      <Submit look="primary wide" name="group" value="all">
        Acknowledge {status === 'open' ? 'this and ' : ''}the other {formatCount(group.titles.length)}
      </Submit>
    ) : null}
    {status === 'open' ? (
      <Submit look={group ? 'wide' : 'primary wide'}>
        {person === null ? 'Acknowledge' : `Acknowledge as ${person}`}
        {group ? ' only this one' : ''}
      </Submit>
    ) : null}
    <p class="second">Reminders will stop.</p>
  </form>
)

function stateText({ acknowledgedBy }: AcknowledgeView, status: Exclude<IncidentStatus, 'open'>): string {
  const name = acknowledgedBy ?? 'A user'
  const states = {
    investigating: `${name} is working on this incident.`,
    identified: `${name} is working on this incident and has found the cause.`,
    monitoring: 'The incident is being monitored.',
    resolved: 'This incident is resolved. There is nothing left to acknowledge.',
  }
  return states[status]
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
