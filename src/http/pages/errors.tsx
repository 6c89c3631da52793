/** Error pages that say what is wrong and what to do. */
import type { Child, FC } from 'hono/jsx'

type Props = {
  readonly title: string
  readonly detail: string
  readonly number: number
  /**
   * The fields of a form whose submission could not be saved. The page shows the fields so that the typed text is not
   * lost.
   */
  readonly typed?: readonly (readonly [string, string])[]
  readonly children?: Child
}

/** Renders a heading, a sentence, the typed text and links. */
export const ErrorPage: FC<Props> = (props) => (
  <div class="narrow stack">
    <p class="quiet">Error {props.number}</p>
    <h1>{props.title}</h1>
    <p>{props.detail}</p>
    {props.children}
    <Typed fields={props.typed ?? []} />
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

const Typed: FC<{ fields: readonly (readonly [string, string])[] }> = ({ fields }) =>
  fields.length === 0 ? null : (
    <section class="stack" aria-labelledby="typed">
      <h2 id="typed">Your changes were not saved. Copy anything that you need.</h2>
      <dl class="card pairs body">
        {fields.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd class="break typed">{value}</dd>
          </>
        ))}
      </dl>
    </section>
  )
