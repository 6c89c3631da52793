/** Error pages that say what is wrong and what to do. */
import type { FC } from 'hono/jsx'
import { fieldWords } from '../sign-in/page.tsx'

type Props = {
  readonly title: string
  readonly detail: string
  readonly number: number
  /**
   * The fields of a form whose submission could not be saved. The page shows the fields so that the typed text is not
   * lost.
   */
  readonly typed?: readonly (readonly [string, string])[]
  /** The URL of the page if loading it again may help; otherwise null. */
  readonly again: string | null
}

/** Renders a heading, a sentence, the typed text and links. */
export const ErrorPage: FC<Props> = (props) => (
  <div class="narrow stack">
    <p class="quiet">Error {props.number}</p>
    <h1>{props.title}</h1>
    <p>{props.detail}</p>
    <Typed fields={props.typed ?? []} />
    <p class="row">
      {props.again === null ? null : (
        <a class="button primary" href={props.again}>
          Try again
        </a>
      )}
      <a class={props.again === null ? 'button primary' : 'button'} href="/">
        All services
      </a>
      {props.number === 403 ? (
        <a class="button bare" href="/sign-in">
          Sign in as somebody else
        </a>
      ) : null}
    </p>
  </div>
)

const Typed: FC<{ fields: readonly (readonly [string, string])[] }> = ({ fields }) =>
  fields.length === 0 ? null : (
    <section class="stack" aria-labelledby="typed">
      <h2 id="typed">Your changes were not saved. Copy anything that you need.</h2>
      <dl class="card pairs">
        {fields.map(([name, value]) => (
          <>
            <dt>{fields.length === 1 ? 'Your text' : fieldWords(name)}</dt>
            <dd class="break typed">{value}</dd>
          </>
        ))}
      </dl>
    </section>
  )
