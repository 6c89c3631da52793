/** The page for a person who is signed in to several organizations. */
import type { FC } from 'hono/jsx'
import { Action } from '../kit/form.tsx'
import { Section } from '../kit/section.tsx'

type Props = {
  readonly csrf: string
  readonly current: string
  /** The other organizations to which this browser is signed in. */
  readonly others: readonly { readonly id: string; readonly name: string }[]
}

export const OrganizationsPage: FC<Props> = ({ csrf, current, others }) => (
  <>
    <h1>Organizations</h1>
    <Section id="signed-in" title="You are signed in to" second={`this page shows ${current}`}>
      <ul class="card rows">
        <li class="row">
          <b class="break">{current}</b>
          <span class="end second">shown now</span>
        </li>
        {others.map(({ id, name }) => (
          <li class="row">
            <span class="break">{name}</span>
            <span class="end">
              <Action action="/organizations" csrf={csrf} fields={{ organization: id }} look="small">
                Switch to {name}
              </Action>
            </span>
          </li>
        ))}
      </ul>
    </Section>
    <p class="after-card">
      <a href="/sign-in">Sign in to another organization</a> with a token of that organization. You stay signed in to{' '}
      {current}.
    </p>
  </>
)
