/** Tables of Kubernetes event reasons. */

import type { Severity } from '../severity.ts'

export type Failure =
  | 'crash'
  | 'image'
  | 'config'
  | 'memory'
  | 'probe'
  | 'scheduling'
  | 'volume'
  | 'job'
  | 'rollout'
  | 'node'
  | 'network'
  /** A data source or rule of the monitoring itself failed, so it says nothing about the service. */
  | 'monitoring'
  | 'other'

/** Why a Job failed for good (the Job controller's `JobReason…` in k8s.io/api/batch/v1). */
const JOB_FAILURES = 'BackoffLimitExceeded DeadlineExceeded PodFailurePolicy FailedIndexes MaxFailedIndexesExceeded'
const AUTOSCALING = `FailedRescale FailedGetResourceMetric FailedComputeMetricsReplicas FailedGetScale InvalidSelector
  FailedGetPodsMetric FailedGetObjectMetric FailedGetExternalMetric FailedGetContainerResourceMetric
  InvalidMetricSourceType`

type ReasonRow = { readonly severity: Severity; readonly failure: Failure | null }

const ROWS: readonly (readonly [Severity, Failure | null, string])[] = [
  ['critical', 'crash', 'CrashLoopBackOff'],
  ['critical', 'memory', 'OOMKilled OOMKilling PodOOMKilling SystemOOM'],
  ['critical', 'node', 'NodeNotReady KubeletSetupFailed FreeDiskSpaceFailed EvictionThresholdMet'],
  ['critical', 'node', 'NodeHasDiskPressure NodeHasInsufficientMemory NodeHasInsufficientPID NodeShutdown'],
  ['critical', 'job', JOB_FAILURES],
  ['critical', 'rollout', 'ProgressDeadlineExceeded WorkloadUnavailable'],
  ['critical', 'network', 'NetworkNotReady FailedCreatePodSandBox'],
  ['critical', 'image', 'ErrImageNeverPull InvalidImageName'],
  ['error', 'crash', 'FailedDaemonPod FailedPostStartHook'],
  ['error', 'other', 'BackOff Failed'],
  ['error', 'image', 'ImagePullBackOff ErrImagePull'],
  ['error', 'config', 'CreateContainerConfigError CreateContainerError RunContainerError'],
  ['error', 'config', 'StartError ContainerCannotRun'],
  ['error', 'probe', 'ProbeError'],
  ['error', 'scheduling', 'FailedScheduling'],
  ['error', 'rollout', 'FailedCreate'],
  ['error', 'volume', 'FailedMount FailedAttachVolume FailedMapVolume'],
  ['error', 'node', 'Evicted'],
  ['warning', 'probe', 'Unhealthy'],
  ['warning', 'image', 'InspectFailed'],
  ['warning', 'config', 'FailedValidation PolicyViolation'],
  ['warning', 'scheduling', 'Preempting Preempted HostPortConflict NodeSelectorMismatching UnexpectedAdmissionError'],
  ['warning', 'scheduling', 'InsufficientFreeCPU InsufficientFreeMemory OutOfDisk NotTriggerScaleUp ScaleUpFailed'],
  ['warning', 'node', 'ImageGCFailed ContainerGCFailed InvalidDiskCapacity NodeNotSchedulable FailedDraining'],
  // AKS and OpenShift, when they update a node.
  ['warning', 'node', 'Cordon Drain'],
  ['warning', 'node', 'TaintManagerEviction Rebooted'],
  ['warning', 'volume', 'FailedBinding ProvisioningFailed VolumeResizeFailed FileSystemResizeFailed'],
  ['warning', 'volume', 'FailedDetachVolume FailedUnMount'],
  ['warning', 'network', 'DNSConfigForming SyncLoadBalancerFailed'],
  ['warning', 'rollout', 'ReplicaSetCreateError WorkloadIncomplete RecreatingFailedPod'],
  ['warning', 'job', 'MissSchedule TooManyMissedTimes'],
  ['warning', 'other', 'ExceededGracePeriod FailedKillPod FailedPreStopHook FailedSync FailedDelete'],
  ['warning', 'other', AUTOSCALING],
  // node-problem-detector (config/*.json in its repository) and AKS.
  ['warning', 'node', 'KernelDeadlock DockerHung AUFSUmountHung ReadonlyFilesystem FilesystemIsReadOnly XfsShutdown'],
  ['warning', 'node', 'KubeletUnhealthy KubeletIsDown DockerUnhealthy ContainerdUnhealthy ContainerRuntimeUnhealthy'],
  ['warning', 'node', 'ContainerRuntimeIsDown FrequentKubeletRestart FrequentDockerRestart FrequentContainerdRestart'],
  ['warning', 'node', 'CorruptDockerOverlay2 CorruptDockerImage DockerContainerStartupFailure NTPIsDown NTPProblem'],
  ['warning', 'node', 'KernelOops TaskHung UnregisterNetDevice Ext4Error Ext4Warning IOError MemoryReadError'],
  ['warning', 'node', 'CperHardwareErrorFatal ConntrackFull FrequentUnregisterNetDevice FrequentGcfsRestart'],
  ['warning', 'network', 'NetworkUnavailable'],
  // Argo Rollouts, Flagger and Flux. Older versions of Flux use the severity as the reason.
  ['warning', 'rollout', 'RolloutAborted RolloutDegraded error'],
  // Karpenter.
  ['warning', 'scheduling', 'InsufficientCapacityError'],
  ['info', null, 'Nominated Unconsolidatable DisruptionBlocked DisruptionLaunching DisruptionTerminating'],
  ['info', null, 'info Synced ReconciliationSucceeded DependencyNotReady PolicyApplied PolicySkipped'],
  ['info', null, 'Scheduled Pulling Pulled Created Started Killing SuccessfulCreate SuccessfulDelete'],
  ['info', null, 'ScalingReplicaSet SuccessfulRescale Completed SawCompletedJob NodeReady NodeSchedulable'],
  ['info', null, 'RegisteredNode Starting SuccessfulAttachVolume ProvisioningSucceeded LeaderElection'],
  // Observations of a watched cluster; see domain/kubernetes.
  ['info', null, 'PodReady PodDeleted PodFinished WorkloadFound WorkloadAvailable WorkloadComplete WorkloadScaled'],
  ['info', null, 'RolloutStarted RolloutFinished WorkloadDeleted NodeCordoned AutoscalerActive'],
  ['info', null, 'TriggeredScaleUp Issuing NodeHasSufficientMemory NodeHasNoDiskPressure NodeHasSufficientPID'],
]

