/** The cases for the reason tests: every reason in the table, and messages from real senders. */

/** Reasons by severity, for a Pod and without an informative message. */
export const REASONS_BY_SEVERITY = {
  critical: `CrashLoopBackOff OOMKilled OOMKilling PodOOMKilling SystemOOM NodeNotReady KubeletSetupFailed FreeDiskSpaceFailed
    EvictionThresholdMet BackoffLimitExceeded DeadlineExceeded ProgressDeadlineExceeded NetworkNotReady
    FailedCreatePodSandBox ErrImageNeverPull InvalidImageName`,
  error: `BackOff Failed ImagePullBackOff ErrImagePull CreateContainerConfigError CreateContainerError
    RunContainerError StartError ContainerCannotRun ProbeError FailedScheduling FailedCreate FailedMount
    FailedAttachVolume FailedMapVolume FailedPostStartHook Evicted FailedDaemonPod`,
  warning: `Unhealthy Preempting Preempted ExceededGracePeriod FailedKillPod FailedPreStopHook FailedSync
    FailedValidation InspectFailed HostPortConflict NodeSelectorMismatching InsufficientFreeCPU InsufficientFreeMemory
    OutOfDisk ImageGCFailed ContainerGCFailed InvalidDiskCapacity NodeNotSchedulable FailedDraining FailedDelete
    FailedBinding ProvisioningFailed VolumeResizeFailed FileSystemResizeFailed FailedDetachVolume FailedUnMount
    DNSConfigForming FailedGetResourceMetric FailedComputeMetricsReplicas FailedRescale NotTriggerScaleUp ScaleUpFailed
    ReplicaSetCreateError RecreatingFailedPod MissSchedule TooManyMissedTimes SyncLoadBalancerFailed PolicyViolation
    UnexpectedAdmissionError TaintManagerEviction Rebooted Cordon Drain
    KernelDeadlock DockerHung AUFSUmountHung ReadonlyFilesystem FilesystemIsReadOnly XfsShutdown KubeletUnhealthy
    KubeletIsDown DockerUnhealthy ContainerdUnhealthy ContainerRuntimeUnhealthy ContainerRuntimeIsDown
    FrequentKubeletRestart FrequentDockerRestart FrequentContainerdRestart CorruptDockerOverlay2 CorruptDockerImage
    KernelOops TaskHung UnregisterNetDevice Ext4Error IOError RolloutAborted error
    InsufficientCapacityError`,
  info: `Scheduled Pulling Pulled Created Started Killing SuccessfulCreate SuccessfulDelete ScalingReplicaSet
    SuccessfulRescale Completed SawCompletedJob NodeReady NodeSchedulable RegisteredNode Starting
    SuccessfulAttachVolume ProvisioningSucceeded LeaderElection TriggeredScaleUp Issuing IssuingCertificate
    Nominated Synced info ReconciliationSucceeded PolicyApplied NoFrequentKubeletRestart NoCorruptDockerOverlay2
    FilesystemIsNotReadOnly KernelHasNoDeadlock KubeletIsHealthy NoReadTimeout`,
} as const

/** Critical on a Node, a warning otherwise. */
export const NODE_REASONS = [
  'NodeHasDiskPressure',
  'NodeHasInsufficientMemory',
  'NodeHasInsufficientPID',
  'NodeShutdown',
] as const

