/** Hints: one sentence per condition about its usual cause and what to check first. */

const BY_MESSAGE: readonly (readonly [string, RegExp, string])[] = [
  [
    'ImagePullBackOff',
    /unauthorized|forbidden|authentication required|access denied|authorization failed|\bstatus(?: code)?:? 40[13]\b/i,
    'The registry rejects the credentials (401 or 403): check the pull secret and the service account of the pod.',
  ],
  [
    'ImagePullBackOff',
    /not found|manifest unknown|name unknown/i,
    'The registry does not contain the image or tag: compare the tag with the one that the pipeline pushed.',
  ],
  ['ImagePullBackOff', /toomanyrequests|\b429\b/i, 'The registry limits the pull rate: authenticate or use a mirror.'],
  [
    'ImagePullBackOff',
    /x509|timeout|deadline exceeded|no such host|connection refused/i,
    "The node cannot reach the registry: check the registry's name, certificate and network.",
  ],
  [
    'FailedScheduling',
    /unbound (?:immediate )?PersistentVolumeClaim/i,
    'The pod is waiting for a volume: check the claim and the storage class.',
  ],
  [
    'FailedScheduling',
    /insufficient/i,
    'No node has enough free resources for the pod: compare its requests with the free resources of the nodes.',
  ],
  [
    'FailedScheduling',
    /taint|affinity|selector|unschedulable/i,
    'No node is allowed to run the pod: check the taints, cordons, selectors and affinity rules.',
  ],
  ['FailedCreate', /exceeded quota/i, 'A namespace quota is exhausted: raise the quota or lower the requests.'],
  ['FailedCreate', /service ?account/i, "The pods' service account does not exist: create it or correct its name."],
  ['FailedCreate', /webhook|denied/i, 'An admission rule rejects the pods: the message contains the name of the rule.'],
  ['FailedMount', /secret|configmap/i, 'A secret or config map to mount is missing: check its name and namespace.'],
]

const PROBE = 'check the latency of the probed endpoint and the timeouts of the probe.'
const PRESSURE = 'find the cause before the node evicts pods.'
const JOB = 'The job failed and will not be retried: read the log of its last pod.'

const BY_GROUP: ReadonlyMap<string, string> = new Map([
  ['CrashLoopBackOff', 'The container keeps exiting after it starts: read the log of its previous run.'],
  [
    'OOMKilled',
    'The container needs more memory than its limit: compare the memory usage with the limit, and look for a leak.',
  ],
  ['OOMKilling', 'The kernel killed a process to free memory: find the process and check its limit.'],
  ['SystemOOM', 'The node ran out of memory: look for pods without limits.'],
  ['NodeNotReady', 'The node no longer reports its status: check its kubelet, network and power.'],
  ['NodeNotReady (pod)', 'The node of this pod no longer reports its status: check the node first.'],
  ['KubeletSetupFailed', 'The kubelet could not start: read its log on the node.'],
  ['FreeDiskSpaceFailed', 'The node could not free disk space: look for large images, logs and volumes.'],
  ['EvictionThresholdMet', 'The node is running out of a resource and is evicting pods: find out which resource.'],
  ['NodeHasDiskPressure', `The node is running out of disk space: ${PRESSURE}`],
  ['NodeHasInsufficientMemory', `The node is running out of memory: ${PRESSURE}`],
  ['NodeHasInsufficientPID', `The node is running out of process IDs: ${PRESSURE}`],
  ['Rebooted', 'The node restarted: check whether it was planned.'],
  ['NodeShutdown', 'The node is shutting down: check whether it was planned.'],
  ['NodeNotSchedulable', 'The node was cordoned: check whether somebody is working on it.'],
  ['BackoffLimitExceeded', JOB],
  ['DeadlineExceeded', 'The job exceeded its deadline: find out what the job was waiting for.'],
  ['ProgressDeadlineExceeded', 'The rollout is not progressing: look at the events of its newest pods.'],
  ['NetworkNotReady', "The node's network is not ready: look at the network plugin's pods on the node."],
  ['FailedCreatePodSandBox', "The pod's sandbox could not be created: check the network plugin and the runtime."],
  ['ErrImageNeverPull', 'The image is not on the node, and the pull policy does not allow the node to pull the image.'],
  ['InvalidImageName', 'The image name is malformed: check the last change to the image name.'],
  ['ImagePullBackOff', 'The image cannot be pulled: check its name, its tag and the credentials.'],
  ['CreateContainerConfigError', 'A secret, config map or key that the container refers to is missing or wrong.'],
  ['CreateContainerError', 'The runtime could not create the container: read the message and the runtime log.'],
  ['RunContainerError', 'The container could not start: check its command, permissions and mounts.'],
  ['Unhealthy (liveness)', `The container fails its liveness probe and is restarted: ${PROBE}`],
  ['Unhealthy (readiness)', `The container is not ready and receives no traffic: ${PROBE}`],
  ['Unhealthy (startup)', `The container has not started in time: ${PROBE}`],
  ['Unhealthy', `A probe fails: ${PROBE}`],
  ['ProbeError', `A probe could not be run: ${PROBE}`],
  ['FailedScheduling', 'No node accepts the pod: the message gives the reason for each node.'],
  ['FailedCreate', 'The pods could not be created: check the quotas, the admission rules and the service account.'],
  ['FailedMount', 'A volume could not be mounted: check the claim, the secret or the config map in the message.'],
  ['FailedAttachVolume', 'A volume could not be attached: check whether another node still uses it.'],
  ['FailedMapVolume', 'A block volume could not be mapped: look at the storage driver on the node.'],
  ['FailedBinding', 'No volume matches the claim: check its storage class, size and access mode.'],
  ['ProvisioningFailed', 'The storage class could not create a volume: read the log of its provisioner.'],
  ['FailedPostStartHook', 'The postStart hook failed, so the container is killed: read its output.'],
  ['Evicted', 'The node evicted the pod because a resource ran out: compare the usage of the pod with its requests.'],
  ['FailedDaemonPod', "A pod of the daemon set failed on a node: check the node and the pod's log."],
  ['NotTriggerScaleUp', 'The autoscaler found no suitable node group: check the limits of the node groups.'],
  ['MissSchedule', 'A cron job run was missed: check its schedule and starting deadline.'],
])

/** Returns the most specific hint for a condition and its message, or null. */
export function hintOf(group: string, message: string): string | null {
  const special = BY_MESSAGE.find(([of, pattern]) => of === group && pattern.test(message))?.[2]
  return special ?? BY_GROUP.get(group) ?? null
}
