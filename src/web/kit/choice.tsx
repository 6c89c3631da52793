/** Choices: radio buttons, menus, checkboxes, time zones, and links to other periods. */
import type { FC } from 'hono/jsx'
import { timeZones, WEEKDAYS } from '../../domain/time-zone.ts'
import { control, type Fault, Field } from './form.tsx'

/** The value that the form submits, and its label. */
export type Option = readonly [value: string, text: string]

/** The days of the week, Monday first. */
export const DAYS: readonly Option[] = [...WEEKDAYS.slice(1), ...WEEKDAYS.slice(0, 1)].map((day) => [
  day,
  day.charAt(0).toUpperCase() + day.slice(1, 3),
])

type ChoiceProps = {
  readonly id: string
  readonly label: string
  readonly options: readonly Option[]
  readonly value: string
  readonly hint?: string
  readonly faults?: readonly Fault[]
}

/** The entries of a select menu. */
export const Options: FC<Pick<ChoiceProps, 'options' | 'value'>> = ({ options, value }) => (
  <>
    {options.map(([word, text]) => (
      <option value={word} selected={word === value}>
        {text}
      </option>
    ))}
  </>
)

/** A select menu with a label. */
export const Select: FC<ChoiceProps> = ({ id, label, options, value, hint, faults = [] }) => (
  <Field id={id} label={label} faults={faults} {...(hint === undefined ? {} : { hint })}>
    <select {...control(id, faults, hint !== undefined)}>
      <Options options={options} value={value} />
    </select>
  </Field>
)

/** Radio buttons styled as a single control. */
export const Segments: FC<Omit<ChoiceProps, 'hint' | 'faults'>> = ({ id, label, options, value }) => (
  <fieldset class="field whole">
    <legend>{label}</legend>
    <div class="segments">
      {options.map(([word, text]) => (
        <label>
          <input type="radio" name={id} id={`${id}-${word}`} value={word} checked={word === value} />
          {text}
        </label>
      ))}
    </div>
  </fieldset>
)

/** Checkboxes with a common label. */
export const Checks: FC<Omit<ChoiceProps, 'value' | 'faults'> & { readonly values: readonly string[] }> = (props) => (
  <fieldset class="field whole">
    <legend>{props.label}</legend>
    <div class="checks">
      {props.options.map(([word, text]) => (
        <label class="check">
          <input type="checkbox" name={props.id} value={word} checked={props.values.includes(word)} />
          {text}
        </label>
      ))}
    </div>
    {props.hint ? <span class="hint">{props.hint}</span> : null}
  </fieldset>
)

/** A time zone field. The page must also contain one `ZoneNames`. */
export const ZoneField: FC<Omit<ChoiceProps, 'options'>> = ({ id, label, value, hint, faults = [] }) => (
  <Field id={id} label={label} faults={faults} hint={hint ?? 'Type a city, such as Berlin.'}>
    <input type="text" {...control(id, faults)} value={value} list="zones" maxlength={100} autocomplete="off" />
  </Field>
)

/** The time zones suggested in every `ZoneField` on the page. */
export const ZoneNames: FC = () => (
  <datalist id="zones">
    {timeZones().map((zone) => (
      <option>{zone}</option>
    ))}
  </datalist>
)

/** Links that choose the period that a page shows. */
export const Ranges: FC<{
  ranges: readonly { readonly text: string; readonly href: string; readonly current: boolean }[]
}> = ({ ranges }) => (
  <nav class="segments" aria-label="Span">
    {ranges.map(({ text, href, current }) => (
      <a href={href} aria-current={current ? 'true' : undefined}>
        {text}
      </a>
    ))}
  </nav>
)
