/** Shows the watched Kubernetes clusters, what cannot be read, and when they were not observed. */
import type { FC } from 'hono/jsx'
import { countOf } from '../../domain/text.ts'
import type { ClusterState, Gap } from '../../domain/watch/object.ts'
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
