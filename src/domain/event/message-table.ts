/** Tables of the messages of Kubernetes events. */

/** The condition for each kind of `Failed` message. The first match wins. */
export const FAILED: readonly (readonly [RegExp, string])[] = [
  [/ErrImageNeverPull|not present with pull policy of Never/i, 'ErrImageNeverPull'],
  [/InvalidImageName/, 'InvalidImageName'],
  [/ImageInspectError/, 'InspectFailed'],
  [/ErrImagePull|ImagePullBackOff|failed to pull (?:and unpack )?image/i, 'ImagePullBackOff'],
  [/CreateContainerConfigError|couldn't find key|runAsNonRoot/i, 'CreateContainerConfigError'],
  [/^Error: (?:secret|configmap) "[^"]*" not found/i, 'CreateContainerConfigError'],
  [/RunContainerError|StartError|ContainerCannotRun|failed to start container/i, 'RunContainerError'],
  [/failed to create (?:containerd |shim )?task|OCI runtime|executable file not found/i, 'RunContainerError'],
  [/CreateContainerError|Error response from daemon|failed to create containerd container/i, 'CreateContainerError'],
  [/failed to (?:generate (?:container|spec)|reserve container|prepare subPath)/i, 'CreateContainerError'],
]

/**
 * What controllers report with the type Normal, and only in the message: that something fails, and that it is over.
 * Source: OpenShift's library-go (pkg/operator/status), Argo CD's events, Longhorn's volume controller, Flagger.
 */
export const TURNS: readonly {
  readonly reason: string
  readonly group: string
  /** Missing if another reason reports the failure. */
  readonly fails?: RegExp
  readonly ends: RegExp
}[] = [
  {
    reason: 'OperatorStatusChanged',
    group: 'OperatorDegraded',
    fails: /\b(?:Degraded changed from \w+ to True|Available changed from \w+ to False)\b/,
    ends: /\b(?:Degraded changed from True to False|Available changed from \w+ to True)\b/,
  },
  {
    reason: 'ResourceUpdated',
    group: 'HealthDegraded',
    fails: /^Updated health status: .*-> Degraded$/,
    ends: /^Updated health status: .*-> Healthy$/,
  },
  // Flagger reports each step of a canary with this reason.
  {
    reason: 'Synced',
    group: 'RolloutAborted',
    fails: /^(?:Rolling back|Canary failed|Halt )/,
    ends: /^Promotion completed/,
  },
  // Google's controller for Ingresses. `Scheduled for sync` with the same reason ends nothing.
  { reason: 'Sync', group: 'Translate', ends: /^\w+ "\S+" (?:created|updated)/ },
  // AKS: the node is back from its upgrade.
  { reason: 'Update', group: 'NodeNotSchedulable', ends: /^Successfully (?:upgraded|reimaged) node\b/ },
  { reason: 'Upgrade', group: 'NodeNotSchedulable', ends: /^Successfully (?:upgraded|reimaged) node\b/ },
  // The end has the reason `Healthy`, too.
  { reason: 'Degraded', group: 'VolumeDegraded', fails: /\bbecame degraded$/, ends: /\bbecame healthy$/ },
]

/** The reason for a message that was sent without a reason. The first match wins. */
export const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^back-?off (?:\S+ )?(?:restarting|pulling) /i, 'BackOff'],
  [/\bCrashLoopBackOff\b/i, 'CrashLoopBackOff'],
  [/\bOOM-?Kill(?:ed|ing)\b|\bout of memory\b/i, 'OOMKilled'],
  [/^(?:liveness|readiness|startup) probe (?:failed|errored|error)\b/i, 'Unhealthy'],
  [/\bfailed (?:liveness|startup) probe\b|^Stopping container /i, 'Killing'],
  [/\bnodes are available\b/i, 'FailedScheduling'],
  [/^successfully assigned /i, 'Scheduled'],
  [/^scaled (?:up|down) replica ?set /i, 'ScalingReplicaSet'],
  [/^Error creating: /i, 'FailedCreate'],
  [/^failed to create pod sandbox/i, 'FailedCreatePodSandBox'],
  [/^MountVolume\.|^unable to (?:attach or )?mount volumes/i, 'FailedMount'],
  [/^AttachVolume\.Attach succeeded/i, 'SuccessfulAttachVolume'],
  [/^AttachVolume\.|^Multi-Attach error/i, 'FailedAttachVolume'],
  [/\bNodeNotReady\b/, 'NodeNotReady'],
  [/\bNodeReady\b/, 'NodeReady'],
]
