/** A form with several buttons, of which one saves the form and the others change its fields. */
import type { Child, FC } from 'hono/jsx'
import { ZoneNames } from './choice.tsx'
import { type Fault, Form } from './form.tsx'

type Props = {
  readonly action: string
  readonly hidden: Readonly<Record<string, string>>
  readonly faults: readonly Fault[]
  readonly isNew: boolean
  readonly class: string
  readonly children?: Child
}

export const EditForm: FC<Props> = ({ action, hidden, faults, isNew, class: look, children }) => (
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
