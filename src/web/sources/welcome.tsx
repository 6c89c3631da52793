/** The page shown before the first event, and later at its own URL: three steps to connect a sender. */
import type { Child, FC } from 'hono/jsx'
import { Action } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, Mark } from '../kit/mark.tsx'
import { CONNECTIONS, type ConnectionName } from './connections.ts'

type Props = {
  readonly current: ConnectionName
  readonly hasServices: boolean
  readonly hasEvents: boolean
  readonly children?: Child
}

export const WelcomePage: FC<Props> = ({ current, hasServices, hasEvents, children }) => (
  <div class="narrow">
    <div id="welcome-lead" data-live>
      <h1>
        {hasServices
          ? 'Connect another sender.'
          : hasEvents
            ? 'There are no services yet.'
            : 'Nothing has been sent yet.'}
      </h1>
      <p class="second lead">
        {!hasServices ? (
          `${hasEvents ? 'The first alert or deploy creates a service. ' : ''}Choose a sender and follow the three steps. This page tells you when the first event arrives.`
        ) : (
          <>
            Events have arrived, and your <a href="/">services</a> are listed. Connect another sender in three steps.
          </>
        )}
      </p>
    </div>
    <nav class="kinds" aria-label="Kind of sender">
      {Object.values(CONNECTIONS).map(({ id, name, icon, what }) => (
        <a class="card" href={`/welcome?connect=${id}`} aria-current={id === current ? 'true' : undefined}>
          <Icon name={icon} />
          <b>{name}</b>
          <span class="second">{what}</span>
        </a>
      ))}
    </nav>
    <h2 class="hidden-text">Three steps</h2>
    <div class="card">{children}</div>
    <div id="welcome-example" data-live>
      {getFrame().canAdminister && !hasServices ? (
        <div class="row after-card">
          <span class="second">Just looking? The example shows a bad deploy, its crash loop and the incident.</span>
          <Action action="/welcome/example" look="small">
            Load the example
          </Action>
        </div>
      ) : null}
    </div>
    <p class="second after-card">
      The name of your organization and more tokens are in the <a href="/settings">settings</a>.
    </p>
  </div>
)

// A note that the data is an example, with a button to remove it.

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
