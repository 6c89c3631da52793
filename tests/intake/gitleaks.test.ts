/** The gitleaks rules: each one finds the tokens it describes, alone and within a sentence. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GITLEAKS_RULES } from '../../src/intake/gitleaks/rules.ts'
import { redactText } from '../../src/intake/redact.ts'

/** Removes the lookahead at the end, which fast-check cannot generate. The sentence provides that part. */
function generatable(pattern: string): RegExp {
  return new RegExp(`^${pattern.replace(/\(\?!\[[^\]]+\]\)$/, '').replaceAll('\\b', '')}$`)
}

test('there are about a hundred rules, each with its own name', () => {
  assert.ok(GITLEAKS_RULES.length > 90)
  assert.equal(new Set(GITLEAKS_RULES.map(({ id }) => id)).size, GITLEAKS_RULES.length)
})

for (const { id, pattern } of GITLEAKS_RULES) {
  test(`${id} is replaced`, () => {
    const tokens = fc.sample(fc.stringMatching(generatable(pattern)), { numRuns: 10, seed: 1 })
    for (const token of tokens) {
      for (const text of [token, `pull failed: "${token}", see (${token})`]) {
        assert.ok(!redactText(text).includes(token), text)
      }
    }
  })
}
