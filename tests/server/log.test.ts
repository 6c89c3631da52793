/** The log: machine-readable lines, without secrets, and limited in number. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLog } from '../../src/server/log.ts'
import { createRefusals } from '../../src/server/repeated.ts'

const TOKEN = `incmon_${'A1'.repeat(21)}b`

function logged(level = 'info') {
  const lines: string[] = []
  const log = createLog(level, (line) => void lines.push(line))
  const read = () => lines.map((line) => JSON.parse(line))
  return { log, lines, read }
}

describe('a line', () => {
  test('is JSON with level, time and message', () => {
    const { log, lines, read } = logged()
    log.info({ url: 'http://a' }, 'started\nnow')
    const [{ time, ...line }] = read()
    assert.deepEqual(
      [line, lines[0]?.endsWith('}\n')],
      [{ level: 'info', url: 'http://a', message: 'started\nnow' }, true],
    )
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('contains an error with its causes', () => {
    const { log, read } = logged()
    log.error({ error: new Error('outer', { cause: new Error('inner') }) }, 'failed')
    assert.deepEqual([read()[0].error.message, read()[0].error.cause.message], ['outer', 'inner'])
  })

  test('says what to do for a database error', () => {
    const { log, read } = logged()
    log.error({ error: Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' }) }, 'failed')
    assert.match(
      read()[0].error.remedy,
      /^the database is damaged: stop the server, keep this file, and restore a backup;/,
    )
  })

  for (const [where, happening] of [
    ['in a text', { detail: `token ${TOKEN} is unknown` }],
    ['under a name that says so', { authorization: 'hunter2hunter2' }],
    ['in an error', { error: new Error(`${TOKEN} failed`) }],
    ['in the path of a request', { path: `/api/alerts/${TOKEN}` }],
  ] as const) {
    test(`contains no secret ${where}`, () => {
      const { log, lines } = logged()
      log.warn(happening, 'refused')
      assert.ok(!/hunter2|A1A1A1/.test(lines.join('')), lines.join(''))
    })
  }

  test('below the level is not written, and the level can change', () => {
    const { log, lines } = logged('warn')
    log.info('no')
    log.level = 'debug'
    log.debug('yes')
    assert.equal(lines.length, 1)
  })
})

describe('rejections', () => {
  const refused = { status: 401, route: 'GET /api/services', detail: 'missing token' }

  test('of one kind are logged once, then with a count', () => {
    const { log, read } = logged()
    const { add, tell } = createRefusals(log)
    for (let time = 0; time < 1_000; time += 1) add(refused)
    tell()
    assert.deepEqual(
      read().map(({ message, times }) => [message, times]),
      [
        ['refused', undefined],
        ['refused again', 999],
      ],
    )
  })

  test('for another route or status are logged separately', () => {
    const { log, lines } = logged()
    const { add, tell } = createRefusals(log)
    for (const one of [refused, { ...refused, status: 403 }, { ...refused, route: 'none' }]) add(one)
    tell()
    add(refused)
    assert.equal(lines.length, 4)
  })

  test('caused by bugs are logged ten times', () => {
    const { log, read } = logged()
    const { add } = createRefusals(log)
    for (let time = 0; time < 12; time += 1) add({ status: 500, route: 'GET /api/alerts', error: new Error('bug') })
    assert.deepEqual([read().length, read()[0].level, read()[0].error.message], [10, 'error', 'bug'])
  })
})