/** Reason, message → group and severity. */
export const MESSAGE_CASES = [
  ['BackOff', 'Back-off restarting failed container pay in pod pay-1_shop(0d7c)', 'CrashLoopBackOff error'],
  ['Synced', 'Rolling back podinfo.test failed checks threshold reached 10', 'RolloutAborted warning'],
  ['Synced', 'Canary failed! Scaling down podinfo.test', 'RolloutAborted warning'],
  ['Synced', 'Advance podinfo.test canary weight 20', 'Synced info'],
  ['OperatorStatusChanged', 'changed: Degraded changed from False to True ("x")', 'OperatorDegraded warning'],
  ['OperatorStatusChanged', 'changed: Available changed from True to False ("x")', 'OperatorDegraded warning'],
  ['OperatorStatusChanged', 'changed: Progressing changed from False to True ("x")', 'OperatorStatusChanged info'],
  ['ResourceUpdated', 'Updated health status: Healthy -> Degraded', 'HealthDegraded warning'],
  ['ResourceUpdated', 'Updated sync status: Synced -> OutOfSync', 'ResourceUpdated info'],
  ['Degraded', 'volume pvc-1 became degraded', 'VolumeDegraded warning'],
  ['Evicted', 'Evicted pod: Underutilized', 'Evicted info'],
  ['Evicted', 'Evicted pod', 'Evicted info'],
  ['Preempted', 'Preempted to accommodate a workload (UID: 1) due to prioritization', 'Preempted info'],
  ['Preempted', 'Preempted by pod 1f7 on node w-1', 'Preempted warning'],
  [
    'FailedToUpdateEndpoint',
    'Operation cannot be fulfilled on endpoints "kube-dns": the object has been modified; please apply your changes to the latest version and try again',
    'FailedToUpdateEndpoint info',
  ],
  [
    'FailedCreate',
    'Operation cannot be fulfilled on resourcequotas "team": the object has been modified; please apply your changes to the latest version and try again',
    'FailedCreate info',
  ],
  [
    'ExternalExpanding',
    'Ignoring the PVC; waiting for an external controller to process this PVC.',
    'ExternalExpanding info',
  ],
  ['Evicted', 'The node was low on resource: memory.', 'Evicted error'],
  ['PolicyViolation', 'Pod shop/cart: [require-limits] fail; validation error', 'PolicyViolation warning'],
  ['PolicyViolation', 'Pod shop/cart: pass', 'PolicyViolation info'],
  ['BackOff', 'Back-off 5m0s restarting failed container=pay pod=pay-1_shop(0d7c)', 'CrashLoopBackOff error'],
  ['BackOff', 'Back-off pulling image "registry/cart:v2"', 'ImagePullBackOff error'],
  ['BackOff', 'Back-off pulling image "registry/restarting failed"', 'ImagePullBackOff error'],
  ['BackOff', 'm', 'BackOff error'],
  ['Failed', 'Error: ErrImagePull', 'ImagePullBackOff error'],
  ['Failed', 'Error: ImagePullBackOff', 'ImagePullBackOff error'],
  ['Failed', 'Failed to pull image "r/x:1": rpc error: code = NotFound', 'ImagePullBackOff error'],
  ['Failed', 'Error: ErrImageNeverPull', 'ErrImageNeverPull critical'],
  ['Failed', 'Error: InvalidImageName', 'InvalidImageName critical'],
  ['Failed', 'Error: ImageInspectError', 'InspectFailed error'],
  ['Failed', 'Error: CreateContainerConfigError', 'CreateContainerConfigError error'],
  ['Failed', 'Error: secret "cart-mysql" not found', 'CreateContainerConfigError error'],
  ['Failed', 'Error: configmap "cart" not found', 'CreateContainerConfigError error'],
  ['Failed', `Error: couldn't find key URL in Secret shop/cart`, 'CreateContainerConfigError error'],
  ['Failed', 'Error: CreateContainerError', 'CreateContainerError error'],
  ['Failed', 'Error: failed to reserve container name "x_1"', 'CreateContainerError error'],
  ['Failed', 'Error: RunContainerError', 'RunContainerError error'],
  [
    'Failed',
    'Error: failed to create containerd task: OCI runtime create failed: exec: "x": not found',
    'RunContainerError error',
  ],
  ['Failed', 'something of its own', 'Failed error'],
  ['Failed', '', 'Failed error'],
  ['Unhealthy', 'Liveness probe failed: HTTP probe failed with statuscode: 503', 'Unhealthy (liveness) error'],
  ['Unhealthy', 'Liveness probe errored: rpc error', 'Unhealthy (liveness) error'],
  ['Unhealthy', 'Readiness probe failed: dial tcp 10.0.0.1:80: i/o timeout', 'Unhealthy (readiness) warning'],
  ['Unhealthy', 'Readiness probe failed: body says: liveness probe', 'Unhealthy (readiness) warning'],
  ['Unhealthy', 'Startup probe failed: connection refused', 'Unhealthy (startup) warning'],
  ['ProbeError', 'Liveness probe error: timeout', 'Unhealthy (liveness) error'],
  ['Killing', 'Stopping container server', 'Killing info'],
  ['Killing', 'Container server failed liveness probe, will be restarted', 'Unhealthy (liveness) warning'],
  ['Killing', `Container "x" is unhealthy, it will be killed and re-created.`, 'Unhealthy (liveness) warning'],
  ['Killing', 'Container server failed startup probe, will be restarted', 'Unhealthy (startup) warning'],
  ['NodeNotReady', 'Node is not ready', 'NodeNotReady (pod) critical'],
  ['NodeNotReady', 'Node w-3 status is now: NodeNotReady', 'NodeNotReady critical'],
] as const

