/** General settings: the visitor's name, the organization with its automatic decisions, and the retention of records. */
import type { FC } from 'hono/jsx'
import { MAX_RETENTION_DAYS, PLANS, type Settings } from '../../domain/organization.ts'
import { fieldsOf, type Option, Select, ZoneField, ZoneNames } from '../kit/choice.tsx'
import { type Fault, Faults, Form, Input, Submit } from '../kit/form.tsx'
import { Head } from '../kit/section.tsx'

const AUTO_INCIDENTS: readonly Option[] = [
  ['critical', 'if a service is critical'],
  ['off', 'never'],
]

/** The submitted values, so that the form can show an invalid value again. */
export type OrganizationForm = Pick<Settings, 'auto-incidents' | 'heartbeats' | 'time-zone' | 'prometheus-url'> & {
  readonly name: string
  readonly plan: string
  readonly 'group-by': string
  readonly 'deploy-silence-minutes': string
  readonly 'auto-resolve': string
}

type Props = {
  readonly person: string
  /** Whether the visitor has an incmon session. Users of an authenticating proxy have no session. */
  readonly hasSession: boolean
  readonly hasKeys: boolean
  /** This browser's time zone; '' to use `commonZone`, the organization's time zone. */
  readonly ownZone: string
  readonly commonZone: string
  /** Null if the visitor is not allowed to change the organization. */
  readonly organization: OrganizationForm | null
  readonly faults: readonly Fault[]
}

export const GeneralSettings: FC<Props> = ({ person, hasSession, hasKeys, organization, faults, ...zones }) => {
  return (
    <>
      <ZoneNames />
      <Faults faults={faults} />
      <Head title="You" />
      <div class="card">
        <div class="body stack">
          <div class="fields">
            {hasSession ? (
              <Form class="fields" action="/settings/name">
                <Input
                  id="person"
                  label="Your name"
                  hint="Timelines show this name next to your actions."
                  value={person}
                  maxlength={100}
                  autocomplete="name"
                />
                <p class="row whole">
                  <Submit>Change name</Submit>
                </p>
              </Form>
            ) : (
              <p>
                The proxy in front of this server has signed you in as <b>{person}</b>.
              </p>
            )}
            <Form class="fields" action="/settings/zone">
              <ZoneField
                id="own-zone"
                label="Your time zone"
                value={zones.ownZone}
                hint={`Applies only to this browser. If empty, the time zone of the organization is used: ${zones.commonZone}.`}
                faults={faults}
              />
              <p class="row whole">
                <Submit>Change time zone</Submit>
              </p>
            </Form>
          </div>
          <div class="row">
            <Form action="/settings/keys" fields={{ keys: hasKeys ? 'off' : 'on' }}>
              <Submit>Turn keyboard shortcuts {hasKeys ? 'off' : 'on'}</Submit>
            </Form>
            {hasSession ? (
              <a class="button" href="/organizations">
                Other organizations
              </a>
            ) : null}
            {hasSession ? (
              <Form action="/sign-out">
                <Submit>Sign out</Submit>
              </Form>
            ) : null}
          </div>
        </div>
      </div>
      {organization === null ? (
        <p class="second after-card">Only administrators can change the organization, tokens and sessions.</p>
      ) : (
        <Organization form={organization} faults={faults} />
      )}
    </>
  )
}

const Organization: FC<{ form: OrganizationForm; faults: readonly Fault[] }> = (props) => {
  const { form, faults } = props
  const field = fieldsOf(form, faults)
  return (
    <>
      <Head title="Organization" />
      <div class="card">
        <Form class="body stack" action="/settings">
          <div class="fields">
            <Input {...field('name')} label="Name" required maxlength={100} />
            <Select
              id="plan"
              label="Plan"
              hint="The Team and Pro plans include postmortems."
              options={PLANS.map((plan) => [plan, plan])}
              value={form.plan}
            />
            <ZoneField
              {...field('time-zone')}
              label="Time zone"
              hint="Pages show times in this time zone, unless a browser has chosen another time zone."
            />
            <Select
              id="auto-incidents"
              label="Open incidents automatically"
              options={AUTO_INCIDENTS}
              value={form['auto-incidents']}
            />
            <Input
              {...field('deploy-silence-minutes')}
              label="Silence during a deploy (minutes)"
              hint="Alerts of the deployed service are silenced until the deploy ends, but at most for this time. 0: never."
              type="number"
              min={0}
              max={1440}
            />
            <Input
              {...field('auto-resolve')}
              label="Resolve after a recovery (minutes)"
              hint="An incident that a user has touched stays in monitoring for up to 24 hours. off: never."
              pattern="off|[0-9]+"
            />
            <Input
              {...field('prometheus-url')}
              label="Prometheus"
              hint="Incidents show the graph of their alert from this server, such as http://prometheus:9090. Empty: no graphs."
              type="url"
              maxlength={1000}
            />
            <Input
              {...field('group-by')}
              label="Group alerts by"
              hint="The labels by which karma and Grafana see the alerts grouped, separated by commas. ...: all labels."
              maxlength={1000}
            />
          </div>
          <label class="check">
            <input type="checkbox" name="heartbeats" value="1" checked={form.heartbeats} />
            Open an incident when the heartbeat of a sender stops
          </label>
          <p>
            <Submit look="primary">Save</Submit>
          </p>
        </Form>
      </div>
    </>
  )
}

/** The numbers of days, as typed. */
export type RetentionForm = Readonly<Record<'events' | 'alerts' | 'incidents', string>>

const DAYS = { type: 'number', min: 1, max: MAX_RETENTION_DAYS, required: true } as const

export const RetentionSettings: FC<{ form: RetentionForm; faults: readonly Fault[] }> = (props) => {
  const { form, faults } = props
  const field = fieldsOf(form, faults)
  return (
    <>
      <Head title="Retention" />
      <Faults faults={faults} />
      <div class="card">
        <Form class="body stack" action="/settings/retention">
          <div class="fields">
            <Input {...field('events')} {...DAYS} label="Keep events for (days)" />
            <Input
              {...field('alerts')}
              {...DAYS}
              label="Keep alerts for (days)"
              hint="Also incidents without a postmortem."
            />
            <Input
              {...field('incidents')}
              {...DAYS}
              min={0}
              label="Keep postmortems for (days)"
              hint="Also their incidents. 0: forever."
            />
          </div>
          <p class="hint">
            Records that a firing alert, an unresolved incident or a kept postmortem refers to are kept regardless of
            their age.
          </p>
          <p>
            <Submit look="primary">Save</Submit>
          </p>
        </Form>
      </div>
    </>
  )
}
