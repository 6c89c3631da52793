/** The proofs that no client can stop the server, and that a file that disappears costs nothing. */
import { type Row, row } from './row.ts'

const HOSTILE = 'tests/faults/hostile-clients.test.ts'
const STALL = '/healthz answers in ≤ 100 ms, memory ≤ 300 MB'

export const LIMITS: readonly Row[] = [
  row(
    41,
    'A database file that is deleted, moved, replaced or overwritten',
    'nothing acknowledged is lost; an overwritten file is noticed in ≤ 1.5 s',
    [{ file: 'tests/faults/log-lost.test.ts', name: /a database that is|empty database|copied over/ }],
    'mutant: no-copy-of-file',
  ),
  row(
    42,
    'Sockets that never read, on every route',
    STALL,
    [{ file: HOSTILE, name: /never read/ }],
    'mutant: unread-kept',
  ),
  row(
    43,
    'The largest forms, on every route',
    STALL,
    [{ file: HOSTILE, name: /largest form/ }, { file: 'tests/pages/form.test.ts' }],
    'mutant: endless-forms',
  ),
  row(
    44,
    'One organization offers alerts without end',
    `503 after the limit, an incident says so; ${STALL}`,
    [{ file: HOSTILE, name: /without end/ }, { file: 'tests/actions/live-limit.test.ts' }],
    'mutant: endless-alerts',
  ),
  row(
    45,
    'Every list that a tenant can grow',
    'refused with an error that says what to do',
    [{ file: 'tests/actions/limits.test.ts' }, { file: 'tests/docs/limits.test.ts' }],
    'mutant: endless-notes',
  ),
  row(
    46,
    'Large regular expressions',
    'refused, or not applied',
    [{ file: 'tests/domain/matcher.test.ts' }, { file: 'tests/actions/limits.test.ts', name: /regular expressions/ }],
    'mutant: endless-expressions',
  ),
  row(
    47,
    'HEAD, OPTIONS and aborted requests, on every route',
    'no socket and ≤ 60 MB more',
    [{ file: HOSTILE, name: /leave nothing behind/ }, { file: 'tests/http/leaks.test.ts' }],
    'mutant: stream-of-head',
  ),
  row(
    48,
    'One request about 1,000 new services, pods, namespaces or clusters',
    STALL,
    [{ file: HOSTILE, name: /1,000 new/ }],
    'mutant: whole-requests',
  ),
  row(
    49,
    'Many pipelines of a service with many firing alerts',
    `${STALL}; work grows with the number of pipelines`,
    [{ file: HOSTILE, name: /pipelines of a service/ }, { file: 'tests/store/link-work.test.ts' }],
    'mutant: links-of-all',
  ),
  row(
    50,
    'Channels whose receivers never answer',
    `one organization sends ≤ 16 messages at once, all together ≤ 64; no other channel waits; ${STALL.split(',')[0]}`,
    [
      { file: 'tests/faults/outgoing.test.ts', name: /never answer/ },
      { file: 'tests/notify/slots.test.ts' },
      { file: 'tests/notify/notifier.test.ts', name: /hangs/ },
    ],
    'mutant: endless-slots',
  ),
  row(
    51,
    'Text of senders in every chat',
    'mentions nobody, names no link',
    [{ file: 'tests/domain/escape.test.ts' }],
    'mutant: passed-mentions',
  ),
  row(
    52,
    'A server under systemd that fails to start again and again',
    'started again each time, memory limited',
    [{ file: 'tests/examples.test.ts', name: /starts incmon again/ }],
    'mutant: given-up',
  ),
  row(
    53,
    'Records that nothing deletes',
    'an incident is deleted with its postmortem',
    [{ file: 'tests/actions/prune.test.ts', name: /730 days|kept forever/ }],
    'mutant: kept-postmortems',
  ),
  row(
    54,
    'Bodies with very many different fields',
    'refused before they are parsed',
    [{ file: 'tests/intake/json.test.ts', name: /fields/ }],
    'mutant: endless-fields',
  ),
  row(
    55,
    "All live alerts at once, through Alertmanager's API",
    STALL,
    [
      { file: HOSTILE, name: /all live alerts/ },
      { file: 'tests/workers/reader.test.ts', name: /all live alerts/ },
    ],
    'mutant: alerts-at-once',
  ),
  row(
    56,
    'The machine is lost: the continuous copy of Litestream',
    'nothing older than 3 s is missing, and nothing if only the server was killed; log ≤ 64 MiB',
    [{ file: 'tests/faults/continuous-copy.test.ts' }],
    'mutant: tables-of-litestream',
  ),
  row(
    57,
    'Bodies of one-byte chunks, on every route',
    STALL,
    [{ file: HOSTILE, name: /chunks of one byte/ }, { file: 'tests/server/chunks.test.ts' }],
    'mutant: endless-chunks',
  ),
  row(
    58,
    'Pipelined requests on many connections',
    STALL,
    [{ file: HOSTILE, name: /pipelined reads/ }, { file: 'tests/server/starts.test.ts' }],
    'mutant: one-round',
  ),
  row(
    59,
    'A clock that is wrong for seconds, or jumps and stays so',
    'no alert or heartbeat ends, nobody is told; after a longer jump, six minutes for repeats',
    [{ file: 'tests/domain/clock.test.ts', name: /jump of the clock/ }, { file: 'tests/actions/clock-jump.test.ts' }],
    'mutants: jump-at-once, unawaited-jump',
  ),
]
