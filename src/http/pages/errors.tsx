/** Error pages. They say what is wrong and what to do. */
import type { Child, FC } from 'hono/jsx'

/** Renders a heading, one sentence and links. `number`: the HTTP status. */
export const ErrorPage: FC<{ title: string; detail: string; number: number; children?: Child }> = (props) => (
  <div class="narrow stack">
    <p class="quiet">Error {props.number}</p>
    <h1>{props.title}</h1>
    <p>{props.detail}</p>
    {props.children}
    <p class="row">
      <a class="button" href="/">
        All services
      </a>
      <a class="button bare" href="/sign-in">
        Sign in as somebody else
      </a>
    </p>
  </div>
)
