/** The failures that the names of alerts stand for. */
import type { Failure } from './reason-table.ts'

/**
 * The failure that an alert name implies. The patterns are matched against the words of the name in lower case. All
 * patterns must match. The first row wins.
 */
export const ALERT_NAMES: readonly (readonly [readonly RegExp[], Failure | 'workload' | null])[] = [
  [[/overcommit|quota|filling up|maxed out|mis ?scheduled|certificate/], null],
  [[/\bjobs? (?:failed|failing|failure|not completed|slow|deadline)|\bcron ?jobs?\b/], 'job'],
  [[/\boom|out of memory|\bmemory\b/], 'memory'],
  [[/\bnode systemd\b/], 'node'],
  [[/crash|\brestart/], 'crash'],
  [
    [
      /\bkubelet\b|\bnode (?!exporter|port|js)|\bnode$/,
      /ready|readiness|unreachable|pressure|evict|\bdown\b|\bdisk|file ?system|reboot/,
    ],
    'node',
  ],
  [[/\bimages?\b|image ?pull/], 'image'],
  [[/config error/], 'config'],
  [[/liveness|readiness|startup probe|unhealthy/], 'probe'],
  [[/\bnot scheduled|unschedulable|scheduling/], 'scheduling'],
  [[/\bvolumes?\b|\bpvc?\b/], 'volume'],
  [[/generation mismatch|progress deadline/], 'rollout'],
  [[/\bnetwork\b|\bcni\b|\bsandbox\b/], 'network'],
  [
    [
      /\b(?:pods?|containers?|deployments?|(?:stateful|daemon|replica) ?sets?|replicas|rollout|workload)\b/,
      /not ready|not healthy|not enough|mismatch|stuck|unavailable|waiting|pending|missing|failed|failing|not rolled out/,
    ],
    'workload',
  ],
  [[/\bdown\b|\bprobe fail/], 'workload'],
]
