/** Mutants of the rules, of input and of access. */
import type { Mutant } from './run.ts'

const ITEM = 'src/domain/decide/item.ts'
const EFFECTS = 'tests/faults/effects.test.ts'
const BAD = 'tests/faults/bad-input.test.ts'
/** No alert is ever found again. */
const NO_IDENTITY = [
  'signal: Signal): LiveAlert | null {\n',
  'signal: Signal): LiveAlert | null {\n  if (receivedAt > 0) return null\n',
] as const

export const RULE_MUTANTS: readonly Mutant[] = [
  {
    name: 'unlimited-bodies',
    file: 'src/server/connection/pending-bodies.ts',
    from: 'total + bytes <= most',
    to: 'total + bytes > 0 || most > 0',
    test: 'tests/server/pending-bodies.test.ts',
  },
  {
    name: 'unseen-damage',
    file: 'src/server/damage.ts',
    from: 'if (isDamage(error)) remember',
    to: 'if (!isDamage(error)) remember',
    test: 'tests/server/damage.test.ts',
  },
  {
    name: 'any-encoding',
    file: 'src/http/middleware/body.ts',
    from: 'return encoding !== undefined &&',
    to: 'return encoding === undefined &&',
    test: BAD,
    only: 'encoding',
  },
  {
    name: 'unredacted',
    file: 'src/intake/redact.ts',
    from: 'export function redactText(text: string): string {',
    to: 'export function redactText(text: string): string {\n  if (text !== "") return text',
    test: 'tests/faults/canary.test.ts',
  },
  {
    name: 'no-identity',
    file: ITEM,
    from: NO_IDENTITY[0],
    to: NO_IDENTITY[1],
    test: EFFECTS,
  },
  {
    name: 'no-identity-of-retries',
    file: ITEM,
    from: NO_IDENTITY[0],
    to: NO_IDENTITY[1],
    test: 'tests/faults/kill.test.ts',
  },
  {
    name: 'two-postmortems',
    file: 'src/domain/decide/incidents.ts',
    from: "  if (after.status === 'resolved') ctx.emit({ kind: 'postmortem-due'",
    to: "  for (const _ of [1, 2]) if (after.status === 'resolved') ctx.emit({ kind: 'postmortem-due'",
    test: EFFECTS,
  },
  {
    name: 'late-means-never',
    file: 'src/domain/decide/item-alert.ts',
    from: "const endings = isEvent && signal.status === 'firing' ?",
    to: "const endings = isEvent && signal.status !== 'firing' ?",
    test: 'tests/operations/any-order.test.ts',
  },
  {
    name: 'new-id-for-each-try',
    file: 'src/notify/deliver.ts',
    from: "'webhook-id': id,",
    to: "'webhook-id': id + now,",
    test: 'tests/notify/notifier.test.ts',
  },
  {
    name: 'lost-between-chunks',
    file: 'src/engine/large.ts',
    from: 'accepted: accepted.slice(from, to)',
    to: 'accepted: accepted.slice(from, to - 1)',
    test: 'tests/faults/load.test.ts',
    only: '5,000',
  },
  {
    name: 'any-number',
    file: 'src/http/middleware/query.ts',
    from: 'v.check((number) => number >= min && number <= max, `expected an integer',
    to: 'v.check((number) => number >= min || number <= max, `expected an integer',
    test: 'tests/http/alerts.test.ts',
  },
  {
    name: 'refusal-as-bug',
    file: 'src/http/middleware/problem.ts',
    from: '  invalid: 400,',
    to: '  invalid: 500,',
    test: 'tests/http/fuzz.test.ts',
  },
  {
    name: 'any-size',
    file: 'src/http/middleware/body.ts',
    from: 'export const WEBHOOK_LIMIT = 10 * MEBIBYTE',
    to: 'export const WEBHOOK_LIMIT = 100 * MEBIBYTE',
    test: BAD,
    only: 'bomb',
  },
  {
    name: 'lost-proto',
    file: 'src/domain/event/event.ts',
    from: 'return Object.setPrototypeOf({}, null)',
    to: 'return {}',
    test: 'tests/operations/hostile.test.ts',
  },
  {
    name: 'february-30',
    file: 'src/domain/instant.ts',
    from: 'return day <= 28 || new Date(ms)',
    to: 'return day <= 31 || new Date(ms)',
    test: 'tests/domain/instant.test.ts',
  },
  {
    name: 'endless-heads',
    file: 'src/server/connection/connections.ts',
    from: 'headersTimeout: 10_000,',
    to: 'headersTimeout: 60_000,',
    test: BAD,
    only: 'slow',
  },
  {
    name: 'zero-time-as-time',
    file: 'src/intake/fields.ts',
    from: 'const ZERO_TIME = /^\\W*0001-01-01/',
    to: 'const ZERO_TIME = /^\\W*0002-01-01/',
    test: 'tests/intake/alertmanager.test.ts',
  },
  {
    name: 'any-scope',
    file: 'src/http/middleware/auth.ts',
    from: 'if (!identity.scopes.includes(scope)) {',
    to: 'if (identity.scopes.length === 0) {',
    test: 'tests/http/matrix.test.ts',
  },
  {
    name: 'bare-token',
    file: 'src/http/middleware/auth.ts',
    from: 'const BEARER = /^Bearer +(',
    to: 'const BEARER = /^(?:Bearer +)?(',
    test: 'tests/http/auth.test.ts',
  },
  {
    name: 'open-loopback',
    file: 'src/notify/addresses.ts',
    from: "'127.0.0.0/8', ",
    to: '',
    test: 'tests/notify/post.test.ts',
  },
  {
    name: 'stream-of-all',
    file: 'src/server/notices.ts',
    from: 'if (one.organizationId === organizationId) void',
    to: 'if (one.organizationId > 0) void',
    test: 'tests/http/stream.test.ts',
  },
]
