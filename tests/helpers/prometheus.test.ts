/** Checks that the test's own parser rejects what Prometheus rejects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readExposition } from './prometheus.ts'

test('a valid exposition is accepted', () => {
  const text = '# HELP a What.\n# TYPE a counter\na{b="c,\\"d\\""} 1\na 2e3\n'
  assert.deepEqual(
    [...readExposition(text)],
    [
      ['a{b="c,\\"d\\""}', 1],
      ['a', 2000],
    ],
  )
})

for (const [what, text] of [
  ['a last line without an end', '# TYPE a gauge\na 1'],
  ['a sample without a family', 'a 1\n'],
  ['a sample of another family', '# TYPE a gauge\n# TYPE b gauge\na 1\n'],
  ['a family twice', '# TYPE a gauge\na 1\n# TYPE a gauge\n'],
  ['a sample twice', '# TYPE a gauge\na 1\na 2\n'],
  ['an open label', '# TYPE a gauge\na{b="c} 1\n'],
  ['a bare backslash', '# TYPE a gauge\na{b="\\c"} 1\n'],
  ['a value that is none', '# TYPE a gauge\na one\n'],
  ['buckets that fall', '# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n'],
  ['a count that is not the last bucket', '# TYPE a histogram\na_bucket{le="+Inf"} 1\na_sum 1\na_count 2\n'],
] as const) {
  test(`${what} is refused`, () => assert.throws(() => readExposition(text)))
}