/** Messages without a reason → group and severity. */
export const REASONLESS_CASES = [
  ['Back-off restarting failed container', 'CrashLoopBackOff error'],
  ['Back-off pulling image "r/x:1"', 'ImagePullBackOff error'],
  ['Liveness probe failed: x', 'Unhealthy (liveness) error'],
  ['Error: ErrImagePull', 'ImagePullBackOff error'],
  ['0/5 nodes are available: 2 Insufficient memory.', 'FailedScheduling error'],
  ['Error creating: pods "x-" is forbidden: exceeded quota', 'FailedCreate error'],
  ['container was OOMKilled', 'OOMKilled critical'],
  ['Node w-3 status is now: NodeReady', 'NodeReady info'],
  ['Stopping container x', 'Killing info'],
  ['Failed to do a thing', 'Message warning'],
  ['error processing spec.data[2]: no secret found', 'Message warning'],
  ['unable to resolve the host', 'Message warning'],
  ['Failover completed', 'Message info'],
  ['all is well', 'Message info'],
  ['', 'Message info'],
] as const

/** Reasons that are not in the table → severity. */
export const UNKNOWN_CASES = [
  ['FailedToCreateEndpoint', 'warning'],
  ['ErrorSyncing', 'warning'],
  ['InvalidSelector', 'warning'],
  ['UnableToMount', 'warning'],
  ['UpgradeFailed', 'warning'],
  ['SyncTimeout', 'warning'],
  ['AccessDenied', 'warning'],
  ['CertNotReady', 'warning'],
  ['QuotaExceeded', 'warning'],
  ['NotFailedYet', 'info'],
  ['SandboxChanged', 'info'],
  ['failed', 'info'],
  ['__proto__', 'info'],
  ['constructor', 'info'],
] as const

