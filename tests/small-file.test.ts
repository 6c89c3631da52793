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

test('a kubeconfig that would be slow to parse is refused', (t) => {
  const path = join(temporaryDirectory(t), 'file')
  for (const text of ['[', '{', '{a: ', '[]', 'a: ', '- ', 'a:\n', '{"a":[{"b":{}}]}'].map((one) =>
    one.repeat(25_000),
  )) {
    writeFileSync(path, text)
    assert.throws(() => accessOf(targetOf(path)), /has more than 20000 signs; check that it is a kubeconfig/)
  }
})

test('a kubeconfig with two hundred contexts and their certificates is read', (t) => {
  const path = join(temporaryDirectory(t), 'file')
  const data = Buffer.from('c'.repeat(1_500)).toString('base64')
  const names = Array.from({ length: 200 }, (_, index) => `team-${index}@cluster-${index}`)
  const config = {
    'current-context': names[7],
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name, namespace: 'shop' } })),
    clusters: names.map((name) => ({
      name,
      cluster: { server: `https://${name}.example:6443`, 'certificate-authority-data': data },
    })),
    users: names.map((name) => ({ name, user: { 'client-certificate-data': data } })),
  }
  writeFileSync(path, JSON.stringify(config))
  assert.equal(accessOf(targetOf(path)).server, `https://${names[7]}.example:6443`)
})
