/** Shows a channel with its delivery status, latest messages and settings. Also shows the form for a new channel. */
import type { FC } from 'hono/jsx'
import type { ChannelKind } from '../../domain/notification/format.ts'
import { Action, type Fault, Form, NewSecret, Submit } from '../kit/form.tsx'
import { Icon, Mark, Marked } from '../kit/mark.tsx'
import { Card, Head, Section, Table } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'
import { ChannelFields } from './form.tsx'
import { type ChannelForm, type ChannelView, KINDS } from './input.ts'
import { LastSent } from './list.tsx'

type FormProps = { readonly form: ChannelForm; readonly faults: readonly Fault[] }

export const NewChannel: FC<FormProps & { kind: ChannelKind; sendsMail: boolean }> = ({ sendsMail, ...props }) => (
  <>
    <Head title="New channel">
      <AllChannels />
    </Head>
    <nav class="tabs" aria-label="Kind of channel">
      {Object.entries(KINDS).map(([id, { name, icon }]) => (
        <a href={`/settings/notifications/new?kind=${id}`} aria-current={id === props.kind ? 'true' : undefined}>
          <Icon name={icon} />
          {name}
        </a>
      ))}
    </nav>
    {props.kind === 'mail' && !sendsMail ? (
      <p class="second after-card">
        This server is not configured to send email. Set <code>smtp-url</code> and <code>mail-from</code>, then restart
        the server.
      </p>
    ) : null}
    <div class="after-card">
      <ChannelFields {...props} action={`/settings/notifications/new?kind=${props.kind}`} stored={null} isPrimary />
    </div>
  </>
)

type Props = FormProps & {
  readonly channel: ChannelView
  readonly deliveries: readonly DeliveryView[]
  /** The signing secret created by this request, which is shown only once. */
  readonly secret: string | null
}

export const ChannelPage: FC<Props> = ({ channel, deliveries, secret, form, faults }) => {
  const { id, name, kind, target, enabled, warnings } = channel
  const action = `/settings/notifications/${id}`
  return (
    <>
      <div class="head">
        <h2 class="break">{name}</h2>
        <span class="second break">
          {KINDS[kind].name}, {target}
        </span>
        <AllChannels />
      </div>
      {secret === null ? null : <NewSecret text={secret} about="This secret signs the messages." />}
      <div class="card after-card">
        <div class="body stack">
          <LastSent channel={channel} label="Last message delivered " />
          {warnings.map((text) => (
            <p class="with-icon">
              <Mark level="warning" />
              <span>Warning: {text}.</span>
            </p>
          ))}
          <div class="row">
            <Action action={action} fields={{ do: 'test' }} look={isNew(channel) ? 'primary' : ''}>
              Send a test
            </Action>
            <Action action={action} fields={{ do: enabled ? 'disable' : 'enable' }}>
              {enabled ? 'Disable' : 'Enable'}
            </Action>
            {kind === 'webhook' ? (
              <Action action={action} fields={{ do: 'rotate' }}>
                New signing secret
              </Action>
            ) : null}
            <Remove name={name} action={action} />
          </div>
        </div>
      </div>
      <Deliveries deliveries={deliveries} />
      <Head title="Channel settings" />
      <ChannelFields {...{ action, kind, form, faults }} stored={target} isPrimary={!isNew(channel)} />
    </>
  )
}

const AllChannels: FC = () => (
  <a class="end" href="/settings/notifications">
    All channels
  </a>
)

/** Returns whether to suggest a test message: nothing has been delivered yet, or the last attempt failed. */
function isNew({ deliveredAt, failing }: ChannelView): boolean {
  return deliveredAt === null || failing !== null
}

const Remove: FC<{ name: string; action: string }> = ({ name, action }) => (
  <details class="confirm">
    <summary class="button">Remove…</summary>
    <Form action={action} fields={{ do: 'remove' }}>
      <p class="break">
        Remove {name}? Its pending messages will not be sent, and its message history will be deleted.
      </p>
      <Submit look="small">Remove channel</Submit>
    </Form>
  </details>
)

const Deliveries: FC<{ deliveries: readonly DeliveryView[] }> = ({ deliveries }) => (
  <Section id="messages" title="Recent messages" second="from the last 30 days, without tests">
    <Card empty={deliveries.length === 0 ? 'No message has been sent to this channel yet.' : null}>
      <Table names={['Notification', 'Written', 'Outcome']}>
        {deliveries.map((delivery) => (
          <tr>
            <td>
              <b>{delivery.kind}</b>
              {delivery.count > 1 ? ` and ${delivery.count - 1} more` : ''}{' '}
              {delivery.href === null ? null : (
                <a class="second break" href={delivery.href}>
                  {delivery.title ?? 'Incident'}
                </a>
              )}
            </td>
            <td data-label="Written" class="nowrap">
              <Time at={delivery.createdAt} style="moment" />
            </td>
            <td data-label="Outcome">
              <Outcome delivery={delivery} />
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  </Section>
)

const Outcome: FC<{ delivery: DeliveryView }> = ({ delivery }) => {
  const { status, attempts, dueAt, endedAt, detail } = delivery
  const tries = attempts > 1 ? ` after ${attempts} attempts` : ''
  return (
    <Marked level={status === 'delivered' ? 'done' : status === 'failed' ? 'error' : 'unknown'} class="break">
      {status === 'pending' ? 'pending, next attempt ' : `${status}${tries} `}
      {dueAt === null && endedAt === null ? null : <Time at={endedAt ?? dueAt ?? 0} style="moment" />}
      {detail === null ? null : <span class="second">{detail}</span>}
    </Marked>
  )
}

type DeliveryView = {
  readonly kind: string
  /** The first line of the message as it was sent; null before the first attempt. */
  readonly title: string | null
  /** The page of the incident; null if it was deleted. */
  readonly href: string | null
  readonly count: number
  readonly status: 'pending' | 'delivered' | 'failed'
  readonly attempts: number
  readonly createdAt: number
  readonly dueAt: number | null
  readonly endedAt: number | null
  readonly detail: string | null
}
