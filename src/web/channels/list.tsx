/** Lists the channels, each with its delivery status. */
import type { FC } from 'hono/jsx'
import { remindersText, rulesText } from '../../domain/notification/rule.ts'
import { Action } from '../kit/form.tsx'
import { Icon, Marked } from '../kit/mark.tsx'
import { Card, Head, Table } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'
import { type ChannelView, KINDS } from './input.ts'

type Props = { readonly channels: readonly ChannelView[] }

export const ChannelList: FC<Props> = ({ channels }) => (
  <>
    <Head title="Notification channels" second="where messages about incidents are sent">
      <a class={`button end ${channels.length === 0 ? 'primary' : ''}`} href="/settings/notifications/new">
        <Icon name="plus" />
        New channel
      </a>
    </Head>
    <Card
      empty={
        channels.length === 0
          ? 'Nobody is notified about incidents yet. Add a channel, which receives all incidents by default.'
          : null
      }
    >
      <Table names={['Channel', 'Gets', 'Last sent']} action="Send a test">
        {channels.map((channel) => (
          <ChannelRow channel={channel} />
        ))}
      </Table>
    </Card>
  </>
)

const ChannelRow: FC<{ channel: ChannelView }> = ({ channel }) => {
  const { id, name, kind, target, settings, warnings } = channel
  const href = `/settings/notifications/${id}`
  return (
    <tr>
      <td>
        <span class="with-icon">
          <Icon name={KINDS[kind].icon} />
          <span class="break">
            <a class="ink" href={href}>
              <b>{name}</b>
            </a>
            <span class="second">
              {KINDS[kind].name}, {target}
            </span>
          </span>
        </span>
      </td>
      <td data-label="Gets">
        <span class="break">
          {rulesText(settings.rules).map((text) => (
            <span class="one-line">{text}</span>
          ))}
          <span class="second">{remindersText(settings)}</span>
          {warnings.length > 0 ? <span class="second warn-text">{warnings.join('; ')}</span> : null}
        </span>
      </td>
      <td data-label="Last sent">
        <LastSent channel={channel} />
      </td>
      <td class="shrink">
        <Action action={href} fields={{ do: 'test' }} look="small">
          Send a test<span class="hidden-text"> to {name}</span>
        </Action>
      </td>
    </tr>
  )
}

/** Shows whether the channel's messages are being delivered and, if not, why. */
export const LastSent: FC<{ channel: ChannelView; label?: string }> = ({ channel, label = '' }) => {
  const { enabled, failing, failingSince, deliveredAt } = channel
  const delivered = deliveredAt === null ? 'nothing sent yet' : <Time at={deliveredAt} />
  if (failing !== null) {
    return (
      <Marked level="warning" class="break">
        {enabled ? 'Failing' : 'Disabled, failing'} since{' '}
        {failingSince === null ? 'now' : <Time at={failingSince} style="moment" />}
        <span class="second">{failing}</span>
      </Marked>
    )
  }
  if (!enabled) return <Marked level="unknown">disabled, last {delivered}</Marked>
  return deliveredAt === null ? (
    <Marked level="unknown">{delivered}</Marked>
  ) : (
    <Marked level="done">
      {label}
      {delivered}
    </Marked>
  )
}