/** The severity and failure for each known reason. An error becomes critical if repeated. */
export const REASONS: ReadonlyMap<string, ReasonRow> = new Map(
  ROWS.flatMap(([severity, failure, reasons]) => [...words(reasons)].map((reason) => [reason, { severity, failure }])),
)

/** Reasons that are critical for nodes but only a warning for other objects. */
export const NODE_ONLY: ReadonlySet<string> = words(
  'NodeHasDiskPressure NodeHasInsufficientMemory NodeHasInsufficientPID NodeShutdown',
)

/**
 * Problems that Kubernetes reports with type Normal. Source: recordNodeStatusEvent and callers of Eventf in
 * kubernetes/pkg/kubelet and pkg/controller/volume/persistentvolume.
 */
export const NORMAL_OF_NODES: ReadonlySet<string> = words(
  `NodeNotReady NodeNotSchedulable NodeHasDiskPressure NodeHasInsufficientMemory NodeHasInsufficientPID NodeShutdown
  Cordon Drain`,
)
export const NORMAL: ReadonlySet<string> = words('Killing FailedBinding Preempted')

/** Maps reasons to the condition they are grouped under. */
export const GROUPS: ReadonlyMap<string, string> = new Map([
  ['ErrImagePull', 'ImagePullBackOff'],
  // node-problem-detector, as configured by clouds
  ['PodOOMKilling', 'OOMKilling'],
  ['StartError', 'RunContainerError'],
  ['ContainerCannotRun', 'RunContainerError'],
  ['Cordon', 'NodeNotSchedulable'],
  ['Drain', 'NodeNotSchedulable'],
])

/** States of nodes, operators and volumes, of which a controller reports the start and the end once. */
export const REPORTED_ONCE: ReadonlySet<string> = words(
  `NodeNotReady NodeNotSchedulable NodeHasDiskPressure NodeHasInsufficientMemory NodeHasInsufficientPID
  KubeletSetupFailed KernelDeadlock DockerHung AUFSUmountHung ReadonlyFilesystem FilesystemIsReadOnly KubeletUnhealthy
  KubeletIsDown DockerUnhealthy ContainerdUnhealthy ContainerRuntimeUnhealthy ContainerRuntimeIsDown
  FrequentKubeletRestart FrequentDockerRestart FrequentContainerdRestart CorruptDockerOverlay2 NTPIsDown
  OperatorDegraded HealthDegraded VolumeDegraded Faulted`,
)

