/** The printed command that continues with a saved copy works, whatever is in the place of the database's directory. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { commandToUse } from '../../src/store/sqlite/rescue.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const places: Readonly<Record<string, (directory: string) => void>> = {
  'is there': (directory) => mkdirSync(directory, { recursive: true }),
  'is gone': () => {},
  'was replaced by a file': (directory) => {
    mkdirSync(dirname(directory))
    writeFileSync(directory, '')
  },
  'was replaced by a broken link': (directory) => {
    mkdirSync(dirname(directory))
    symlinkSync('/nowhere', directory)
  },
  'is gone, and a file replaced its parent': (directory) => writeFileSync(dirname(directory), ''),
}

for (const [what, prepare] of Object.entries(places))
  test(`the command puts the copy in the place of a database whose directory ${what}`, (t) => {
    const root = temporaryDirectory(t)
    const file = join(root, 'srv', 'data', 'incmon.db')
    const copy = join(root, 'srv-data-incmon.db.rescued-20261128T120000Z')
    prepare(dirname(file))
    writeFileSync(copy, 'saved')
    execFileSync('sh', ['-c', commandToUse(copy, file)])
    assert.equal(readFileSync(file, 'utf8'), 'saved')
  })
