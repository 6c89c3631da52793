/** Shows what a watched Kubernetes cluster says about a workload now, and when the cluster was not observed. */
import type { FC } from 'hono/jsx'
import { formatDuration } from '../../domain/shown-time.ts'
import { countOf } from '../../domain/text.ts'
import type { Gap } from '../../domain/watch/object.ts'
import type { WorkloadNow } from '../../domain/watch/workload-now.ts'
import { getFrame } from './frame.ts'
import { Icon, Mark, ShortName } from './mark.tsx'
import { Card, Section } from './section.tsx'
import { Time } from './time.tsx'

const MAX_PODS = 10
const MAX_NAME = 40

type Props = { readonly now: WorkloadNow | null; readonly gaps?: readonly Gap[] }

export const InKubernetes: FC<Props> = ({ now, gaps = [] }) =>
  now === null && gaps.length === 0 ? null : (
    <Section id="kubernetes" title="Kubernetes" second={now === null ? null : `${now.kind} in ${now.cluster}, now`}>
      <Card empty={null}>
        <ul class="rows groups">
          {now === null ? null : <Replicas {...now} />}
          {(now?.pods ?? []).slice(0, MAX_PODS).map((pod) => (
            <Pod pod={pod} />
          ))}
          {now && now.pods.length > MAX_PODS ? (
            <li class="item second">and {countOf(now.pods.length - MAX_PODS, 'more pod')}</li>
          ) : null}
          {gaps.map((gap) => (
            <li class="item second">
              <span>
                <GapText gap={gap} />
              </span>
            </li>
          ))}
        </ul>
      </Card>
    </Section>
  )

export const GapText: FC<{ gap: Gap }> = ({ gap: { from, to } }) => (
  <>
    Not observed from <Time at={from} style="moment" /> to <Time at={to} style="moment" />: the API server had forgotten
    the changes.
  </>
)

const Replicas: FC<WorkloadNow> = ({ wanted, available, revision, stuck, images }) => {
  const level = available >= wanted ? 'healthy' : available === 0 ? 'critical' : 'degraded'
  return (
    <li class="item group">
      <Mark level={level} label={level} />
      <div class="grow group-body">
        <b>
          {available} of {countOf(wanted, 'replica')} available
        </b>
        {revision === '' ? null : <span class="quiet">, revision {revision}</span>}
        {stuck === null ? null : <p class="second break">{stuck}</p>}
        {images.map(({ container, image, before }) => (
          <p class="second break">
            {container}: {image}
            {before === null ? '' : `, before: ${before}`}
          </p>
        ))}
      </div>
    </li>
  )
}

const Pod: FC<{ pod: WorkloadNow['pods'][number] }> = ({ pod }) => {
  const { name, node, isReady, state, restarts, restartsInHour, notReadySince, createdAt } = pod
  const age = (since: number) => formatDuration(Math.max(0, getFrame().now - since))
  const facts = [
    isReady ? '' : state,
    notReadySince === null ? '' : `not ready for ${age(notReadySince)}`,
    restarts === 0 ? '' : countOf(restarts, 'restart'),
    restartsInHour === 0 ? '' : `${restartsInHour} in the last hour`,
    node === null ? 'no node' : `on ${node}`,
  ]
  return (
    <li class="item group">
      {isReady ? <Icon name="workload" label="ready" /> : <Mark level="degraded" label={state} />}
      <div class="grow group-body">
        <ShortName text={name} max={MAX_NAME} />
        <p class="second break">{facts.filter((fact) => fact !== '').join(', ')}</p>
      </div>
      <span class="group-time second nowrap">{age(createdAt)}</span>
    </li>
  )
}