/** Final failures, which are never repeated. */
export const TERMINAL: ReadonlySet<string> = words(`${JOB_FAILURES} ProgressDeadlineExceeded`)

// The kubelet attaches and mounts volumes, creates the sandbox, pulls the image, creates and starts the container.
// Each of these steps proves that the previous steps succeeded.
const PREPARED = 'FailedAttachVolume FailedMount FailedMapVolume FailedCreatePodSandBox NetworkNotReady NoNetworkFound'
const WAITING = 'FailedScheduling NotTriggerScaleUp ScaleUpFailed Unschedulable'
const IMAGE = 'ImagePullBackOff ErrImageNeverPull InvalidImageName InspectFailed'

const POD_PROBLEMS = `CrashLoopBackOff BackOff Failed FailedScheduling CreateContainerConfigError CreateContainerError
  RunContainerError FailedPostStartHook ProbeError`
const PROBES = ['Unhealthy (readiness)', 'Unhealthy (liveness)', 'Unhealthy (startup)'] as const

/**
 * Conditions that a watched cluster shows as the state of an object. While the watch runs, only the state ends them.
 */
export const STATES: ReadonlySet<string> = new Set([
  ...words(`CrashLoopBackOff ImagePullBackOff ErrImageNeverPull InvalidImageName CreateContainerConfigError
  CreateContainerError RunContainerError FailedScheduling NodeNotReady NodeHasDiskPressure NodeHasInsufficientMemory
  NodeHasInsufficientPID ProgressDeadlineExceeded WorkloadUnavailable WorkloadIncomplete`),
  'NodeNotReady (pod)',
])

const UNBALANCED = 'SyncLoadBalancerFailed UpdateLoadBalancerFailed UnAvailableLoadBalancer'
const UNREACHED = `CannotConnectToProvider CannotInitializeManagedResource CannotResolveResourceReferences
  CannotObserveExternalResource`

