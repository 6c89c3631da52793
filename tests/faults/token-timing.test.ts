/** Looking up an invalid token takes the same time whether or not it starts like a valid one. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { authenticate } from '../../src/actions/tokens.ts'
import { systemDeps } from '../../src/deps.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, figure, quantile } from './generator.ts'
import { makeDatabase, startServer } from './server.ts'
import { sized } from './size.ts'

/** The number of lookups per kind of invalid token, and of comparisons. Other programs disturb some of them. */
const TIMED = 20_000
const COMPARISONS = 7
/**
 * The number of requests per kind, and of those from one address, which can send 100 invalid tokens without a delay.
 */
const OVER_HTTP = sized(20_000, 4_000)
const PER_ADDRESS = 40
/**
 * The number of invalid tokens per kind. Each token has its own lookup time, which a few tokens would not average out.
 */
const TOKENS = 20_000
/** Above this, the difference between two means is not due to chance. */
const MAX_T = 4.5

/** Returns invalid tokens with this prefix. */
function wrongTokens(beginning: string): string[] {
  return Array.from({ length: TOKENS }, (_, number) =>
    Buffer.from(beginning + number.toString(36).padStart(4, 'A')).toString('latin1'),
  )
}

/**
 * Returns Welch's t for the lookup times of invalid tokens that start like the valid one and of those that do not,
 * measured in pairs.
 */
function compare(token: string, lookUp: (token: string) => unknown): number {
  // Uses the same characters, because a pattern takes longer for mixed case than for a repeated letter.
  const reversed = token.slice(0, 7) + [...token.slice(7, -4)].reverse().join('')
  const wrong = [wrongTokens(token.slice(0, -4)), wrongTokens(reversed)] as const
  const times: [number[], number[]] = [[], []]
  for (let round = -2_000; round < TIMED; round += 1) {
    for (const kind of inRandomOrder()) {
      const one = wrong[kind][(round + 2_000) % TOKENS] ?? ''
      const began = process.hrtime.bigint()
      lookUp(one)
      if (round >= 0) times[kind].push(Number(process.hrtime.bigint() - began))
    }
  }
  return scoreOf(times)
}

/**
 * The order of the two kinds varies. With a fixed order, anything that recurs every few requests would look like a
 * difference.
 */
function inRandomOrder(): readonly (0 | 1)[] {
  return Math.random() < 0.5 ? [0, 1] : [1, 0]
}

/** Returns Welch's t. */
function scoreOf(times: readonly [readonly number[], readonly number[]]): number {
  const [a, b] = [momentsOf(times[0]), momentsOf(times[1])]
  return (a.mean - b.mean) / Math.sqrt(a.variance / times[0].length + b.variance / times[1].length)
}

/** Returns the median of several comparisons. */
function medianScore(token: string, lookUp: (token: string) => unknown): number {
  const scores = Array.from({ length: COMPARISONS }, () => compare(token, lookUp))
  return Math.abs(quantile(scores, 0.5))
}

/** Drops the slowest tenth, which is caused by the machine. */
function momentsOf(all: readonly number[]) {
  const times = all.toSorted((a, b) => a - b).slice(0, Math.ceil(all.length * 0.9))
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  return { mean, variance: times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1) }
}

/** The insecure alternative: compares up to the first different character. */
function isEqual(one: string, other: string): boolean {
  for (let index = 0; index < one.length; index += 1) if (one[index] !== other[index]) return false
  return one.length === other.length
}

test('looking up an invalid token that starts like a valid one takes as long as any other', (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const db = openStore(file)
  t.after(() => db.close())
  const deps = systemDeps(db)
  assert.notEqual(authenticate(deps, token), null)
  const score = medianScore(token, (wrong) => authenticate(deps, wrong))
  const control = medianScore(token, (wrong) => isEqual(wrong, token))
  figure(
    t,
    37,
    `in the process |t| = ${score.toFixed(2)} with ${TIMED} look-ups of each kind; a comparison by character has |t| = ${control.toFixed(0)}`,
  )
  assert.ok(score < MAX_T, `t = ${score}`)
  assert.ok(control >= MAX_T, `the control has t = ${control}`)
})

/** Sends one request with this token and returns its duration in milliseconds. */
type Ask = (token: string) => Promise<number>

/** Sends invalid tokens over kept-alive connections, from so many addresses that no response is delayed. */
async function compareOverHttp(token: string, askFrom: (address: string) => Ask): Promise<number> {
  const reversed = token.slice(0, 7) + [...token.slice(7, -4)].reverse().join('')
  const wrong = [wrongTokens(token.slice(0, -4)), wrongTokens(reversed)] as const
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < OVER_HTTP; ) {
    const ask = askFrom(`127.0.${1 + ((round / PER_ADDRESS) >> 7)}.${1 + ((round / PER_ADDRESS) & 127)}`)
    // The first request opens the connection.
    await ask('none')
    for (const last = round + PER_ADDRESS; round < last; round += 1)
      for (const kind of inRandomOrder()) times[kind].push(await ask(wrong[kind][round % TOKENS] ?? ''))
  }
  return scoreOf(times)
}

test('over HTTP an invalid token that starts like a valid one takes as long as any other', async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const { url } = await startServer(t, file)
  const askFrom = (address: string): Ask => {
    const { post, close } = createGenerator({ url, token }, 1, address)
    t.after(close)
    return async (wrong) => {
      const began = performance.now()
      const reply = await post('/api/webhooks/metrics', '{}', { Authorization: `Bearer ${wrong}` })
      assert.equal(reply?.status, 401)
      return performance.now() - began
    }
  }
  const score = Math.abs(await compareOverHttp(token, askFrom))
  figure(t, 37, `over HTTP |t| = ${score.toFixed(2)} with ${OVER_HTTP} requests of each kind`)
  assert.ok(score < MAX_T, `t = ${score}`)
})

test('only the SHA-256 of a token is stored, and a token can be found only by it', (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const db = openStore(file)
  t.after(() => db.close())
  const hashes = db.all(db.sql.selectFrom('tokens').select('hash')).map(({ hash }) => Buffer.from(hash).toString('hex'))
  assert.deepEqual(hashes, [createHash('sha256').update(token).digest('hex')])
  assert.equal(authenticate(systemDeps(db), hashes[0] ?? ''), null)
})
