/** The proofs about load and long histories. */
import { type Row, row } from './row.ts'

const LOAD = 'tests/faults/load.test.ts'
const HISTORY = 'tests/faults/history.test.ts'

export const LOAD_AND_HISTORY: readonly Row[] = [
  row(
    17,
    '1,500 webhooks per second',
    '0 refused, p50 ≤ 25 ms, p99 ≤ 250 ms, ≤ 400 MB',
    [{ file: LOAD, name: /1,500/ }],
    'mutant: tiny-queue',
  ),
  row(
    18,
    'Storm of critical alerts, 500 per request',
    '≥ 5,000 alerts/s, none lost',
    [{ file: LOAD, name: /storm/ }],
    'mutant: refused-storm',
  ),
  row(
    19,
    '5,000 alerts in one request',
    '5,000 ids in ≤ 1.5 s',
    [{ file: LOAD, name: /5,000/ }],
    'mutant: lost-between-chunks',
  ),
  row(
    20,
    'Mixed load: 200 webhooks/s, 50 reads/s, 100 streams',
    'p99: webhooks ≤ 300 ms, first pages ≤ 50 ms, event loop ≤ 50 ms',
    [{ file: HISTORY, name: /50 reads/ }, { file: 'tests/store/plans.test.ts' }],
    'mutant: page-that-scans',
  ),
  row(
    21,
    'Threefold overload, many clients at once, and large bodies',
    'p99 ≤ 2 s, p99 afterwards ≤ 250 ms, only 503 + Retry-After, ≤ 512 MB',
    [
      { file: LOAD, name: /three times|crowd|160 bodies/ },
      { file: 'tests/server/pending-bodies.test.ts' },
      { file: 'tests/engine/admission.test.ts' },
    ],
    'mutants: unlimited-bodies, unlimited-queue, parsed-at-once, late-freed',
  ),
  row(
    22,
    'Deep pages and invalid parameters, 200 webhooks/s',
    '≤ 150 ms, 400 or an empty list, webhooks ≤ 300 ms',
    [
      { file: HISTORY, name: /pages far/ },
      { file: 'tests/store/alert-history.test.ts' },
      { file: 'tests/http/alerts.test.ts' },
    ],
    'mutant: any-number',
  ),
  row(
    23,
    'Pruning half of the events, 200 webhooks/s',
    'stall ≤ 50 ms, p99 of a webhook ≤ 300 ms, the file stops growing',
    [
      { file: HISTORY, name: /pruned/ },
      { file: 'tests/actions/prune.test.ts', name: /200 events/ },
    ],
    'mutant: pruned-at-once',
  ),
  row(
    24,
    'Backup and restore, 200 webhooks/s',
    'complete, with all earlier records, ≤ 30 s, p99 of a webhook ≤ 300 ms, restored and ready in ≤ 10 s per GB',
    [{ file: HISTORY, name: /backup/ }, { file: 'tests/cli/backup-under-load.test.ts' }],
    'mutant: naive-backup',
  ),
  row(
    25,
    'The write-ahead log after a long read, 500 webhooks/s',
    '≤ 64 MiB within 10 s, first pages ≤ 100 ms meanwhile',
    [{ file: HISTORY, name: /bounded/ }, { file: 'tests/workers/checkpointer.test.ts' }],
    'mutant: log-never-copied',
  ),
  row(
    27,
    'Load, backups, pruning and streams (two hours in the manual run)',
    'lost 0, 0 errors, memory growth ≤ 40 MB (over two hours ≤ 1 MB per ten minutes), descriptors ±5 (in the first ten minutes ±12), log ≤ 80 MiB',
    [{ file: 'tests/faults/soak.test.ts' }],
    'mutant: pruned-too-soon',
  ),
]