/** Reason, message and kind of an event → the conditions it ends. */
export const END_CASES = [
  ['Started', 'Started container cart', 'Pod', 'FailedCreatePodSandBox'],
  ['Started', 'Started container cart', 'Pod', 'FailedAttachVolume'],
  ['IPAllocated', 'Assigned IP ["10.10.102.2"]', 'Service', 'AllocationFailed'],
  ['CreatedExternalResource', 'Successfully requested creation', 'Bucket', 'CannotObserveExternalResource'],
  ['UpdatedExternalResource', 'Successfully requested update', 'Bucket', 'CannotConnectToProvider'],
  [
    'OperatorStatusChanged',
    'changed: Degraded changed from True to False ("All is well")',
    'Deployment',
    'OperatorDegraded',
  ],
  ['OperatorStatusChanged', 'changed: Available changed from False to True ("")', 'Deployment', 'OperatorDegraded'],
  ['ResourceUpdated', 'Updated health status: Degraded -> Healthy', 'Application', 'HealthDegraded'],
  ['NodeReady', '', 'Node', 'NodeNotReady'],
  ['NodeHasNoDiskPressure', '', 'Node', 'NodeHasDiskPressure'],
  ['NodeHasNoDiskPressure', '', 'Node', 'EvictionThresholdMet'],
  ['Starting', 'Starting kubelet.', 'Node', 'InvalidDiskCapacity'],
  ['NodeHasSufficientMemory', '', 'Node', 'NodeHasInsufficientMemory'],
  ['NodeHasSufficientPID', '', 'Node', 'NodeHasInsufficientPID'],
  ['NodeSchedulable', '', 'Node', 'NodeNotSchedulable'],
  ['Uncordon', 'Update completed and node has been uncordoned', 'Node', 'NodeNotSchedulable'],
  ['Scheduled', 'Successfully assigned shop/cart to w-1', 'Pod', 'FailedScheduling'],
  ['', 'Successfully assigned shop/cart to w-1', 'Pod', 'FailedScheduling'],
  ['Pulled', 'Successfully pulled image', 'Pod', 'ImagePullBackOff'],
  ['Pulled', 'Container image already present on machine', 'Pod', 'FailedMount'],
  ['Created', 'Created container x', 'Pod', 'CreateContainerConfigError'],
  ['SuccessfulAttachVolume', '', 'Pod', 'FailedAttachVolume'],
  ['ProvisioningSucceeded', '', 'PersistentVolumeClaim', 'ProvisioningFailed'],
  ['SuccessfulCreate', 'Created pod: x', 'ReplicaSet', 'FailedCreate'],
  ['Completed', 'Job completed', 'Job', 'BackoffLimitExceeded'],
  ['SawCompletedJob', 'Saw completed job: x-1, status: Complete', 'CronJob', 'DeadlineExceeded'],
  ['KernelHasNoDeadlock', 'kernel has no deadlock', 'Node', 'DockerHung'],
  ['FilesystemIsNotReadOnly', '', 'Node', 'ReadonlyFilesystem'],
  ['NoFrequentContainerdRestart', '', 'Node', 'FrequentContainerdRestart'],
  ['DiskIsNotSlow', 'from a plugin', 'Node', 'DiskIsSlow'],
  ['KubeletIsUp', '', 'Node', 'KubeletIsDown'],
  ['Issuing', 'The certificate has been successfully issued', 'Certificate', 'Failed (Certificate)'],
  ['Synced', 'Promotion completed! Scaling down podinfo.test', 'Canary', 'RolloutAborted'],
  ['ReconciliationSucceeded', 'Reconciliation finished in 2s', 'Kustomization', 'ReconciliationFailed'],
  ['BackupSucceeded', '', 'Backup', 'BackupFailed'],
  ['BackupCompleted', 'backup completed', 'Backup', 'BackupFailed'],
  ['RestoreCompleted', '', 'Restore', 'RestoreFailed'],
  ['VolumeResizeSuccessful', '', 'PersistentVolumeClaim', 'VolumeResizeFailed'],
  ['SuccessfullyReconciled', '', 'Service', 'FailedReconciled'],
  ['SuccessfulAddFinalizer', '', 'Service', 'FailedAddFinalizer'],
  ['SuccessfulCreate', 'create Pod db-0 in StatefulSet db successful', 'StatefulSet', 'RecreatingFailedPod'],
  ['Presented', 'Presented challenge using HTTP-01 challenge mechanism', 'Challenge', 'PresentError'],
  ['Reconciled', 'Reconciled', 'Database', 'ReconcileError'],
  ['Deployed', 'Deployed revision 5', 'App', 'DeployFailed'],
  ['Uploaded', 'Uploaded snapshot', 'Backup', 'UploadFailed'],
  ['ScaledUpGroup', 'Scale-up: group workers size set to 4', 'ConfigMap', 'FailedToScaleUpGroup'],
  ['Sync', 'UrlMap "k8s2-um-x" updated', 'Ingress', 'Translate'],
  ['Sync', 'TargetProxy "k8s2-tp-x" created', 'Ingress', 'Translate'],
  ['ChartPullSucceeded', "pulled 'cart' chart with version '1.2.3'", 'HelmChart', 'ChartPullError'],
  ['Create', 'Created Machine workers-1', 'Machine', 'FailedCreate'],
  ['Update', 'Updated Machine workers-1', 'Machine', 'FailedUpdate'],
  ['FileSystemResizeSuccessful', 'NodeExpandVolume succeeded', 'PersistentVolumeClaim', 'VolumeResizeFailed'],
  ['Launched', 'Status condition transitioned, Type: Launched', 'NodeClaim', 'InsufficientCapacityError'],
  ['KongConfigurationSucceeded', 'applied Kong configuration', 'Pod', 'KongConfigurationApplyFailed'],
  ['ResourcesSynced', 'ApisixIngress synced successfully', 'ApisixRoute', 'ResourceSyncAborted'],
  ['StanzasCreated', 'pgBackRest stanza creation completed', 'PostgresCluster', 'UnableToCreateStanzas'],
  ['RolloutCompleted', 'Rollout completed update to revision 3', 'Rollout', 'AnalysisRunFailed'],
  ['RolloutCompleted', 'Rollout completed update to revision 3', 'Rollout', 'ProgressDeadlineExceeded'],
  ['RolloutUpdated', 'Rollout updated to revision 4', 'Rollout', 'InvalidSpec'],
  ['InstallSucceeded', 'install strategy completed', 'ClusterServiceVersion', 'InstallComponentFailed'],
  ['SuccessfulCreate', 'Created job report-28000000', 'CronJob', 'MissSchedule'],
  ['Completed', 'Backup completed', 'Backup', 'Error (Backup)'],
  ['Completed', 'done', 'PipelineRun', 'Failed (PipelineRun)'],
  ['WorkflowSucceeded', 'Workflow completed', 'Workflow', 'WorkflowFailed'],
  ['NoVMEventScheduled', 'VM has no scheduled event', 'Node', 'RebootScheduled'],
  ['NoVMEventScheduled', 'VM has no scheduled event', 'Node', 'FreezeScheduled'],
  ['FilesystemIsOK', 'Filesystem is healthy', 'Node', 'FilesystemCorruptionDetected'],
  ['GpuOk', 'Node condition GpuProblem is now: False, reason: GpuOk, message: "fine"', 'Node', 'GpuProblem'],
  ['DiskFine', 'Node condition DiskHung is now: False, reason: DiskFine', 'Node', 'DiskHung'],
  ['Rebuilt', 'Replica pvc-1-r-1 has been rebuilt', 'Engine', 'FailedRebuilding'],
  ['Start', 'Starts pvc-1-e-1', 'Engine', 'FailedStarting'],
  ['Delete', 'Deletes pvc-1-r-2', 'Replica', 'FailedDeleting'],
  ['Restored', 'Restored 10 GiB', 'Volume', 'FailedRestore'],
  ['Drained', 'Node drained', 'Machine', 'FailedDrain'],
  ['SucceededExpansion', 'Expanded to 20 GiB', 'Engine', 'FailedExpansion'],
  ['Scheduled', 'pod group is ready', 'PodGroup', 'Unschedulable'],
  ['QuotaReserved', 'Quota reserved in ClusterQueue cq', 'Workload', 'Pending'],
  ['Admitted', 'Admitted by ClusterQueue cq', 'Workload', 'Pending'],
] as const

