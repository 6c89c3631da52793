/** A button that posts a form of its own: the way in which a page changes something. */
import type { Child, FC } from 'hono/jsx'

type Props = {
  readonly action: string
  readonly csrf: string
  readonly fields?: Readonly<Record<string, string>>
  /** `primary`, `bare`, `small`: how the button looks. */
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
