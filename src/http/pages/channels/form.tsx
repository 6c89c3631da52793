/** The channel form: its URL, its rules with quiet hours, and its reminders. */
import type { FC } from 'hono/jsx'
import type { ChannelKind } from '../../../domain/notification/format.ts'
import { SEVERITIES } from '../../../domain/severity.ts'
import { Checks, DAYS, type Option, Select, ZoneField, ZoneNames } from '../kit/choice.tsx'
import { type Fault, Faults, Hidden, Input } from '../kit/form.tsx'
import { type ChannelForm, KINDS, NEWS, type RuleForm } from './view.ts'

type Props = {
  readonly csrf: string
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

export const ChannelFields: FC<Props> = ({ csrf, action, kind, form, faults, stored, isPrimary }) => (
  <form class="stack" method="post" action={action} data-new={stored === null && faults.length === 0}>
    <Hidden fields={{ csrf, kind, rules: `${form.rules.length}` }} />
    {/* Pressing Enter submits the form with its first button. */}
    <button type="submit" name="do" value="save" hidden>
      Save
    </button>
    <ZoneNames />
    <Faults faults={faults} />
    <div class="card">
      <div class="body fields">
        <Input
          id="name"
          label="Name"
          hint="A unique name."
          faults={faults}
          value={form.name}
          placeholder="on-call"
          maxlength={100}
          required
        />
        <Address {...{ kind, form, faults, stored }} />
        <ZoneField id="zone" label="Time zone for times in messages" value={form.zone} faults={faults} />
      </div>
    </div>
    {form.rules.map((rule, index) => (
      <RuleFields rule={rule} index={index} count={form.rules.length} faults={faults} />
    ))}
    <p class="row">
      <button type="submit" class="button" name="do" value="add-rule" formnovalidate>
        Add a rule
      </button>
      <span class="hint">
        A message is sent if any rule matches. To be woken only by critical incidents, add a rule for them without quiet
        hours and set quiet hours in the other rules.
      </span>
    </p>
    <Unacknowledged form={form} faults={faults} />
    <p>
      <button type="submit" class={`button ${isPrimary ? 'primary' : ''}`} name="do" value="save">
        {stored === null ? 'Create channel' : 'Save channel'}
      </button>
    </p>
  </form>
)

const Address: FC<Pick<Props, 'kind' | 'form' | 'faults' | 'stored'>> = ({ kind, form, faults, stored }) => {
  const { label, example, hint } = KINDS[kind]
  const isSecret = stored !== null && kind !== 'mail'
  const shownHint = isSecret ? `Stored: ${stored}. Leave this empty to keep it.` : hint
  return (
    <>
      <Input
        id="address"
        label={label}
        hint={shownHint}
        faults={faults}
        value={form.address}
        placeholder={example}
        maxlength={2_000}
        autocomplete="off"
        spellcheck={false}
      />
      {kind === 'telegram' ? (
        <Input
          id="chat"
          label="Chat"
          hint="The number of the chat, or @name of a public channel."
          faults={faults}
          value={form.chat}
          placeholder="-1001234567890"
          maxlength={100}
        />
      ) : null}
    </>
  )
}

const RuleFields: FC<{ rule: RuleForm; index: number; count: number; faults: readonly Fault[] }> = (props) => {
  const { rule, index, count, faults } = props
  const id = (field: string) => `rule-${index}-${field}`
  return (
    <fieldset class="card rule">
      <legend>{count === 1 ? 'What it gets' : `Rule ${index + 1}`}</legend>
      <div class="body fields">
        <Checks id={id('events')} label="Messages" options={NEWS_OPTIONS} values={rule.events} />
        <Select id={id('severity')} label="Severity" options={SEVERITY_OPTIONS} value={rule.severity} faults={faults} />
        <Names id={id('services')} label="Services" value={rule.services} faults={faults} example="checkout, cart" />
        <Names id={id('namespaces')} label="Namespaces" value={rule.namespaces} faults={faults} example="shop" />
        <label class="check whole quiet-hours">
          <input type="checkbox" id={id('quiet')} name={id('quiet')} value="1" checked={rule.isQuiet} />
          <span>
            <b>Quiet hours</b> <span class="quiet">messages are held back and sent as one when quiet hours end</span>
          </span>
        </label>
        <div class="whole fields if-quiet">
          <Clock id={id('from')} label="From" value={rule.from} faults={faults} />
          <Clock id={id('to')} label="To" value={rule.to} faults={faults} />
          <ZoneField id={id('zone')} label="Time zone" value={rule.zone} faults={faults} />
          <Checks id={id('weekdays')} label="Start on" options={DAYS} values={rule.weekdays} />
        </div>
        {count === 1 ? null : (
          <p class="whole">
            <button type="submit" class="button small" name="do" value={`remove-rule-${index}`} formnovalidate>
              Remove rule {index + 1}
            </button>
          </p>
        )}
      </div>
    </fieldset>
  )
}

type TextProps = {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly faults: readonly Fault[]
}

const Names: FC<TextProps & { readonly example: string }> = ({ id, label, value, faults, example }) => (
  <Input
    id={id}
    label={label}
    hint="Separated by commas. Empty: all."
    faults={faults}
    value={value}
    placeholder={example}
  />
)

const Clock: FC<TextProps> = ({ id, label, value, faults }) => (
  <Input id={id} label={label} faults={faults} value={value} placeholder="hh:mm" />
)

const Unacknowledged: FC<{ form: ChannelForm; faults: readonly Fault[] }> = ({ form, faults }) => (
  <fieldset class="card">
    <legend>If nobody acknowledges an incident</legend>
    <div class="body fields">
      <Minutes
        id="remindAfter"
        label="Remind after (minutes)"
        hint="0: never."
        value={form.remindAfter}
        faults={faults}
      />
      <Minutes id="remindEvery" label="Then every (minutes)" hint="0: once." value={form.remindEvery} faults={faults} />
      <Minutes
        id="escalateAfter"
        label="Escalate after (minutes)"
        hint="0: immediately. 15: only if nobody has acknowledged the incident for 15 minutes."
        value={form.escalateAfter}
        faults={faults}
      />
    </div>
  </fieldset>
)

const Minutes: FC<TextProps & { readonly hint: string }> = ({ id, label, hint, value, faults }) => (
  <Input id={id} label={label} hint={hint} faults={faults} type="number" value={value} min={0} max={10_080} />
)