/** Reason, kind → a condition of the object that the reason ends. */
export const WELL_CASES = [
  ['RevisionReady', 'Revision', 'InternalError'],
  ['InferenceServiceReady', 'InferenceService', 'InternalError'],
  ['SnapshotReady', 'VolumeSnapshot', 'SnapshotContentCreationFailed'],
  ['ClusterHealthy', 'Cluster', 'ClusterUnhealthy'],
  ['SecretRotated', 'VaultStaticSecret', 'VaultClientConfigError'],
  ['DomainVerified', 'Challenge', 'PresentError'],
  ['Succeeded', 'PipelineRun', 'Failed (PipelineRun)'],
  ['KeyPairVerified', 'Issuer', 'ErrInitIssuer'],
  ['VaultVerified', 'ClusterIssuer', 'ErrInitIssuer'],
  ['CertificateIssued', 'CertificateRequest', 'OrderFailed'],
  ['TerraformAppliedSucceed', 'Terraform', 'TFExecApplyFailed'],
  ['ApplySucceed', 'Kustomization', 'ApplyFailed'],
] as const

/** Events that end no condition. */
export const NO_END_CASES = [
  ['Completed', '', 'Pod'],
  ['Issuing', 'Issuing certificate as Secret does not exist', 'Certificate'],
  ['NodeNotReady', '', 'Node'],
  ['UploadFailed', '', 'Backup'],
  ['SawCompletedJob', 'Saw completed job: x-1, status: Failed', 'CronJob'],
  ['SawCompletedJob', 'Saw completed job: x-1, condition: Failed', 'CronJob'],
  ['Sync', 'Scheduled for sync', 'Ingress'],
  ['Completed', '', 'Certificate'],
  ['GpuLost', 'Node condition GpuProblem is now: True, reason: GpuLost', 'Node'],
  ['GpuOk', 'Node condition GpuProblem is now: False, reason: GpuOk', 'Pod'],
  ['', '', 'Pod'],
  ['__proto__', '', 'Pod'],
] as const

