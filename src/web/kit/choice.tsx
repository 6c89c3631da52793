/** Choices: radio buttons, menus, checkboxes, time zones, and links to other periods. Forms with several buttons. */
import type { Child, FC } from 'hono/jsx'
import { timeZones, WEEKDAYS } from '../../domain/time-zone.ts'
import { control, type Fault, Field, Form } from './form.tsx'

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

type EditFormProps = {
  readonly action: string
  readonly hidden: Readonly<Record<string, string>>
  readonly faults: readonly Fault[]
  readonly isNew: boolean
  readonly class: string
  readonly children?: Child
}

/** A form with several buttons, of which one saves the form and the others change its fields. */
export const EditForm: FC<EditFormProps> = ({ action, hidden, faults, isNew, class: look, children }) => (
  <Form class={look} action={action} fields={hidden} faults={faults} data-new={isNew && faults.length === 0}>
    {/* Pressing Enter submits the form with its first button. */}
    <button type="submit" name="do" value="save" hidden>
      Save
    </button>
    <ZoneNames />
    {children}
  </Form>
)

/** The button that saves an `EditForm`. */
export const SaveButton: FC<{ isPrimary?: boolean; children?: Child }> = ({ isPrimary = true, children }) => (
  <button type="submit" class={`button ${isPrimary ? 'primary' : ''}`} name="do" value="save">
    {children}
  </button>
)

/** A button that submits an unfinished `EditForm` to change its fields. */
export const EditButton: FC<{ action: string; look?: string; children?: Child }> = ({ action, look, children }) => (
  <button type="submit" class={look ? `button ${look}` : 'button'} name="do" value={action} formnovalidate>
    {children}
  </button>
)

/** Returns a function that returns the id, the value and the faults of a field. By default, the id is the name. */
export function fieldsOf<Values extends object>(
  values: Values,
  faults: readonly Fault[],
  idOf = (name: string) => name,
) {
  return <Name extends keyof Values & string>(name: Name) => ({ id: idOf(name), value: values[name], faults })
}
