/** The proofs of the promise: their limits, the tests that prove them, and how each was seen to fail. */

import { INPUT_AND_ACCESS } from './of-input.ts'
import { LIMITS } from './of-limits.ts'
import { LOAD_AND_HISTORY } from './of-load.ts'
import { type Row, row } from './row.ts'

const FAULTS = 'tests/faults'
const POWER = `${FAULTS}/power-loss.test.ts`
const KILL = `${FAULTS}/kill.test.ts`
const START = `${FAULTS}/start-and-stop.test.ts`
const LOST = `${FAULTS}/log-lost.test.ts`
const EFFECTS = `${FAULTS}/effects.test.ts`
const NOTIFIER = 'tests/notify/notifier.test.ts'

export const FORTY: readonly Row[] = [
  row(
    1,
    'The row is synced before the response',
    '400/400',
    [{ file: POWER, name: /synced before its answer/ }],
    'test: a disk that reports a sync without syncing',
  ),
  row(
    2,
    'Power cut at any moment',
    '≥ 200 cuts, lost 0, file whole',
    [{ file: POWER, name: /power cut at any moment/ }],
    'mutant: no-sync',
  ),
  row(
    3,
    'Pragmas on every connection',
    'WAL, synchronous=FULL, foreign keys',
    [{ file: 'tests/store/open.test.ts', name: /new file uses WAL|settings are the same/ }],
    'mutant: no-full-sync',
  ),
  row(
    4,
    'kill -9 ×50 under 16 clients',
    'lost 0, ready in ≤ 1 s after each kill',
    [{ file: KILL }],
    'mutant: answer-before-commit',
  ),
  row(
    5,
    'kill -9 during a migration of 100,000 rows',
    'old or new schema version, 20/20',
    [{ file: `${FAULTS}/migrate-kill.test.ts` }],
    'mutant: migration-in-pieces',
  ),
  row(
    6,
    'SIGTERM under load',
    'exit 0 in ≤ 10 s, lost 0, no log',
    [{ file: START, name: /SIGTERM/ }],
    'mutant: left-log',
  ),
  row(
    7,
    'Full disk, and a quota that is used up',
    '503 + Retry-After, then 200 without a restart',
    [{ file: `${FAULTS}/full-disk.test.ts` }, { file: `${FAULTS}/disk-errors.test.ts`, name: /quota/ }],
    'mutants: full-disk-as-bug, quota-as-broken-disk',
  ),
  row(
    8,
    'Failing disk, and a log that is deleted, moved or truncated',
    'nothing acknowledged is lost',
    [{ file: `${FAULTS}/disk-errors.test.ts` }, { file: LOST, name: /log|idle|link, with/ }],
    'mutants: ignored-sync-error, unwatched-log, unwatched-size, unseen-gap, no-rescue, unresolved-link',
  ),
  row(
    9,
    'Start with an unusable database',
    'one line that says what to do, file unchanged',
    [{ file: START, name: /refused|temporary/ }, { file: 'tests/server/damage.test.ts' }],
    'mutants: foreign-file, any-schema',
  ),
  row(
    10,
    'A second server',
    'refused under any name; the first server is unaffected',
    [{ file: LOST, name: /second server/ }, { file: 'tests/store/path.test.ts' }, { file: 'tests/store/lock.test.ts' }],
    'mutants: lock-by-name, hard-links, lost-lock',
  ),
  row(
    11,
    'The same request 100 times',
    '1 alert, ≤ 1 incident, 1 id',
    [{ file: EFFECTS, name: /same alert|pipeline/ }],
    'mutant: no-identity',
  ),
  row(
    12,
    'Crash and retry',
    'alerts stored = sent',
    [{ file: KILL, name: /one alert, however often/ }],
    'mutant: no-identity-of-retries',
  ),
  row(
    13,
    'An incident resolved 50 times at once, 20 kills',
    '1 postmortem for Pro and Team, 0 for Free',
    [{ file: EFFECTS, name: /resolve/ }],
    'mutant: two-postmortems',
  ),
  row(
    14,
    'Any order of arrival',
    'the same state',
    [{ file: 'tests/actions/any-order.test.ts' }, { file: 'tests/domain/lifecycle-property.test.ts' }],
    'mutant: late-means-never',
  ),
  row(
    15,
    'Outgoing webhooks: failing receivers, kill -9 ×50',
    'lost 0, same webhook-id on each attempt',
    [
      { file: `${FAULTS}/outgoing.test.ts`, name: /kill -9/ },
      { file: NOTIFIER, name: /fails in every way|is gone|delays no other/ },
    ],
    'mutant: new-id-for-each-try',
  ),
  row(
    16,
    'Clock jumps',
    'UUIDs increase, no recent record is deleted',
    [
      { file: 'tests/domain/increasing-ids.test.ts' },
      { file: 'tests/domain/clock.test.ts' },
      { file: 'tests/domain/retention.test.ts' },
    ],
    'mutant: uuid-follows-clock',
  ),
  ...LOAD_AND_HISTORY,
  ...INPUT_AND_ACCESS,
  ...LIMITS,
]
