/** Shows the watched Kubernetes clusters, what cannot be read, and when they were not observed. */
import type { FC } from 'hono/jsx'
import { type RefusedSenders, timesText } from '../../domain/doctor/facts.ts'
import { formatDuration } from '../../domain/shown-time.ts'
import { countOf, joinNames } from '../../domain/text.ts'
import type { ClusterState, Gap } from '../../domain/watch/object.ts'
import type { ChannelView } from '../channels/input.ts'
import { Mark } from '../kit/mark.tsx'
import { Card, Head } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'
import { GapText } from '../kit/workload.tsx'

export type ClusterView = ClusterState & { readonly gaps: readonly Gap[] }

export const Clusters: FC<{ clusters: readonly ClusterView[] }> = ({ clusters }) => (
  <>
    <Head title="Watched clusters" />
    <Card empty={null}>
      <ul class="rows">
        {clusters.map((cluster) => (
          <Cluster cluster={cluster} />
        ))}
      </ul>
    </Card>
  </>
)

const Cluster: FC<{ readonly cluster: ClusterView }> = ({ cluster }) => {
  const { name, server, objects, heardAt, failures, gaps } = cluster
  return (
    <li class="item group">
      <Mark level={failures.length === 0 ? 'healthy' : 'degraded'} label={failures.length === 0 ? 'fine' : 'failing'} />
      <div class="grow group-body">
        <p class="break">
          <b>{name}</b> {stateText(cluster)}
        </p>
        <p class="second break">
          {server}, {countOf(objects, 'object')}
        </p>
        {failures.map(({ resource, without, error, status }) => (
          <p class="second break">
            {resource}: {error}.{' '}
            {status === 403 ? `Not shown: ${without}. Grant the permission with "incmon kubernetes manifest".` : null}
            {status === 401 ? 'Create a new token for the service account.' : null}
          </p>
        ))}
        {gaps.map((gap) => (
          <p class="second">
            <GapText gap={gap} />
          </p>
        ))}
      </div>
      {heardAt === null ? null : (
        <span class="group-time second">
          last contact <Time at={heardAt} style="moment" />
        </span>
      )}
    </li>
  )
}

function stateText({ failures, isComplete, heardAt }: ClusterState): string {
  if (failures.some(({ status }) => status === 0)) return 'cannot be reached'
  if (failures.length > 0) return `is watched, except ${failures.map(({ resource }) => resource).join(', ')}`
  return isComplete && heardAt !== null ? 'is watched' : 'is being listed'
}

// Shows senders that are refused, and channels that fail.

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
