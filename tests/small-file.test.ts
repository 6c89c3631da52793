/** The files that an operator names have a limit, and are refused with the reason. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readSettings, readSmallFile } from '../src/config.ts'
import { accessOf, targetOf } from '../src/kubernetes/access.ts'
import { temporaryDirectory } from './helpers/store.ts'

const MEBIBYTE = 1_048_576

test('a file of 1 MiB is read, a larger one and a device without end are refused', (t) => {
  const path = join(temporaryDirectory(t), 'file')
  for (const text of ['', 'a\u{e4}\n', 'a'.repeat(MEBIBYTE)]) {
    writeFileSync(path, text)
    assert.equal(readSmallFile(path), text)
  }
  writeFileSync(path, 'a'.repeat(MEBIBYTE + 1))
  assert.throws(() => readSmallFile(path), { code: 'it is larger than 1 MiB' })
  assert.throws(() => readSmallFile('/dev/zero'), { code: 'it is larger than 1 MiB' })
  assert.throws(() => readSmallFile(`${path}.gone`), { code: 'ENOENT' })
})

test('a kubeconfig and a settings file that are too large are refused with the reason', (t) => {
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, `a: ${'x'.repeat(60 * MEBIBYTE)}`)
  assert.throws(() => accessOf(targetOf(path)), /cannot be read \(it is larger than 1 MiB\); check the path/)
  const { faults } = readSettings({ flags: { config: path }, env: {} })
  assert.match(faults.join(), /cannot be read \(it is larger than 1 MiB\); set --config/)
})
