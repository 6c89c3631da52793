/** The pages for creating and changing a silence, with its matchers, time and reason. */
import type { FC } from 'hono/jsx'
import { OPERATORS, OWN_NAMES } from '../../domain/silence/matcher.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import {
  Checks,
  DAYS,
  EditButton,
  EditForm,
  fieldsOf,
  SaveButton,
  Segments,
  Select,
  ZoneField,
} from '../kit/choice.tsx'
import { type Fault, Input } from '../kit/form.tsx'
import { Mark } from '../kit/mark.tsx'
import { Head } from '../kit/section.tsx'
import { LENGTHS, type SilenceForm, type SilencePreview, type SilenceView } from './input.ts'
import { Matchers, SilenceTime } from './list.tsx'

export type FormProps = {
  /** The stored silence; null for a new silence. */
  readonly silence: SilenceView | null
  readonly form: SilenceForm
  readonly faults: readonly Fault[]
  /** The matching alerts; null before the first preview. */
  readonly preview: SilencePreview | null
  /** Whether someone else has changed the silence since the form was opened. */
  readonly conflict: boolean
}

const OPERATOR_WORDS = { '=': 'is', '!=': 'is not', '=~': 'matches', '!~': 'does not match' } as const
const OPERATOR_OPTIONS = OPERATORS.map((one) => [one, OPERATOR_WORDS[one]] as const)

export const SilencePage: FC<FormProps> = (props) => {
  const { silence, conflict } = props
  const title = silence?.status === 'expired' ? 'This silence has ended' : 'Change a silence'
  return (
    <>
      <Head title={silence ? title : 'New silence'}>
        <a class="end" href="/settings/silences">
          All silences
        </a>
      </Head>
      {silence && conflict ? (
        <section class="card" aria-labelledby="stored">
          <div class="body stack">
            <h3 id="stored">The version that somebody else saved</h3>
            <Matchers matchers={silence.matchers} />
            <p class="break">{silence.comment}</p>
            <SilenceTime silence={silence} />
            <p class="second">Your version is below. Save it again to replace the stored version.</p>
          </div>
        </section>
      ) : null}
      <SilenceFields {...props} />
    </>
  )
}

const SilenceFields: FC<FormProps> = ({ silence, form, faults, preview }) => {
  const action = `/settings/silences/${silence?.id ?? 'new'}`
  const hidden = { revision: form.revision, matchers: `${form.matchers.length}` }
  return (
    <EditForm class="stack after-card" {...{ action, hidden, faults }} isNew={silence === null}>
      <MatcherFields form={form} faults={faults} preview={preview} />
      <When form={form} faults={faults} />
      <div class="card">
        <div class="body fields">
          <Input
            {...fieldsOf(form, faults)('comment')}
            label="Why"
            hint="One line for the next person who sees this silence."
            maxlength={1_000}
            required
            placeholder="Database upgrade"
          />
        </div>
      </div>
      <p class="row">
        <SaveButton>{silence ? 'Save silence' : 'Create silence'}</SaveButton>
        <span class="hint">
          Silenced alerts are still stored and counted, but open no incidents and send no notifications.
        </span>
      </p>
    </EditForm>
  )
}

const MatcherFields: FC<Pick<FormProps, 'form' | 'faults' | 'preview'>> = ({ form, faults, preview }) => (
  <fieldset class="card" id="matchers">
    <legend>Which alerts</legend>
    <div class="body stack">
      <p class="second">
        Every line that is filled in must match. <code>matches</code> takes a regular expression for the whole value,
        such as <code>warning|info</code>.
      </p>
      <datalist id="names">
        {OWN_NAMES.map((name) => (
          <option>{name}</option>
        ))}
      </datalist>
      {form.matchers.map((matcher, index) => {
        const field = fieldsOf(matcher, faults, (name) => `${name}-${index}`)
        const example = index === 0 ? { name: 'service', value: 'checkout' } : { name: '', value: '' }
        return (
          <div class="matcher" role="group" aria-label={`Line ${index + 1}`}>
            <Input
              {...field('name')}
              label="Field or label"
              list="names"
              autocomplete="off"
              placeholder={example.name}
            />
            <Select {...field('op')} label="Test" options={OPERATOR_OPTIONS} faults={[]} />
            <Input {...field('value')} label="Value" autocomplete="off" placeholder={example.value} />
          </div>
        )
      })}
      <div class="row">
        <EditButton action="preview">Preview</EditButton>
        <EditButton action="add-line">Add a line</EditButton>
        {preview === null ? null : <Preview preview={preview} />}
      </div>
    </div>
  </fieldset>
)

const Preview: FC<{ preview: SilencePreview }> = ({ preview: { matching, matchingLast30Days, warning } }) => (
  <p class="with-icon" role="status">
    <Mark level={warning === null ? 'done' : 'warning'} />
    <span class="break">
      {warning === null ? (
        <>
          Matches <b>{countOf(matching, 'alert')}</b> that {matching === 1 ? 'is' : 'are'} firing now, and{' '}
          <b>{formatCount(matchingLast30Days)}</b> in the last 30 days in total.
        </>
      ) : (
        `Warning: ${warning}.`
      )}
    </span>
  </p>
)

/**
 * The time format. The form uses text fields because browsers might show time fields in another format, such as 02:30
 * PM.
 */
const DATE = 'YYYY-MM-DD hh:mm'

const LENGTH_OPTIONS = [...LENGTHS.map(([word, text]) => [word, text] as const), ['until', 'until…'] as const]
const REPEAT_OPTIONS = [
  ['once', 'all the time'],
  ['weekly', 'once a week'],
] as const

const When: FC<Pick<FormProps, 'form' | 'faults'>> = ({ form, faults }) => {
  const field = fieldsOf(form, faults)
  return (
    <fieldset class="card">
      <legend>When</legend>
      <div class="body fields">
        <Input {...field('startsAt')} label="Begins" hint="Such as 2026-11-23 14:30. Empty: now." placeholder={DATE} />
        <Segments {...field('length')} label="Lasts" options={LENGTH_OPTIONS} />
        <div class="if-until">
          <Input {...field('endsAt')} label="Ends" hint="Such as 2026-11-23 16:30." placeholder={DATE} />
        </div>
        <ZoneField {...field('zone')} label="Time zone of these times" />
        <Segments id="repeat" label="Applies" options={REPEAT_OPTIONS} value={form.isWeekly ? 'weekly' : 'once'} />
        <div class="whole fields if-weekly">
          <Checks id="weekdays" label="Start on" options={DAYS} values={form.weekdays} />
          <Input {...field('from')} label="From" placeholder="22:00" />
          <Input
            {...field('to')}
            label="To"
            hint="If this is not later than the start, the silence ends on the next day."
            placeholder="06:00"
          />
        </div>
      </div>
    </fieldset>
  )
}
