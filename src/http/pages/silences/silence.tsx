/** The pages for creating and changing a silence. */
import type { Child, FC } from 'hono/jsx'
import type { Reader } from '../../../domain/shown-time.ts'
import { Matchers, When } from './list.tsx'
import type { SilenceView } from './view.ts'

export const NewSilence: FC<{ children?: Child }> = ({ children }) => (
  <>
    <Head title="New silence" />
    {children}
  </>
)

type Props = {
  readonly silence: SilenceView
  readonly reader: Reader
  /** Whether someone else has changed the silence since the form was opened. */
  readonly conflict: boolean
  readonly children?: Child
}

export const EditSilence: FC<Props> = ({ silence, reader, conflict, children }) => (
  <>
    <Head title={silence.status === 'expired' ? 'This silence has ended' : 'Change a silence'} />
    {conflict ? (
      <section class="card" aria-labelledby="stored">
        <div class="body stack">
          <h3 id="stored">The version that somebody else saved</h3>
          <Matchers matchers={silence.matchers} />
          <p class="break">{silence.comment}</p>
          <When silence={silence} reader={reader} />
          <p class="second">Your version is below. Save it again to replace the stored version.</p>
        </div>
      </section>
    ) : null}
    {children}
  </>
)

const Head: FC<{ title: string }> = ({ title }) => (
  <div class="head">
    <h2>{title}</h2>
    <a class="end" href="/settings/silences">
      All silences
    </a>
  </div>
)