/** The conditions that each reason ends. `oppositesOf` finds the reasons with a regular form. */
export const ENDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['NodeReady', words('NodeNotReady NodeShutdown Rebooted')],
  ['Starting', words('InvalidDiskCapacity')],
  ['NodeHasNoDiskPressure', words('NodeHasDiskPressure EvictionThresholdMet FreeDiskSpaceFailed ImageGCFailed')],
  ['NodeHasSufficientMemory', words('NodeHasInsufficientMemory EvictionThresholdMet SystemOOM')],
  ['NodeHasSufficientPID', words('NodeHasInsufficientPID')],
  ['NodeSchedulable', words('NodeNotSchedulable')],
  ['Uncordon', words('NodeNotSchedulable')],
  ['Scheduled', words(WAITING)],
  // Kueue
  ...['QuotaReserved', 'Admitted'].map((one) => [one, words('Pending')] as const),
  ...['TriggeredScaleUp', 'Nominated'].map((one) => [one, words('NotTriggerScaleUp')] as const),
  ['SuccessfulMountVolume', words('FailedMount')],
  // Only a pod that has a node pulls an image, and creates and starts a container.
  ['Pulled', words(`${WAITING} ${IMAGE} ${PREPARED}`)],
  ['Created', words(`${WAITING} ${IMAGE} ${PREPARED} CreateContainerConfigError CreateContainerError`)],
  ['Started', new Set([...words(`${WAITING} ${PREPARED}`), 'NodeNotReady (pod)'])],
  ['ProvisioningSucceeded', words('ProvisioningFailed FailedBinding')],
  ['SuccessfulCreate', words('FailedCreate FailedDaemonPod RecreatingFailedPod MissSchedule TooManyMissedTimes')],
  ['ScaledUpGroup', words('FailedToScaleUpGroup ScaleUpTimedOut ScaleUpFailed')],
  ['SuccessfulRescale', words(AUTOSCALING)],
  ['AutoscalerActive', words(AUTOSCALING)],
  ['EnsuredLoadBalancer', words(UNBALANCED)],
  ['UpdatedLoadBalancer', words(UNBALANCED)],
  // GKE, Multus
  ['Attach', words('SyncNetworkEndpointGroupFailed')],
  ['AddedInterface', words('NoNetworkFound')],
  ['FileSystemResizeSuccessful', words('FileSystemResizeFailed VolumeResizeFailed')],
  ...['CreateCertificate', 'UpdateCertificate'].map((one) => [one, words('BadConfig')] as const),
  // Karpenter
  ['Launched', words('InsufficientCapacityError LaunchFailed')],
  ['KongConfigurationSucceeded', words('KongConfigurationApplyFailed KongConfigurationTranslationFailed')],
  // APISIX
  ['ResourcesSynced', words('ResourceSyncAborted')],
  // Crunchy's operator for PostgreSQL
  ['StanzasCreated', words('UnableToCreateStanzas')],
  // MetalLB: the controller has found an address.
  ['IPAllocated', words('AllocationFailed')],
  // Crossplane (pkg/reconciler/managed/reconciler.go): a resource that is created or updated was reached.
  ['CreatedExternalResource', words(`CannotCreateExternalResource ${UNREACHED}`)],
  ['UpdatedExternalResource', words(`CannotUpdateExternalResource CannotCreateExternalResource ${UNREACHED}`)],
  ['Completed', words(JOB_FAILURES)],
  // A watched cluster. A pod that is ready has no problem.
  ['PodReady', new Set([...words(`${POD_PROBLEMS} ${IMAGE} ${PREPARED}`), ...PROBES, 'NodeNotReady (pod)'])],
  ['WorkloadAvailable', words('WorkloadUnavailable')],
  ['WorkloadComplete', words('WorkloadIncomplete')],
  ['RolloutFinished', words('ProgressDeadlineExceeded FailedCreate ReplicaSetCreateError')],
  // node-problem-detector
  ['KernelHasNoDeadlock', words('KernelDeadlock DockerHung AUFSUmountHung')],
  ['FilesystemIsNotReadOnly', words('ReadonlyFilesystem FilesystemIsReadOnly')],
  ['KubeletIsHealthy', words('KubeletUnhealthy')],
  ['KubeletIsUp', words('KubeletIsDown')],
  ['DockerIsHealthy', words('DockerUnhealthy')],
  ['ContainerdIsHealthy', words('ContainerdUnhealthy')],
  ['ContainerRuntimeIsHealthy', words('ContainerRuntimeUnhealthy')],
  ['ContainerRuntimeIsUp', words('ContainerRuntimeIsDown')],
  ['NTPIsUp', words('NTPIsDown NTPProblem')],
  ['FilesystemIsOK', words('FilesystemCorruptionDetected')],
  // AKS: the notice of a maintenance is over.
  ['NoVMEventScheduled', words('VMEventScheduled FreezeScheduled RebootScheduled RedeployScheduled')],
  [
    'RolloutCompleted',
    words(`RolloutAborted RolloutDegraded ProgressDeadlineExceeded AnalysisRunFailed AnalysisRunError
      AnalysisRunInconclusive InvalidSpec`),
  ],
  ['RolloutUpdated', words('InvalidSpec')],
  ['ReconciliationSucceeded', words('ReconciliationFailed HealthCheckFailed BuildFailed ArtifactFailed error')],
  ['info', words('error')],
  // Flux and OpenShift's lifecycle manager
  ['InstallSucceeded', words('InstallFailed UpgradeFailed TestFailed InstallComponentFailed InstallCheckFailed')],
  ['UpgradeSucceeded', words('InstallFailed UpgradeFailed TestFailed RollbackFailed RemediationFailed')],
  ['SawCompletedJob', words(`${JOB_FAILURES} MissSchedule TooManyMissedTimes`)],
])

/**
 * Reasons of Longhorn, cert-manager, External Secrets, AWS, NGINX, KEDA, Flux, the CSI snapshotter, Vault and Knative
 * that end what no other row ends.
 */
export const ALL_WELL: ReadonlySet<string> = words(`Healthy Ready Valid Updated Reconciled SuccessfullyReconciled
  ReconcileSuccess ReconcileSucceeded AddedOrUpdated Unsealed Recovered KEDAScalersStarted ScaledObjectReady
  NewArtifact Succeeded Complete DomainVerified SecretRotated SecretSynced LatestReadyUpdate KeyPairVerified
  VaultVerified CertificateIssued TerraformAppliedSucceed ApplySucceed`)

/**
 * Conditions whose end is always reported by an event, unless the object is deleted. All other conditions can end
 * without an event.
 */
export const REPORTED: ReadonlySet<string> = words(
  `NodeNotReady NodeHasDiskPressure NodeHasInsufficientMemory NodeHasInsufficientPID NodeNotSchedulable
  FailedScheduling ProvisioningFailed SyncLoadBalancerFailed FailedCreate ${IMAGE} ${PREPARED}
  CreateContainerConfigError CreateContainerError`,
)

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/))
}