/** Alert name → the failure it reports. */
export const ALERT_CASES = [
  ['KubePodCrashLooping', 'crash'],
  ['Pod crash looping', 'crash'],
  ['pod_restarting_too_often', 'crash'],
  ['ContainerOOMKilled', 'memory'],
  ['pod_oom_killed', 'memory'],
  ['KubePodNotReady', 'workload'],
  ['KubeContainerWaiting', 'workload'],
  ['KubeDeploymentReplicasMismatch', 'workload'],
  ['KubeStatefulSetReplicasMismatch', 'workload'],
  ['KubeDeploymentRolloutStuck', 'workload'],
  ['KubeStatefulSetUpdateNotRolledOut', 'workload'],
  ['TargetDown', 'workload'],
  ['KubeJobFailed', 'job'],
  ['KubeJobNotCompleted', 'job'],
  ['KubeNodeNotReady', 'node'],
  ['KubeNodeUnreachable', 'node'],
  ['KubeletDown', 'node'],
  ['KubeDaemonSetNotScheduled', 'scheduling'],
  ['KubePersistentVolumeErrors', 'volume'],
  ['ImagePullBackOff', 'image'],
  ['KubePersistentVolumeFillingUp', null],
  ['KubeMemoryOvercommit', null],
  ['KubeDaemonSetMisScheduled', null],
  ['KubeHpaMaxedOut', null],
  ['CPUThrottlingHigh', null],
  ['NodeClockSkewDetected', null],
  ['KubeStateMetricsListErrors', null],
  ['ZoomRoomCount', null],
  ['HighErrorRate', null],
  ['', null],
] as const

/** A condition and an alert's name and severity → whether they agree. */
export const AGREEMENT_CASES = [
  ['crash', 'KubePodCrashLooping', 'warning', true],
  ['memory', 'KubePodCrashLooping', 'warning', true],
  ['image', 'KubePodNotReady', 'warning', true],
  ['scheduling', 'KubeDeploymentReplicasMismatch', 'warning', true],
  ['job', 'KubeJobFailed', 'warning', true],
  ['node', 'KubeNodeNotReady', 'warning', true],
  ['volume', 'HighLatency', 'critical', true],
  ['other', 'HighErrorRate', 'error', true],
  ['image', 'KubePodCrashLooping', 'warning', false],
  ['job', 'KubePodNotReady', 'warning', false],
  ['crash', 'KubeJobFailed', 'warning', false],
  ['crash', 'CPUThrottlingHigh', 'info', false],
  ['crash', 'HighErrorRate', 'warning', false],
  ['other', 'KubePodNotReady', 'warning', false],
] as const
