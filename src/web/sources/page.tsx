/** Shows whether each sender is still active, and which items were rejected. */

import type { Child, FC } from 'hono/jsx'
import type { RefusedSenders } from '../../domain/doctor/facts.ts'
import type { Source } from '../../domain/event/event.ts'
import type { LiveSender } from '../../domain/sender/sender.ts'
import { formatDuration } from '../../domain/shown-time.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { Sparkbars } from '../drawing/strip.tsx'
import { Icon, Marked } from '../kit/mark.tsx'
import { Card, Head, Pages, Table } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'
import { CONNECTIONS } from './connections.ts'
import { Clusters, type ClusterView, type FailingChannel, FailingChannels, Refused } from './problems.tsx'

const COLUMNS = [
  ...['Sender', 'Last event', 'Events by hour, 24 h'],
  { name: 'Events, total', class: 'number' },
  'Heartbeat',
  { name: 'Rejected, total', class: 'number' },
]

type SenderView = Pick<
  LiveSender,
  'source' | 'cluster' | 'receiver' | 'tokens' | 'events' | 'rejections' | 'lastEventAt'
> & {
  /** Whether another sender is of the same kind, so that only the tokens tell the two apart. */
  readonly hasTwin: boolean
  /** The number of events per hour over the last 24 hours, oldest first. */
  readonly byHour: readonly number[]
  /** The usual interval between two deliveries of the same alerts in ms; null if unknown. */
  readonly interval: number | null
  /** How far the sender's clock is ahead of the server's clock, in ms; negative if the sender's clock is behind. */
  readonly clockOffset: number
  /** Whether other senders name a cluster but this sender does not. */
  readonly lacksCluster: boolean
  readonly heartbeat: { readonly lastAt: number; readonly silent: boolean } | null
  /** Whether incmon watches the cluster itself, so that it notices a silence without a heartbeat. */
  readonly isWatched: boolean
}

type RejectionView = {
  readonly id: string
  readonly source: Source
  readonly index: number
  readonly error: string
  readonly payload: string
  readonly receivedAt: number
}

type Props = {
  readonly lead: string
  readonly rest: string
  readonly senders: readonly SenderView[]
  readonly page: number
  readonly pages: number
  readonly rejections: readonly RejectionView[]
  /** The number of items rejected in the last 24 hours. */
  readonly rejected: number
  /** The senders with missing or wrong tokens; null if incmon cannot tell which organization the senders belong to. */
  readonly refused: RefusedSenders | null
  /** Channels that cannot deliver messages. */
  readonly failing: readonly FailingChannel[]
  /** The watched Kubernetes clusters. */
  readonly clusters: readonly ClusterView[]
  readonly children?: Child
}

export const SourcesPage: FC<Props> = (props) => {
  const { lead, rest, senders, refused, page, pages, rejections, rejected, failing, clusters, children } = props
  return (
    <>
      <div class="title">
        <h1>
          {lead} <span class="rest">{rest}</span>
        </h1>
      </div>
      {senders.length === 0 ? null : (
        <div class="card">
          <Table names={COLUMNS}>
            {senders.map((sender) => (
              <SenderRow sender={sender} />
            ))}
          </Table>
          <Pages page={page} pages={pages} addressOf={(to) => `/sources?page=${to}`} />
        </div>
      )}
      {clusters.length === 0 ? null : <Clusters clusters={clusters} />}
      {refused === null || refused.newest.length === 0 ? null : <Refused refused={refused} />}
      {failing.length === 0 ? null : <FailingChannels channels={failing} />}
      <Head title="Rejected items" second={rejected === 0 ? '' : `${rejected} in the last 24 hours`} />
      <Card empty={rejections.length === 0 ? 'Nothing was rejected in the last 24 hours.' : null}>
        <ul class="rows">
          {rejections.map((one) => (
            <li>
              <details id={`rejection-${one.id}`}>
                <summary>
                  <Time at={one.receivedAt} style="moment" /> <b>{CONNECTIONS[one.source].name}</b>{' '}
                  <code>
                    item {one.index}: {one.error}
                  </code>
                </summary>
                <p class="second after-card">
                  This item was not stored. Valid items of the same request were. Correct the sender, so that its next
                  requests are stored completely.
                </p>
                <div class="block after-card">
                  <pre tabindex={0}>{one.payload}</pre>
                </div>
              </details>
            </li>
          ))}
        </ul>
      </Card>
      <div class="head">
        <h2 id="connect">Connect a sender</h2>
      </div>
      <div class="card">{children}</div>
    </>
  )
}

