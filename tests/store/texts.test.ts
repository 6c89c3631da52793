/** The texts of Alertmanager's API as bytes. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { createTexts } from '../../src/store/alertmanager/texts.ts'

for (const [what, items] of [
  ['no texts', []],
  ['one text', ['{}']],
  ['characters of two to four bytes', ['"é"', '"日本語"', '"😀"', '""']],
  ['more bytes than characters', Array.from({ length: 50 }, (_, index) => `"${'語'.repeat(index * 3)}"`)],
  ['texts that are longer than a block', ['x'.repeat(100_000), 'y', '語'.repeat(50_000)]],
] as const) {
  test(`${what} are joined in UTF-8, in any order`, () => {
    const texts = createTexts()
    const numbers = items.map((item) => texts.add(item))
    const parts = numbers.toReversed().flatMap((number) => [number, ', é'])
    const expected = items.toReversed().flatMap((item) => [item, ', é'])
    assert.equal(Buffer.from(texts.joined(parts)).toString(), expected.join(''))
    assert.deepEqual(
      numbers.map(texts.size),
      items.map((item) => Buffer.byteLength(item)),
    )
  })
}
