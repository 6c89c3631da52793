/**
 * Compares every command and option with goldens/*.txt. A golden file has this format:
 *
 *     # an optional comment
 *     setup: acme                       a setup from setups.ts
 *     env: INCMON_PORT=x                can be repeated
 *     run: incmon org create 'A name'   can contain the setup's {names}
 *     exit: 0
 *     until: listens on                 for a long-running command: stop it after this output
 *     process: own                      for a command that needs a process of its own; a command with `until` has one
 *     --- file NAME                     created in the directory beforehand; can be repeated
 *     --- stdin
 *     --- stdout
 *     --- stderr
 *
 * A new file needs only `setup` and `run`: INCMON_UPDATE_GOLDENS=1 npm test tests/cli/golden.test.ts adds the rest. Review
 * the result. Output that varies between runs is replaced with {time}, {date}, {uuid}, {secret}, {url}, {size}, {directory}, {version},
 * {bytes}, {problem}, {commit}, {node}, {sqlite}, {migrations}, {model} (the schema version of this program).
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite, test } from 'node:test'
import type { Command } from 'commander'
import { programVersion } from '../../src/assets.ts'
import { createProgram } from '../../src/cli/cli.ts'
import { call, incmon } from '../helpers/cli.ts'
import { unstarved } from '../helpers/server.ts'
import { filled, type Golden, normalised, readGoldens, rewrite } from './golden.ts'
import { SETUPS } from './setups.ts'

const UPDATE = process.env.INCMON_UPDATE_GOLDENS === '1'
const goldens = readGoldens()
const program = await createProgram(Date.now)

suite('goldens', { concurrency: 1 }, () => {
  for (const golden of goldens) {
    test(golden.name, async (t) => {
      const setup = await (SETUPS[golden.setup] ?? assert.fail(`no setup ${golden.setup}`))(t)
      for (const [name, text] of Object.entries(golden.files)) {
        mkdirSync(dirname(join(setup.cwd, name)), { recursive: true })
        writeFileSync(join(setup.cwd, name), filled(text, setup))
      }
      const { input, until, isOwnProcess } = golden
      const env = Object.fromEntries(Object.entries(golden.env).map(([name, text]) => [name, filled(text, setup)]))
      const args = golden.args.map((arg) => filled(arg, setup))
      const options = { env, input: filled(input, setup), ...(until ? { until } : {}) }
      const outcome = await unstarved(() => (isOwnProcess ? incmon : call)(setup.cwd, args, options))
      const came = normalised(outcome, setup, programVersion())
      if (UPDATE) return rewrite(golden, came)
      const { exit, out, err } = golden
      assert.deepEqual(came, { exit, out, err })
    })
  }
})

test('every command of the program succeeds in one golden file and fails in another', () => {
  const called = goldens.map((golden) => ({ command: commandOf(golden), exit: golden.exit }))
  for (const command of leaves(program)) {
    const exits = called.filter((one) => one.command === command).map(({ exit }) => exit)
    assert.ok(exits.includes(0), `no golden in which "${pathOf(command)}" succeeds`)
    assert.ok(
      exits.some((exit) => exit !== 0),
      `no golden in which "${pathOf(command)}" refuses`,
    )
  }
})

test('every option of the program is used by a golden file', () => {
  for (const command of [program, ...leaves(program)]) {
    const words = goldens
      .filter((golden) => command === program || commandOf(golden) === command)
      .flatMap(({ args }) => args.flatMap((arg) => arg.split(/=(.*)/s, 2)))
    for (const { long = null } of command.options)
      assert.ok(words.includes(long ?? ''), `${pathOf(command)} ${long} is in no golden`)
  }
})

function leaves(command: Command): Command[] {
  const children = command.commands.filter((one) => one.name() !== 'help')
  return children.flatMap((child) => (child.commands.length === 0 ? [child] : leaves(child)))
}

/** Returns the command selected by the arguments. */
function commandOf({ args }: Golden): Command {
  return args.reduce((at, arg) => at.commands.find((one) => one.name() === arg) ?? at, program)
}

function pathOf(command: Command): string {
  return command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}
