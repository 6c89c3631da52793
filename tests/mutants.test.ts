/** Checks that the negative controls of the proofs match the program. `npm run test:mutants` runs them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { FORTY } from './faults/forty/forty.ts'
import { RULE_MUTANTS } from './faults/mutants/of-rules.ts'
import { STORAGE_MUTANTS } from './faults/mutants/of-storage.ts'

const MUTANTS = [...STORAGE_MUTANTS, ...RULE_MUTANTS]

for (const { name, file, from, to, test: path, only } of MUTANTS)
  test(`the mutant ${name} finds its code and its test`, () => {
    assert.equal(readFileSync(file, 'utf8').split(from).length - 1, 1, `${file} must contain once: ${from}`)
    assert.notEqual(from, to)
    assert.ok(readFileSync(path, 'utf8').includes(only ?? ''), `${path} has no test named: ${only}`)
  })

test('two mutants never share a name', () => {
  assert.equal(new Set(MUTANTS.map(({ name }) => name)).size, MUTANTS.length)
})

test('a proof names only mutants that exist', () => {
  const known = new Set(MUTANTS.map(({ name }) => name))
  const named = FORTY.flatMap(
    ({ control }) => /mutants?: ([\w, -]+?)(?:, test:|$)/.exec(control)?.[1]?.split(', ') ?? [],
  )
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  )
  assert.ok(named.length >= 35)
})
