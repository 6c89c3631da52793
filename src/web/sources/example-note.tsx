/** A note that the data is an example, with a button to remove it. */
import type { FC } from 'hono/jsx'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Mark } from '../kit/mark.tsx'

export const ExampleNote: FC = () => (
  <div class="card row note">
    <Mark level="info" />
    <span>This is an example. None of it comes from your systems.</span>
    {getFrame().canAdminister ? (
      <>
        <a href="/welcome">Connect a sender</a>
        <Action action="/welcome/example/remove" look="small">
          Remove the example
        </Action>
      </>
    ) : null}
  </div>
)
