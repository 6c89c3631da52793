/** The silence form: matchers, time and reason. */
import type { FC } from 'hono/jsx'
import { countOf, formatCount } from '../../../domain/postmortem/words.ts'
import { OPERATORS, OWN_NAMES } from '../../../domain/silence/matcher.ts'
import { DAYS, Segments, Select, ZoneField, ZoneNames } from '../kit/choice.tsx'
import { control, type Fault, Faults, Field, Hidden, Input } from '../kit/form.tsx'
import { Mark } from '../kit/mark.tsx'
import { LENGTHS, type SilenceForm, type SilencePreview } from './view.ts'

type Props = {
  readonly csrf: string
  readonly action: string
  readonly form: SilenceForm
  readonly faults: readonly Fault[]
  /** The matching alerts; null before the first preview. */
  readonly preview: SilencePreview | null
  readonly isNew: boolean
}

const OPERATOR_WORDS = { '=': 'is', '!=': 'is not', '=~': 'matches', '!~': 'does not match' } as const

export const SilenceFields: FC<Props> = ({ csrf, action, form, faults, preview, isNew }) => (
  <form class="stack after-card" method="post" action={action} data-new={isNew && faults.length === 0}>
    <Hidden fields={{ csrf, revision: form.revision, matchers: `${form.matchers.length}` }} />
    {/* Pressing Enter submits the form with its first button. */}
    <button type="submit" name="do" value="save" hidden>
      Save
    </button>
    <ZoneNames />
    <Faults faults={faults} />
    <MatcherFields form={form} faults={faults} preview={preview} />
    <When form={form} faults={faults} />
    <div class="card">
      <div class="body fields">
        <Input
          id="comment"
          label="Why"
          hint="One line for the next person who sees this silence."
          faults={faults}
          value={form.comment}
          maxlength={1_000}
          required
          placeholder="Database upgrade"
        />
      </div>
    </div>
    <p class="row">
      <button type="submit" class="button primary" name="do" value="save">
        {isNew ? 'Create silence' : 'Save silence'}
      </button>
      <span class="hint">
        Silenced alerts are still stored and counted, but open no incidents and send no notifications.
      </span>
    </p>
  </form>
)

const MatcherFields: FC<Pick<Props, 'form' | 'faults' | 'preview'>> = ({ form, faults, preview }) => (
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
      {form.matchers.map(({ name, op, value }, index) => (
        <div class="matcher" role="group" aria-label={`Line ${index + 1}`}>
          <Field id={`name-${index}`} label="Field or label" faults={faults}>
            <input
              type="text"
              {...control(`name-${index}`, faults, false)}
              value={name}
              list="names"
              autocomplete="off"
              placeholder={index === 0 ? 'service' : ''}
            />
          </Field>
          <Select
            id={`op-${index}`}
            label="Test"
            options={OPERATORS.map((one) => [one, OPERATOR_WORDS[one]])}
            value={op}
          />
          <Field id={`value-${index}`} label="Value" faults={faults}>
            <input
              type="text"
              {...control(`value-${index}`, faults, false)}
              value={value}
              autocomplete="off"
              placeholder={index === 0 ? 'checkout' : ''}
            />
          </Field>
        </div>
      ))}
      <div class="row">
        <button type="submit" class="button" name="do" value="preview" formnovalidate>
          Preview
        </button>
        <button type="submit" class="button" name="do" value="add-line" formnovalidate>
          Add a line
        </button>
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

const When: FC<{ form: SilenceForm; faults: readonly Fault[] }> = ({ form, faults }) => (
  <fieldset class="card">
    <legend>When</legend>
    <div class="body fields">
      <Input
        id="startsAt"
        label="Begins"
        hint="Such as 2026-11-23 14:30. Empty: now."
        faults={faults}
        value={form.startsAt}
        placeholder={DATE}
      />
      <Segments
        id="length"
        label="Lasts"
        options={[...LENGTHS.map(([word, text]) => [word, text] as const), ['until', 'until…']]}
        value={form.length}
      />
      <div class="if-until">
        <Input
          id="endsAt"
          label="Ends"
          hint="Such as 2026-11-23 16:30."
          faults={faults}
          value={form.endsAt}
          placeholder={DATE}
        />
      </div>
      <ZoneField id="zone" label="Time zone of these times" value={form.zone} faults={faults} />
      <Segments
        id="repeat"
        label="Applies"
        options={[
          ['once', 'all the time'],
          ['weekly', 'once a week'],
        ]}
        value={form.isWeekly ? 'weekly' : 'once'}
      />
      <div class="whole fields if-weekly">
        <Select id="weekday" label="Every" options={DAYS} value={form.weekday} faults={faults} />
        <Input id="from" label="From" faults={faults} value={form.from} placeholder="22:00" />
        <Input
          id="to"
          label="To"
          hint="If this is not later than the start, the silence ends on the next day."
          faults={faults}
          value={form.to}
          placeholder="06:00"
        />
      </div>
    </div>
  </fieldset>
)
