/** The channel form: its URL, its rules with quiet hours, and its reminders. */
import type { FC } from 'hono/jsx'
import type { ChannelKind } from '../../domain/notification/format.ts'
import { NEWS } from '../../domain/notification/rule.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import {
  Checks,
  DAYS,
  EditButton,
  EditForm,
  fieldsOf,
  type Option,
  SaveButton,
  Select,
  ZoneField,
} from '../kit/choice.tsx'
import { type Fault, Input } from '../kit/form.tsx'
import { type ChannelForm, KINDS, type RuleForm } from './input.ts'

type Props = {
  readonly action: string
  readonly kind: ChannelKind
  readonly form: ChannelForm
  readonly faults: readonly Fault[]
  /** The stored URL with its secret parts masked; null for a new channel. */
  readonly stored: string | null
  /** Whether the save button is highlighted. */
  readonly isPrimary: boolean
}

const SEVERITY_OPTIONS: readonly Option[] = [
  ['', 'any severity'],
  ...SEVERITIES.map((one): Option => [one, one === 'critical' ? 'critical only' : `${one} or worse`]),
]
const NEWS_OPTIONS: readonly Option[] = Object.entries(NEWS)

const NAMES_HINT = 'Separated by commas. Empty: all.'
const MINUTES = { type: 'number', min: 0, max: 10_080 } as const

export const ChannelFields: FC<Props> = ({ action, kind, form, faults, stored, isPrimary }) => {
  const field = fieldsOf(form, faults)
  const hidden = { kind, rules: `${form.rules.length}` }
  return (
    <EditForm class="stack" {...{ action, hidden, faults }} isNew={stored === null}>
      <div class="card">
        <div class="body fields">
          <Input {...field('name')} label="Name" hint="A unique name." placeholder="on-call" maxlength={100} required />
          <Address {...{ kind, form, faults, stored }} />
          <ZoneField {...field('zone')} label="Time zone for times in messages" />
        </div>
      </div>
      {form.rules.map((rule, index) => (
        <RuleFields rule={rule} index={index} count={form.rules.length} faults={faults} />
      ))}
      <p class="row">
        <EditButton action="add-rule">Add a rule</EditButton>
        <span class="hint">
          A message is sent if any rule matches. To be woken only by critical incidents, add a rule for them without
          quiet hours and set quiet hours in the other rules.
        </span>
      </p>
      <fieldset class="card">
        <legend>If nobody acknowledges an incident</legend>
        <div class="body fields">
          <Input {...field('remindAfter')} {...MINUTES} label="Remind after (minutes)" hint="0: never." />
          <Input {...field('remindEvery')} {...MINUTES} label="Then every (minutes)" hint="0: once." />
          <Input
            {...field('escalateAfter')}
            {...MINUTES}
            label="Escalate after (minutes)"
            hint="0: immediately. 15: only if nobody has acknowledged the incident for 15 minutes."
          />
        </div>
      </fieldset>
      <p>
        <SaveButton isPrimary={isPrimary}>{stored === null ? 'Create channel' : 'Save channel'}</SaveButton>
      </p>
    </EditForm>
  )
}

const Address: FC<Pick<Props, 'kind' | 'form' | 'faults' | 'stored'>> = ({ kind, form, faults, stored }) => {
  const { label, example, hint } = KINDS[kind]
  const isSecret = stored !== null && kind !== 'mail'
  const field = fieldsOf(form, faults)
  return (
    <>
      <Input
        {...field('address')}
        label={label}
        hint={isSecret ? `Stored: ${stored}. Leave this empty to keep it.` : hint}
        placeholder={example}
        maxlength={2_000}
        autocomplete="off"
        spellcheck={false}
      />
      {kind === 'telegram' ? (
        <Input
          {...field('chat')}
          label="Chat"
          hint="The number of the chat, or @name of a public channel."
          placeholder="-1001234567890"
          maxlength={100}
        />
      ) : null}
    </>
  )
}

type RuleProps = {
  readonly rule: RuleForm
  readonly index: number
  readonly count: number
  readonly faults: readonly Fault[]
}

const RuleFields: FC<RuleProps> = ({ rule, index, count, faults }) => {
  const id = (name: string) => `rule-${index}-${name}`
  const field = fieldsOf(rule, faults, id)
  return (
    <fieldset class="card rule">
      <legend>{count === 1 ? 'What it gets' : `Rule ${index + 1}`}</legend>
      <div class="body fields">
        <Checks id={id('events')} label="Messages" options={NEWS_OPTIONS} values={rule.events} />
        <Select {...field('severity')} label="Severity" options={SEVERITY_OPTIONS} />
        <Input {...field('services')} hint={NAMES_HINT} label="Services" placeholder="checkout, cart" />
        <Input {...field('namespaces')} hint={NAMES_HINT} label="Namespaces" placeholder="shop" />
        <Input
          {...field('matchers')}
          hint="Matchers as in silences, all of which must match one alert. Empty: all."
          label="Labels"
          placeholder='team="payments"'
          spellcheck={false}
        />
        <label class="check whole quiet-hours">
          <input type="checkbox" id={id('quiet')} name={id('quiet')} value="1" checked={rule.isQuiet} />
          <span>
            <b>Quiet hours</b> <span class="quiet">messages are held back and sent as one when quiet hours end</span>
          </span>
        </label>
        <div class="whole fields if-quiet">
          <Input {...field('from')} label="From" placeholder="hh:mm" />
          <Input {...field('to')} label="To" placeholder="hh:mm" />
          <ZoneField {...field('zone')} label="Time zone" />
          <Checks id={id('weekdays')} label="Start on" options={DAYS} values={rule.weekdays} />
        </div>
        {count === 1 ? null : (
          <p class="whole">
            <EditButton action={`remove-rule-${index}`} look="small">
              Remove rule {index + 1}
            </EditButton>
          </p>
        )}
      </div>
    </fieldset>
  )
}
