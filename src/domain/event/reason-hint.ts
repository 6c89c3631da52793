/** Hints: one sentence per condition about its usual cause and what to check first. */

const BY_MESSAGE: readonly (readonly [string, RegExp, string])[] = [
  [
    'ImagePullBackOff',
    /unauthorized|forbidden|authentication required|access denied|authorization failed|\bstatus(?: code)?:? 40[13]\b/i,
    'The registry rejects the credentials (401 or 403): check the pull secret and its service account.',
  ],
  [
    'ImagePullBackOff',
    /not found|manifest unknown|name unknown/i,
    'The registry has no such image or tag: compare the tag with what the pipeline pushed.',
  ],
  [
    'ImagePullBackOff',
    /toomanyrequests|\b429\b/i,
    'The registry limits the rate of pulls: authenticate or use a mirror.',
  ],
  [
    'ImagePullBackOff',
    /x509|timeout|deadline exceeded|no such host|connection refused/i,
    'The node cannot reach the registry: check its name, certificate and network.',
  ],
  [
    'FailedScheduling',
    /unbound (?:immediate )?PersistentVolumeClaim/i,
    'The pod is waiting for a volume: look at its claim and the storage class.',
  ],
  [
    'FailedScheduling',
    /insufficient/i,
    'No node has enough free resources for the pod: compare its requests with the free resources of the nodes.',
  ],
  [
    'FailedScheduling',
    /taint|affinity|selector|unschedulable/i,
    'No node is allowed to take the pod: look at taints, cordons, selectors and affinity.',
  ],
  ['FailedCreate', /exceeded quota/i, 'A quota of the namespace is exhausted: raise it or lower the requests.'],
  [
    'FailedCreate',
    /service ?account/i,
    'The service account of the pods does not exist: create it or correct its name.',
  ],
  ['FailedCreate', /webhook|denied/i, 'An admission rule refuses the pods: read the message for its name.'],
  ['FailedMount', /secret|configmap/i, 'A secret or config map to mount is missing: check its name and namespace.'],
]

const PROBE = 'look at the latency of the probed endpoint and at the timeouts of the probe.'
const PRESSURE = 'find out what is using it; otherwise pods will be evicted.'
const JOB = 'The job failed and is not retried: read the log of its last pod.'

const BY_GROUP: ReadonlyMap<string, string> = new Map([
  ['CrashLoopBackOff', 'The container keeps exiting after it starts: read the log of its previous run.'],
  ['OOMKilled', 'The container needs more memory than its limit: compare its use with the limit, and look for a leak.'],
  ['OOMKilling', 'The kernel killed a process to free memory: find the process and check its limit.'],
  ['SystemOOM', 'The node ran out of memory: look for pods without limits.'],
  ['NodeNotReady', 'The node no longer reports its status: check its kubelet, network and power.'],
  ['NodeNotReady (pod)', 'The node of this pod no longer reports: look at the node first.'],
  ['KubeletSetupFailed', 'The kubelet could not start: read its log on the node.'],
  ['FreeDiskSpaceFailed', 'The node could not free disk space: look for large images, logs and volumes.'],
  ['EvictionThresholdMet', 'The node runs out of a resource and starts to evict pods: check which resource.'],
  ['NodeHasDiskPressure', `The node runs out of disk: ${PRESSURE}`],
  ['NodeHasInsufficientMemory', `The node runs out of memory: ${PRESSURE}`],
  ['NodeHasInsufficientPID', `The node runs out of process ids: ${PRESSURE}`],
  ['Rebooted', 'The node restarted: check whether it was planned.'],
  ['NodeShutdown', 'The node is shutting down: check whether it was planned.'],
  ['NodeNotSchedulable', 'The node was cordoned: check whether somebody is working on it.'],
  ['BackoffLimitExceeded', JOB],
  ['DeadlineExceeded', 'The job took longer than its deadline: find out what it waits for.'],
  ['ProgressDeadlineExceeded', 'The rollout is not progressing: look at the events of its newest pods.'],
  ['NetworkNotReady', 'The network of the node is not ready: look at the pods of the network plugin there.'],
  ['FailedCreatePodSandBox', 'The sandbox of the pod could not be created: check the network plugin and the runtime.'],
  ['ErrImageNeverPull', 'The image is not on the node, and the pull policy does not allow pulling it.'],
  ['InvalidImageName', 'The name of the image is malformed: check its last change.'],
  ['ImagePullBackOff', 'The image cannot be pulled: check its name, its tag and the credentials.'],
  ['CreateContainerConfigError', 'A secret, config map or key that the container refers to is missing or wrong.'],
  ['CreateContainerError', 'The runtime could not create the container: read the message and the runtime log.'],
  ['RunContainerError', 'The container could not start: check its command, permissions and mounts.'],
  ['Unhealthy (liveness)', `The container does not answer its liveness probe and is restarted: ${PROBE}`],
  ['Unhealthy (readiness)', `The container is not ready and gets no traffic: ${PROBE}`],
  ['Unhealthy (startup)', `The container has not started in time: ${PROBE}`],
  ['Unhealthy', `A probe fails: ${PROBE}`],
  ['ProbeError', `A probe could not be run: ${PROBE}`],
  ['FailedScheduling', 'No node accepts the pod: the message says why for each node.'],
  ['FailedCreate', 'The pods could not be created: look at quotas, admission rules and the service account.'],
  ['FailedMount', 'A volume could not be mounted: look at the claim, the secret or the config map named.'],
  ['FailedAttachVolume', 'A volume could not be attached: check whether another node still uses it.'],
  ['FailedMapVolume', 'A block volume could not be mapped: look at the storage driver on the node.'],
  ['FailedBinding', 'No volume matches the claim: check its storage class, size and access mode.'],
  ['ProvisioningFailed', 'The storage class could not create a volume: read the log of its provisioner.'],
  ['FailedPostStartHook', 'The postStart hook failed, so the container is killed: read its output.'],
  ['Evicted', 'The node evicted the pod for lack of a resource: compare its use with its requests.'],
  ['FailedDaemonPod', 'A pod of the daemon set failed on a node: look at that node and its log.'],
  ['NotTriggerScaleUp', 'The autoscaler found no suitable node group: check its limits.'],
  ['MissSchedule', 'A run of the cron job was missed: check its schedule and starting deadline.'],
])

/** Returns the most specific hint for a condition and its message, or null. */
export function hintOf(group: string, message: string): string | null {
  const special = BY_MESSAGE.find(([of, pattern]) => of === group && pattern.test(message))?.[2]
  return special ?? BY_GROUP.get(group) ?? null
}