const SenderRow: FC<{ sender: SenderView }> = ({ sender }) => {
  const { name, icon } = CONNECTIONS[sender.source]
  const { receiver, tokens, hasTwin } = sender
  const named = hasTwin || tokens.length > 1 ? tokens.map((token) => `token ${token}`) : []
  const details = [sender.source, receiver === '' ? '' : `receiver ${receiver}`, sender.cluster, ...named]
  return (
    <tr>
      <td class="readable">
        <span class="with-icon">
          <Icon name={icon} />
          <span class="break">
            <b>{name}</b>
            <span class="second">{details.filter((one) => one !== '').join(', ')}</span>
            {warningsOf(sender).map((text) => (
              <span class="second warn-text">{text}</span>
            ))}
          </span>
        </span>
      </td>
      <td data-label="Last event">
        {sender.lastEventAt === null ? (
          <span class="quiet">never</span>
        ) : (
          <span class={sender.heartbeat?.silent ? 'warn-text' : ''}>
            <Time at={sender.lastEventAt} />
          </span>
        )}
        <span class="second">{rateText(sender)}</span>
      </td>
      <td data-label="Events by hour, 24 h">
        <Sparkbars counts={sender.byHour} level={null} label={hoursText(sender.byHour)} />
      </td>
      <td class="number" data-label="Events, total">
        {formatCount(sender.events)}
      </td>
      <td data-label="Heartbeat">
        <Heartbeat sender={sender} />
      </td>
      <td class="number" data-label="Rejected, total">
        {formatCount(sender.rejections)}
      </td>
    </tr>
  )
}

/** Returns how often the sender repeats what fires or, if that is unknown, how much it sent. */
function rateText({ interval, byHour }: SenderView): string {
  if (interval !== null) return `every ${formatDuration(interval)} while something fires`
  const total = byHour.reduce((sum, count) => sum + count, 0)
  return `${total === 0 ? 'nothing' : countOf(total, 'event')} in the last 24 hours`
}

/** Returns a sentence about each problem with the sender's data. */
function warningsOf({ clockOffset, lacksCluster }: SenderView): string[] {
  const off = Math.abs(clockOffset)
  return [
    off < 1000
      ? ''
      : `Its clock is ${formatDuration(off)} ${clockOffset > 0 ? 'ahead' : 'behind'}. incmon corrects the times of its events. Correct the clock of the sender as well.`,
    lacksCluster
      ? 'Its events do not specify a cluster, but events from another sender do. Create a token with a cluster for this sender.'
      : '',
  ].filter((text) => text !== '')
}

function hoursText(byHour: readonly number[]): string {
  const total = byHour.reduce((sum, count) => sum + count, 0)
  const most = Math.max(0, ...byHour)
  return `${formatCount(total)} events in the last 24 hours, at most ${formatCount(most)} in one hour`
}

const Heartbeat: FC<{ sender: SenderView }> = ({ sender: { heartbeat, isWatched } }) => {
  if (heartbeat === null && isWatched) return <span class="second">watched, with its last contact below</span>
  if (heartbeat === null)
    return <span class="second">none, so incmon cannot tell whether this sender is idle or down</span>
  return (
    <Marked level={heartbeat.silent ? 'warning' : 'done'}>
      {heartbeat.silent ? 'Watchdog stopped ' : 'Watchdog received '}
      <Time at={heartbeat.lastAt} />
    </Marked>
  )
}
