/** The steps to connect a sender: its token, its configuration with this server's URL, and its first event. */
import type { FC } from 'hono/jsx'
import { countOf } from '../../domain/text.ts'
import { CopyButton, Form, Secret, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, Mark } from '../kit/mark.tsx'
import { Time } from '../kit/time.tsx'
import { CONNECTIONS, type Connection, type ConnectionName } from './connections.ts'

/** Returns the sender's name for use within a sentence. */
function senderName({ id, name }: Connection): string {
  return id === 'other' ? 'your sender' : id === 'cluster' ? 'kubernetes-event-exporter' : name
}

/** The events received from this kind of sender, or null. */
type Arrival = { readonly at: number; readonly events: number }

type Props = {
  readonly current: ConnectionName
  /** The URL of the page that contains these steps. */
  readonly path: string
  /** The URL at which senders reach this server. */
  readonly address: string
  /** The settings to change so that senders on other machines can reach this server. */
  readonly missing: readonly string[]
  /** The token created by this request, which is shown only once. */
  readonly secret: string | null
  readonly arrival: Arrival | null
}

export const ConnectSteps: FC<Props> = (props) => {
  const { canAdminister } = getFrame()
  const { current, path, address, secret } = props
  const connection = CONNECTIONS[current]
  return (
    <ol class="connect-steps">
      <li class={secret === null ? undefined : 'step-done'}>
        {secret === null ? (
          <>
            <h3>Create a token for {senderName(connection)}</h3>
            <p class="second">The token can only send events. It is shown once and stored as a hash.</p>
            {canAdminister ? (
              <Form action={`${path}?connect=${current}`} fields={{ connect: current }}>
                <Submit look="primary">Create token</Submit>
              </Form>
            ) : (
              <p class="second">Only an administrator can create a token.</p>
            )}
          </>
        ) : (
          <>
            <h3>Copy the token for {senderName(connection)}</h3>
            <p class="second">{connection.tokenHint} It is shown only once.</p>
            <Secret text={secret} />
          </>
        )}
      </li>
      <li>
        <h3>
          {connection.before} <code>{connection.file}</code>
          {connection.after}
        </h3>
        <div class="block">
          <pre id="configuration" tabindex={0}>
            <Configuration connection={connection} address={address} secret={secret} />
          </pre>
          <CopyButton of="configuration" />
        </div>
        <Unreachable missing={props.missing} />
      </li>
      <li>
        <h3>See it arrive</h3>
        <ArrivalLine {...props} />
      </li>
    </ol>
  )
}

const Unreachable: FC<{ missing: Props['missing'] }> = ({ missing }) =>
  missing.length === 0 ? null : (
    <p class="second">
      Senders on other machines cannot reach this address. For them,{' '}
      {missing.includes('host') ? (
        <>
          set <code>host</code> to an address of this machine, and{' '}
        </>
      ) : null}
      set <code>public-url</code> to the URL at which they reach this server.
    </p>
  )

/** Tabs for the kinds of senders. */
export const ConnectTabs: FC<{ current: ConnectionName }> = ({ current }) => (
  <nav class="tabs" aria-label="Kind of sender">
    {Object.values(CONNECTIONS).map(({ id, name, icon }) => (
      <a href={`/sources?connect=${id}`} aria-current={id === current ? 'true' : undefined}>
        <Icon name={icon} />
        {name}
      </a>
    ))}
  </nav>
)

const Configuration: FC<{ connection: Connection; address: string; secret: string | null }> = (props) => {
  const { connection, address, secret } = props
  const { protocol, host, pathname } = new URL(address)
  const parts = {
    '{token}': secret ?? 'INCMON_TOKEN',
    '{scheme}': protocol.slice(0, -1),
    '{host}': host,
    '{path}': pathname.replace(/\/$/, ''),
  }
  const filled = connection.text.replace(/\{(?:token|scheme|host|path)\}/g, (name) => parts[name as keyof typeof parts])
  const [before = '', ...after] = filled.split('{url}')
  return (
    <>
      {before}
      {after.map((text) => (
        <>
          <mark>
            {address}
            {connection.webhook}
          </mark>
          {text}
        </>
      ))}
    </>
  )
}

const ArrivalLine: FC<Props> = ({ current, path, secret, arrival }) => (
  <div class="row arrival">
    <span class="with-icon" id="arrival" data-live data-events>
      <Mark level={arrival === null ? 'unknown' : 'done'} />
      {arrival === null ? (
        `Waiting for the first event from ${senderName(CONNECTIONS[current])}.`
      ) : (
        <span>
          Received {countOf(arrival.events, 'event')} from {senderName(CONNECTIONS[current])}, the last one{' '}
          <Time at={arrival.at} />.
        </span>
      )}
    </span>
    <Form
      action={`${path}/test?connect=${current}`}
      fields={{ connect: current, ...(secret === null ? {} : { secret }) }}
    >
      <Submit look="small">
        <Icon name="right" />
        Send a test event
      </Submit>
    </Form>
  </div>
)
