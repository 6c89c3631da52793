/** What is reported about a test process that hangs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import tell, { emptyFiles, type Happening, happeningIn, underWay, whatHangs } from './happenings.ts'

const happening = (what: Happening['what'], name: string, file = 'tests/a.test.ts') => ({ what, name, file })
const SUITE = happening('begins', 'all')

/** Returns the lines that the reporter writes for these events. */
async function linesOf(...events: object[]): Promise<string[]> {
  async function* source() {
    yield* events as never[]
  }
  const lines: string[] = []
  for await (const line of tell(source())) lines.push(line.trimEnd())
  return lines
}

test('only the start and the failure of a test are reported', async () => {
  const file = `${process.cwd()}/tests/a.test.ts`
  const failed = { name: 'one', file, details: { error: new Error('the test failed', { cause: 'too late' }) } }
  const lines = await linesOf(
    { type: 'test:dequeue', data: { name: 'one', file } },
    { type: 'test:start', data: { name: 'one', file } },
    { type: 'test:complete', data: failed },
  )
  assert.deepEqual(lines.map(happeningIn), [
    happening('begins', 'one'),
    { ...happening('ends', 'one'), fault: "'too late'" },
  ])
})

test('a line from another program is ignored', () => {
  assert.equal(happeningIn('✔ {"what":"begins"}'), null)
})

test('a test that has started and not ended is running, and hangs', () => {
  const all = [SUITE, happening('begins', 'one'), happening('begins', 'other'), happening('ends', 'one')]
  assert.deepEqual(underWay(all), ['"all" of tests/a.test.ts', '"other" of tests/a.test.ts'])
  assert.equal(whatHangs(all), 'hangs in "all" of tests/a.test.ts, "other" of tests/a.test.ts')
})

test('if no test is running, the last one left something open, and earlier failures are listed', () => {
  const all = [happening('begins', 'one'), { ...happening('ends', 'one'), fault: 'too late' }]
  const [failed, hangs] = whatHangs(all).split('\n')
  assert.equal(failed, '"one" of tests/a.test.ts failed: too late')
  assert.equal(hangs, 'something is left open, or hangs, after "one" of tests/a.test.ts')
  assert.match(whatHangs([]), /hangs, at the start$/)
})

test('a file without tests is one whose path is its only test', () => {
  const none = happening('begins', 'tests/b.test.ts', 'tests/b.test.ts')
  assert.deepEqual(emptyFiles([SUITE, none]), ['tests/b.test.ts'])
})
