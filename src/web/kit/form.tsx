/** Form components: an action button with its own form, hidden fields, labeled fields, error summaries and secrets. */
import type { Child, FC, JSX } from 'hono/jsx'
import type { FieldError } from '../../domain/error.ts'
import { getFrame } from './frame.ts'
import { Icon, Marked } from './mark.tsx'

/** A field error. `label` is the visible name of the field. */
export type Fault = FieldError & { readonly label?: string }

export const Hidden: FC<{ fields: Readonly<Record<string, string>> }> = ({ fields }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
  </>
)

type FormProps = Omit<JSX.IntrinsicElements['form'], 'method'> & {
  /** The values of the form's hidden fields. */
  readonly fields?: Readonly<Record<string, string>>
  readonly faults?: readonly Fault[]
  readonly children?: Child
}

/** A form that posts its fields, with the visitor's CSRF token, its hidden fields and errors. */
export const Form: FC<FormProps> = ({ fields, faults = [], children, ...attributes }) => {
  const { csrf } = getFrame()
  return (
    <form method="post" {...attributes}>
      <Hidden fields={{ ...(csrf === null ? {} : { csrf }), ...fields }} />
      <Faults faults={faults} />
      {children}
    </form>
  )
}

type FieldProps = {
  readonly id: string
  readonly label: string
  readonly hint?: Child
  readonly faults?: readonly FieldError[]
  readonly whole?: boolean
  readonly children?: Child
}

/** A field with its label above and its hint and error below. The control inside must have the same `id`. */
export const Field: FC<FieldProps> = ({ id, label, hint, faults = [], whole = false, children }) => {
  const fault = faultOf(id, faults)
  return (
    <div class={whole ? 'field whole' : 'field'}>
      <label for={id}>{label}</label>
      {children}
      {fault ? (
        <span class="fault" id={`${id}-fault`}>
          {fault}
        </span>
      ) : null}
      {hint ? (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      ) : null}
    </div>
  )
}

/** Returns a control's attributes: its accessible description, and whether it has an error. */
export function control(id: string, faults: readonly FieldError[] = [], hasHint = true) {
  const fault = faultOf(id, faults)
  const described = [fault ? `${id}-fault` : '', hasHint ? `${id}-hint` : ''].filter((one) => one !== '').join(' ')
  return {
    id,
    name: id,
    ...(described === '' ? {} : { 'aria-describedby': described }),
    ...(fault ? { 'aria-invalid': 'true' as const } : {}),
  }
}

/** A labeled input, by default for text. `id` is also the input's name. */
export const Input: FC<Omit<FieldProps, 'children'> & Omit<JSX.IntrinsicElements['input'], 'id'>> = (props) => {
  const { id, label, hint, faults = [], type = 'text', ...rest } = props
  return (
    <Field {...{ id, label, hint, faults }}>
      <input type={type} {...control(id, faults, hint !== undefined)} {...rest} />
    </Field>
  )
}

/** A button that submits its form. `look` has the same values as in `Action`. */
/** `name` and `value` tell the buttons of a form apart. */
export const Submit: FC<{ look?: string; name?: string; value?: string; children?: Child }> = (props) => (
  <button type="submit" class={props.look ? `button ${props.look}` : 'button'} name={props.name} value={props.value}>
    {props.children}
  </button>
)

/** Lists all errors above the form, each linked to its field. */
export const Faults: FC<{ faults: readonly Fault[] }> = ({ faults }) =>
  faults.length === 0 ? null : (
    <div class="faults" role="alert" id="faults" tabindex={-1}>
      <ul>
        {faults.map(({ path, message, label }) => {
          const text = label === undefined ? message : `${label}: ${message}`
          return <li>{path === '' ? text : <a href={`#${path}`}>{text}</a>}</li>
        })}
      </ul>
    </div>
  )

/** Text with a copy button. The button requires JavaScript. */
export const CopyButton: FC<{ of: string; label?: string }> = ({ of, label = 'Copy' }) => (
  <button type="button" class="button small needs-script" data-copy={of}>
    <Icon name="copy" />
    {label}
  </button>
)

/** A secret in a green box, which is shown only once. */
export const Secret: FC<{ text: string; children?: Child }> = ({ text, children }) => (
  <div class="row secret">
    {children}
    <code id="secret">{text}</code>
    <CopyButton of="secret" />
  </div>
)

export function faultOf(id: string, faults: readonly FieldError[]): string | undefined {
  return faults.find(({ path }) => path === id)?.message
}

type ActionProps = {
  readonly action: string
  readonly fields?: Readonly<Record<string, string>>
  /** The style of the button, which is `primary`, `bare` or `small`. */
  readonly look?: string
  readonly children?: Child
  readonly id?: string
}

/** A button with its own form that posts an action. */
export const Action: FC<ActionProps> = ({ action, fields, look = '', children, id }) => (
  <Form action={action} class="action" {...(fields ? { fields } : {})}>
    <button type="submit" class={`button ${look}`} id={id}>
      {children}
    </button>
  </Form>
)

/** A secret that was just created, with a sentence about it. */
export const NewSecret: FC<{ text: string; about: string }> = ({ text, about }) => (
  <Secret text={text}>
    <Marked level="done">
      <b>{about}</b> It is shown only once:
    </Marked>
  </Secret>
)
