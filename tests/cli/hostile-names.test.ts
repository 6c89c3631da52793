/** Hostile names: no command lets a sender's or user's text control the terminal. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/cli.ts'
import { makeWorld } from '../helpers/app.ts'
import { call, incmon, type Outcome } from '../helpers/cli.ts'
import { makeAlert, makeIncident, makeOrganization, makeService, makeSilence, makeToken } from '../helpers/factory.ts'
import { newStore, temporaryDirectory } from '../helpers/store.ts'

/** Red text, a bell, reversed text, a new window title, and an extra line. */
const HOSTILE = 'x\u001b[31m\u0007\u202e\u009b2J\u001b]0;title\u0007\u2028\r\nFORGED'

/** Commands that run until they are stopped or that poll a server. */
const LASTING = /^(serve|demo|health)$/

function assertHarmless({ out, err }: Outcome, isJson = false): void {
  for (const text of [out, err]) {
    assert.doesNotMatch(text, /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u, JSON.stringify(text))
    if (!isJson) assert.doesNotMatch(text, /^FORGED/m, JSON.stringify(text))
  }
}

function leavesOf(command: Command, path: readonly string[] = []): { path: readonly string[]; command: Command }[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands.flatMap((child) => leavesOf(child, [...path, child.name()]))
}

/** Creates a directory whose database has hostile names in every field that a command shows. */
async function hostileDirectory(t: TestContext) {
  const cwd = temporaryDirectory(t)
  const db = newStore(join(cwd, 'incmon.db'))
  const organization = makeOrganization(db, HOSTILE, 'Pro')
  const seen = { last_event_at: Date.now() }
  const service = makeService(db, organization, HOSTILE, { namespace: HOSTILE, ...seen })
  const other = makeService(db, organization, 'other', seen)
  makeAlert(db, organization, service, { name: HOSTILE, summary: HOSTILE })
  const incident = makeIncident(db, organization, service).id
  const silence = makeSilence(db, organization, { ends_at: Date.UTC(2099, 0) }).id
  db.run(db.sql.updateTable('incidents').set({ title: HOSTILE }))
  db.run(db.sql.updateTable('silences').set({ comment: HOSTILE, created_by: HOSTILE }))
  makeToken(db, organization, ['read'], { name: HOSTILE })
  db.close()
  const alert = { status: 'firing', labels: { alertname: HOSTILE, service: HOSTILE, severity: HOSTILE } }
  writeFileSync(join(cwd, 'alerts.json'), JSON.stringify({ alerts: [alert, { labels: { [HOSTILE]: [] } }] }))
  return { cwd, incident, silence, service: service.id, other: other.id }
}

/** Commands that succeed on this database. */
function successes({ incident, silence, service, other }: Awaited<ReturnType<typeof hostileDirectory>>): string[][] {
  return [
    ['org', 'list'],
    ['org', 'set-plan', HOSTILE, 'Team'],
    ['service', 'list'],
    ['token', 'create', '--name', HOSTILE],
    ['token', 'list'],
    ['silence', 'list'],
    ['silence', 'expire', silence],
    ['explain', 'alerts.json', '--source', 'metrics'],
    ['incident', 'list'],
    ['incident', 'resolve', incident],
    ['incident', 'postmortem', incident],
    ['incident', 'export', 'out'],
    ['service', 'merge', service, other, '--yes'],
    ['doctor'],
    ['prune'],
  ]
}

test('the database of an organization with a hostile name is shown without harm', async (t) => {
  const made = await hostileDirectory(t)
  for (const args of successes(made)) {
    const outcome = await call(made.cwd, [...args, ...orgOf(args)])
    assertHarmless(outcome)
    if (args[0] !== 'doctor' && args[0] !== 'explain') assert.equal(outcome.code, 0, JSON.stringify([args, outcome]))
  }
})

function orgOf([noun = '', verb = '']: readonly string[]): string[] {
  const takesOrg = /^(service (list|merge)|token (create|list)|silence list|explain|incident (list|export))$/
  return takesOrg.test(noun === 'explain' ? noun : `${noun} ${verb}`) ? ['--org', HOSTILE] : []
}

test('a hostile name is refused for a new organization', async (t) => {
  const { cwd } = await hostileDirectory(t)
  const outcome = await call(cwd, ['org', 'create', `${HOSTILE}2`])
  assertHarmless(outcome)
  assert.deepEqual([outcome.code, /control characters are not allowed/.test(outcome.err)], [2, true])
})

test('JSON escapes hostile names, so that programs get them unchanged', async (t) => {
  const { cwd } = await hostileDirectory(t)
  const outcome = await call(cwd, ['service', 'list', '--json'])
  assertHarmless(outcome, true)
  const names = (JSON.parse(outcome.out) as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(names.sort(), ['other', HOSTILE])
})

const program = await createProgram(Date.now)

suite('hostile arguments', { concurrency: 1 }, () => {
  for (const { path, command } of leavesOf(program)) {
    if (LASTING.test(path.join(' '))) continue
    test(`incmon ${path.join(' ')} does not repeat hostile arguments verbatim`, async (t) => {
      const { acme, db } = makeWorld(t)
      makeService(db, acme, 'cart')
      const args = command.registeredArguments.filter(({ required }) => required).map(() => HOSTILE)
      const options = command.options.some(({ long }) => long === '--org') ? ['--org', HOSTILE] : []
      for (const more of [[], ['--hostile', HOSTILE], [`--${HOSTILE}`]]) {
        assertHarmless(await call(join(db.file, '..'), [...path, ...args, ...options, ...more]))
      }
    })
  }
})

test('a hostile variable and a hostile configuration file are safely named', async (t) => {
  const cwd = temporaryDirectory(t)
  assertHarmless(
    await incmon(cwd, ['check-config'], { env: { INCMON_PORT: HOSTILE, INCMON_TRUSTED_PROXIES: HOSTILE } }),
  )
  writeFileSync(join(cwd, 'incmon.toml'), `port = ${JSON.stringify(HOSTILE)}\n"${'\\u001b'}x" = 1\n`)
  assertHarmless(await incmon(cwd, ['serve', '--config', 'incmon.toml']))
})
