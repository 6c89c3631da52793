/** A button with its own form, which posts an action. */
import type { Child, FC } from 'hono/jsx'

type Props = {
  readonly action: string
  readonly csrf: string
  readonly fields?: Readonly<Record<string, string>>
  /** The look of the button: `primary`, `bare` or `small`. */
  readonly look?: string
  readonly children?: Child
  readonly id?: string
}

export const Action: FC<Props> = ({ action, csrf, fields = {}, look = '', children, id }) => (
  <form method="post" action={action} class="action">
    <input type="hidden" name="csrf" value={csrf} />
    {Object.entries(fields).map(([name, value]) => (
      <input type="hidden" name={name} value={value} />
    ))}
    <button type="submit" class={`button ${look}`} id={id}>
      {children}
    </button>
  </form>
)
