/** A note that the data is an example, with a button to remove it. */
import type { FC } from 'hono/jsx'
import { Action } from '../kit/form.tsx'
import { Mark } from '../kit/mark.tsx'

export const ExampleNote: FC<{ csrf: string; canAdminister: boolean }> = ({ csrf, canAdminister }) => (
  <div class="card row note">
    <Mark level="info" />
    <span>This is an example. None of it comes from your systems.</span>
    {canAdminister ? (
      <>
        <a href="/welcome">Connect a sender</a>
        <Action action="/welcome/example/remove" csrf={csrf} look="small">
          Remove the example
        </Action>
      </>
    ) : null}
  </div>
)
