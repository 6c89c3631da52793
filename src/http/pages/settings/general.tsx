/** General settings: the visitor's name, the organization, and the organization's automatic decisions. */
import type { FC } from 'hono/jsx'
import { PLANS, type Settings } from '../../../domain/organization.ts'
import { ZoneField, ZoneNames } from '../kit/choice.tsx'
import { control, type Fault, Faults, Field, Hidden, Input, Submit } from '../kit/form.tsx'
import { Head } from '../kit/section.tsx'

/** The submitted values, so that the form can show an invalid value again. */
export type OrganizationForm = {
  readonly name: string
  readonly plan: string
  readonly autoIncidents: Settings['auto-incidents']
  readonly autoResolve: boolean
  readonly heartbeats: boolean
  readonly zone: string
  /**
   * The maximum number of minutes for which a running deploy silences its service. 0 means that deploys silence
   * nothing.
   */
  readonly deploySilence: string
}

type Props = {
  readonly csrf: string
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

export const GeneralSettings: FC<Props> = ({ csrf, person, hasSession, hasKeys, organization, faults, ...zones }) => (
  <>
    <ZoneNames />
    <Faults faults={faults} />
    <Head title="You" />
    <div class="card">
      <div class="body stack">
        <div class="fields">
          {hasSession ? (
            <form class="fields" method="post" action="/settings/name">
              <Hidden fields={{ csrf }} />
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
            </form>
          ) : (
            <p>
              The proxy in front of this server has signed you in as <b>{person}</b>.
            </p>
          )}
          <form class="fields" method="post" action="/settings/zone">
            <Hidden fields={{ csrf }} />
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
          </form>
        </div>
        <div class="row">
          <form method="post" action="/settings/keys">
            <Hidden fields={{ csrf, keys: hasKeys ? 'off' : 'on' }} />
            <Submit>Turn keyboard shortcuts {hasKeys ? 'off' : 'on'}</Submit>
          </form>
          {hasSession ? (
            <form method="post" action="/sign-out">
              <Hidden fields={{ csrf }} />
              <Submit>Sign out</Submit>
            </form>
          ) : null}
        </div>
      </div>
    </div>
    {organization === null ? (
      <p class="second after-card">Only administrators can change the organization, tokens and sessions.</p>
    ) : (
      <Organization csrf={csrf} form={organization} faults={faults} />
    )}
  </>
)

const Organization: FC<{ csrf: string; form: OrganizationForm; faults: readonly Fault[] }> = (props) => {
  const { csrf, form, faults } = props
  return (
    <>
      <Head title="Organization" />
      <div class="card">
        <form class="body stack" method="post" action="/settings">
          <Hidden fields={{ csrf }} />
          <div class="fields">
            <Input id="name" label="Name" faults={faults} value={form.name} required maxlength={100} />
            <Field id="plan" label="Plan" hint="The Team and Pro plans include postmortems.">
              <select {...control('plan')}>
                {PLANS.map((plan) => (
                  <option value={plan} selected={plan === form.plan}>
                    {plan}
                  </option>
                ))}
              </select>
            </Field>
            <ZoneField
              id="time-zone"
              label="Time zone"
              value={form.zone}
              hint="Pages show times in this time zone, unless a browser has chosen another time zone."
              faults={faults}
            />
            <Field id="auto-incidents" label="Open incidents automatically">
              <select {...control('auto-incidents', [], false)}>
                <option value="critical" selected={form.autoIncidents === 'critical'}>
                  if a service is critical
                </option>
                <option value="off" selected={form.autoIncidents === 'off'}>
                  never
                </option>
              </select>
            </Field>
            <Input
              id="deploy-silence-minutes"
              label="Silence during a deploy (minutes)"
              hint="Alerts of the deployed service are silenced until the deploy ends, but at most for this time. 0: never."
              faults={faults}
              type="number"
              value={form.deploySilence}
              min={0}
              max={1440}
            />
          </div>
          <label class="check">
            <input type="checkbox" name="auto-resolve" value="1" checked={form.autoResolve} />
            Resolve an incident automatically if its service has been healthy and nobody has changed the incident for 24
            hours
          </label>
          <label class="check">
            <input type="checkbox" name="heartbeats" value="1" checked={form.heartbeats} />
            Open an incident when the heartbeat of a sender stops
          </label>
          <p>
            <Submit look="primary">Save</Submit>
          </p>
        </form>
      </div>
    </>
  )
}
