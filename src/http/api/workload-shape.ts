/** What a watched Kubernetes cluster says about the workload of a service, as the API returns it. */
import * as v from 'valibot'
import * as shape from '../shapes.ts'

const podShape = v.object({
  name: shape.text('The name of the pod', 'checkout-5d8c7b9f4d-x2x7k'),
  node: shape.nullable(v.string(), 'The node that runs the pod; null if none does', 'node-1'),
  isReady: shape.flag('Whether the pod is ready', false),
  state: shape.text('`ready`, `CrashLoopBackOff` or another reason', 'CrashLoopBackOff'),
  restarts: shape.count('How often its containers have restarted', 12),
  restartsInHour: shape.count('How many of these restarts were seen in the last hour', 4),
  notReadySince: shape.nullable(shape.instant(), 'Since when the pod is not ready; null if it is'),
  createdAt: shape.instant('When the pod was created'),
})

export const workloadShape = shape.object(
  {
    cluster: shape.text('The name of the watched cluster', 'production'),
    kind: shape.choice(['Deployment', 'StatefulSet', 'DaemonSet'], 'The kind of workload', 'Deployment'),
    wanted: shape.count('How many replicas are wanted', 3),
    available: shape.count('How many replicas are available', 1),
    revision: shape.text('The revision of a Deployment; empty for other kinds', '7'),
    stuck: shape.nullable(v.string(), 'Why its rollout makes no progress; null if it does', null),
    images: shape.objects(
      {
        container: shape.text('The container', 'app'),
        image: shape.text('Its image', 'shop/checkout:2.0'),
        before: shape.nullable(
          v.string(),
          'The image of the last revision, if it was another one',
          'shop/checkout:1.9',
        ),
      },
      'The images of its containers',
    ),
    pods: shape.list(podShape, 'The pods that have not ended, those that are not ready first'),
  },
  'What a watched Kubernetes cluster says about the service now',
)

export const showPod = shape.shower(podShape)
