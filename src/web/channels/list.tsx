/** Lists the channels, each with its delivery status. */
import type { FC } from 'hono/jsx'
import type { ChannelSettings } from '../../domain/notification/channel.ts'
import type { Rule } from '../../domain/notification/rule.ts'
import type { Reader } from '../../domain/shown-time.ts'
import { formatMatchers } from '../../domain/silence/matcher.ts'
import { Action } from '../kit/form.tsx'
import { Icon } from '../kit/mark.tsx'
import { Marked } from '../kit/marked.tsx'
import { Card, Columns, Head } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'
import { type ChannelView, KINDS, NEWS } from './view.ts'

type Props = { readonly csrf: string; readonly reader: Reader; readonly channels: readonly ChannelView[] }

export const ChannelList: FC<Props> = ({ csrf, reader, channels }) => (
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
      <table class="cards">
        <Columns names={['Channel', 'Gets', 'Last sent']} action="Send a test" />
        <tbody>
          {channels.map((channel) => (
            <ChannelRow channel={channel} csrf={csrf} reader={reader} />
          ))}
        </tbody>
      </table>
    </Card>
  </>
)

const ChannelRow: FC<{ channel: ChannelView; csrf: string; reader: Reader }> = ({ channel, csrf, reader }) => {
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
        <LastSent channel={channel} reader={reader} />
      </td>
      <td class="shrink">
        <Action action={href} csrf={csrf} fields={{ do: 'test' }} look="small">
          Send a test<span class="hidden-text"> to {name}</span>
        </Action>
      </td>
    </tr>
  )
}

/** Shows whether the channel's messages are being delivered and, if not, why. */
export const LastSent: FC<{ channel: ChannelView; reader: Reader }> = ({ channel, reader }) => {
  const { enabled, failing, failingSince, deliveredAt } = channel
  const delivered = deliveredAt === null ? 'nothing sent yet' : <Time at={deliveredAt} reader={reader} />
  if (failing !== null) {
    return (
      <Marked level="warning" class="break">
        {enabled ? 'Failing' : 'Disabled, failing'} since{' '}
        {failingSince === null ? 'now' : <Time at={failingSince} reader={reader} style="moment" />}
        <span class="second">{failing}</span>
      </Marked>
    )
  }
  if (!enabled) return <Marked level="unknown">disabled, last {delivered}</Marked>
  return <Marked level={deliveredAt === null ? 'unknown' : 'done'}>{delivered}</Marked>
}

/** Returns a short description of each rule. */
function rulesText(rules: readonly Rule[]): readonly string[] {
  return rules.length === 0 ? ['all changes to all incidents, at any time'] : rules.map(ruleText)
}

function ruleText({ events, minSeverity, services, namespaces, matchers, quietHours }: Rule): string {
  const changes =
    events === undefined
      ? 'all changes'
      : events.length === 0
        ? 'no changes'
        : events.map((one) => NEWS[one]).join(', ')
  const severity =
    minSeverity === undefined ? '' : minSeverity === 'critical' ? 'critical only' : `${minSeverity} or worse`
  const of = [
    services ? `of ${services.join(', ')}` : '',
    namespaces ? `in ${namespaces.join(', ')}` : '',
    matchers ? `with ${formatMatchers(matchers)}` : '',
  ].filter((text) => text !== '')
  const quiet = quietHours
    ? `quiet ${quietHours.from}–${quietHours.to} ${quietHours.timeZone}${daysText(quietHours.weekdays)}`
    : ''
  return [[changes, ...of].join(' '), severity, quiet].filter((text) => text !== '').join('; ')
}

function daysText(weekdays: readonly string[] | undefined): string {
  return weekdays === undefined ? '' : ` (${weekdays.map((day) => day.slice(0, 3)).join(', ')})`
}

/** Describes the reminders for an unacknowledged incident; '' if there are none. */
function remindersText({ remindAfter, remindEvery, escalateAfter }: ChannelSettings): string {
  const escalation = escalateAfter === 0 ? '' : `only after ${escalateAfter} min without acknowledgement`
  const first = remindAfter === 0 ? '' : `reminder after ${remindAfter} min`
  const every = remindAfter === 0 || remindEvery === 0 ? '' : `then every ${remindEvery} min`
  return [escalation, first, every].filter((text) => text !== '').join(', ')
}
