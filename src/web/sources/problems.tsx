/** Shows senders that are refused, and channels that fail. */

import type { FC } from 'hono/jsx'
import { type RefusedSenders, timesText } from '../../domain/doctor/facts.ts'
import { formatDuration } from '../../domain/shown-time.ts'
import { countOf, joinNames } from '../../domain/text.ts'
import type { ChannelView } from '../channels/view.ts'
import { Mark } from '../kit/mark.tsx'
import { Head } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'

export type FailingChannel = Pick<ChannelView, 'id' | 'name' | 'enabled' | 'failing' | 'failingSince'>

/** Shows who sent webhook requests without a valid token. */
export const Refused: FC<{ refused: RefusedSenders }> = ({ refused: { newest, more } }) => {
  const names = newest.map((sender) => {
    return `${sender.network} (${timesText(sender)}, last ${formatDuration(sender.agoMs)} ago)`
  })
  const all = joinNames(more === 0 ? names : [...names, countOf(more, 'more network')])
  return (
    <p class="card item warn-card">
      <Mark level="warning" />
      <span class="break">
        Refused with 401 in the last hour: {all}. Their tokens are missing or wrong; correct them in the configuration
        of these senders.
      </span>
    </p>
  )
}

/** Shows the channels that cannot deliver messages. */
export const FailingChannels: FC<{ channels: readonly FailingChannel[] }> = ({ channels }) => (
  <>
    <Head title="Failing channels" second="Messages about incidents are not delivered to these channels." />
    <div class="card">
      <ul class="rows">
        {channels.map(({ id, name, enabled, failing, failingSince }) => (
          <li>
            <p class="second break">
              <a href={`/settings/notifications/${id}`}>{name}</a> {enabled ? 'fails' : 'sends nothing any more'}
              {failingSince === null ? '' : ' since '}
              {failingSince === null ? null : <Time at={failingSince} style="moment" />}: {failing}
            </p>
          </li>
        ))}
      </ul>
    </div>
  </>
)
