/** The proofs about event streams, bad input, access and secrets. */
import { type Row, row } from './row.ts'

const BAD = 'tests/faults/bad-input.test.ts'

export const INPUT_AND_ACCESS: readonly Row[] = [
  row(
    26,
    'Event streams',
    '1,000 streams notified in ≤ 500 ms, ≤ 150 MB, closed in ≤ 2 s, no event missed or sent twice, no event of another organization; a client that never reads is disconnected in ≤ 30 s with ≤ 1 MB unread',
    [{ file: 'tests/faults/streams.test.ts' }, { file: 'tests/http/stream.test.ts' }],
    'mutant: stream-of-all',
  ),
  row(
    28,
    'Fuzzed bodies',
    'no 500, every response as documented, p99 ≤ 50 ms',
    [{ file: 'tests/http/fuzz.test.ts' }],
    'mutant: refusal-as-bug',
  ),
  row(
    29,
    'Bombs',
    'each rejected or stored in ≤ 250 ms, with ≤ 50 MB of memory (≤ 64 MB for a 10 MB string)',
    [{ file: BAD, name: /bomb/ }],
    'mutant: any-size',
  ),
  row(
    30,
    'Hostile strings',
    'stored unchanged',
    [{ file: 'tests/actions/hostile.test.ts' }, { file: 'tests/intake/json.test.ts' }],
    'mutant: lost-proto',
  ),
  row(31, 'Times', 'the expected result each time', [{ file: 'tests/domain/instant.test.ts' }], 'mutant: february-30'),
  row(
    32,
    'Broken HTTP, 500 slow senders',
    'rejected; a valid request takes ≤ 200 ms',
    [{ file: BAD, name: /slow|refused with|pipelined/ }, { file: 'tests/http/unreadable.test.ts' }],
    'mutant: endless-heads',
  ),
  row(33, 'Encodings', '400 or 415, ≤ 20 MB', [{ file: BAD, name: /encoding/ }], 'mutant: any-encoding'),
  row(
    34,
    'Recorded payloads from every sender',
    'all accepted',
    [
      { file: 'tests/intake/index.test.ts' },
      { file: 'tests/intake/alertmanager.test.ts' },
      { file: 'tests/intake/ci.test.ts' },
      { file: 'tests/intake/cluster.test.ts' },
    ],
    'mutant: zero-time-as-time',
  ),
  row(
    35,
    'Every route with every kind of token',
    'the expected status',
    [{ file: 'tests/http/matrix.test.ts' }],
    'mutant: any-scope',
  ),
  row(
    36,
    'Invalid tokens',
    '401 each in ≤ 5 ms; 1,000 wrong tokens from one address delay no other client, p99 of valid tokens at most 20 % higher',
    [
      { file: 'tests/faults/wrong-tokens.test.ts' },
      { file: 'tests/http/auth.test.ts' },
      { file: 'tests/server/wrong-tokens.test.ts' },
    ],
    'mutant: bare-token',
  ),
  row(
    37,
    'Timing of the token lookup',
    '|t| < 4.5, only the SHA-256 is stored',
    [{ file: 'tests/faults/token-timing.test.ts' }],
    'mutant: stored-token, test: a comparison by character',
  ),
  row(38, 'Planted secrets', '0 found', [{ file: 'tests/faults/canary.test.ts' }], 'mutant: unredacted'),
  row(
    39,
    'Hostile strings on every page, in Chromium',
    '0 scripts run, 0 resources blocked',
    [{ file: 'tests/pages/hostile-strings.test.ts' }],
    'mutant: any-link, test: a page without escaping',
  ),
  row(40, 'SSRF', 'no private address is reached', [{ file: 'tests/notify/post.test.ts' }], 'mutant: open-loopback'),
]
