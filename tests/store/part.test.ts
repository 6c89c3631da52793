/** Files that are either complete or missing. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startPart, withPart } from '../../src/store/sqlite/temporary-file.ts'
import { temporaryDirectory } from '../helpers/store.ts'

test('a file gets its name only when it is published, with private permissions', async (t) => {
  const target = join(temporaryDirectory(t), 'copy')
  await withPart(target, async (part) => {
    writeFileSync(part.path, 'whole')
    assert.ok(!existsSync(target))
    part.publish()
  })
  assert.equal(readFileSync(target, 'utf8'), 'whole')
  assert.equal(statSync(target).mode & 0o777, 0o600)
  assert.ok(!existsSync(`${target}.part`))
})

test('an unpublished file is deleted with the files of SQLite', async (t) => {
  const directory = temporaryDirectory(t)
  await withPart(join(directory, 'copy'), async (part) => writeFileSync(`${part.path}-journal`, 'half'))
  assert.deepEqual(readdirSync(directory), [])
})

test('files of a killed process are not reused', (t) => {
  const directory = temporaryDirectory(t)
  for (const name of ['copy.part', 'copy.part-journal']) writeFileSync(join(directory, name), 'stale')
  const part = startPart(join(directory, 'copy'))
  t.after(part.discard)
  assert.deepEqual(readdirSync(directory), ['copy.part'])
  assert.equal(statSync(part.path).size, 0)
})

test('if two writers have one target, the earlier one fails without effect', (t) => {
  const target = join(temporaryDirectory(t), 'copy')
  const [earlier, later] = [startPart(target), startPart(target)]
  assert.throws(earlier.publish, /copy\.part was replaced by another process: run one command at a time$/)
  earlier.discard()
  later.publish()
  assert.ok(existsSync(target))
})

test('a deleted partial file is not published', (t) => {
  const target = join(temporaryDirectory(t), 'copy')
  const part = startPart(target)
  t.after(part.discard)
  rmSync(part.path)
  assert.throws(part.publish, /was replaced by another process/)
})

for (const [what, make, line] of [
  [
    'a directory that is missing',
    () => {},
    /copy cannot be written \(ENOENT\): the directory does not exist: create it/,
  ],
  [
    'a directory in its way',
    (directory: string) => mkdirSync(join(directory, 'gone', 'copy.part'), { recursive: true }),
    /copy cannot be written \(ERR_FS_EISDIR\): a directory has this name/,
  ],
] as const) {
  test(`${what} is refused in one line`, async (t) => {
    const directory = temporaryDirectory(t)
    make(directory)
    await assert.rejects(
      withPart(join(directory, 'gone', 'copy'), async () => assert.fail()),
      { message: line },
    )
  })
}
