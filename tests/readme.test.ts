/** What the README claims is so: its commands, its paths, its tables. */
import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import test from 'node:test'
import { createProgram } from '../src/cli/cli.ts'
import { systemClock } from '../src/deps.ts'
import { ROUTES } from '../src/http/app.ts'

const root = new URL('../', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const { scripts } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
const commands = createProgram(systemClock)

test('It can be read in one sitting', () => {
  assert.ok(readme.split('\n').length <= 200)
})

test('Every link leads to a file of the project', () => {
  const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, path = '']) => path)
  assert.ok(links.length > 5)
  for (const path of links) assert.ok(existsSync(new URL(path, root)), path)
})

test('Every npm script that it names is there', () => {
  const named = [...readme.matchAll(/npm (?:run (?:-s )?)?(start|test|incmon|check|format|bench)\b/g)].map(
    ([, name = '']) => name,
  )
  for (const name of named) assert.ok(scripts[name], name)
})

test('The map of the code names only what exists, and every folder of src', () => {
  const map = /## The code[\s\S]*?```\n([\s\S]*?)```/.exec(readme)?.[1] ?? assert.fail('there is no map')
  const paths = [...map.matchAll(/^(\S+\/?)\s/gm)].map(([, path = '']) => path)
  for (const path of paths) assert.ok(existsSync(new URL(path, root)), path)
  const files = [...map.matchAll(/\b([a-z-]+\.ts)\b/g)].map(([, name = '']) => name)
  for (const name of files) assert.ok(globSync(`src/**/${name}`, { cwd: root }).length > 0, name)
})

test('Every endpoint of the table is served, with the scope that it names', () => {
  const rows = [...readme.matchAll(/^\| (`(?:GET|POST|PATCH|DELETE) [^|]+) \| ([a-z, –]+) \|/gm)]
  assert.ok(rows.length > 8)
  for (const [, paths = '', scope = ''] of rows) {
    for (const [, method, path] of paths.matchAll(/`(GET|POST|PATCH|DELETE) ([^`?]+)[^`]*`/g)) {
      const route = ROUTES.find((one) => one.method === method && one.path === path)
      assert.ok(route, `${method} ${path}`)
      assert.equal(route.auth?.scope ?? '–', scope.trim(), `${method} ${path}`)
    }
  }
})

test('Every endpoint that is served stands in a table', () => {
  for (const { method, path } of ROUTES) assert.ok(readme.includes(`${method} ${path}`), `${method} ${path}`)
})

test('Every command of the table is one of the program, and the other way round', () => {
  const table = /\| command \|[\s\S]*?\n\n/.exec(readme)?.[0] ?? assert.fail('there is no table of commands')
  const named = [...table.matchAll(/^\| ([^|]+)\|/gm)]
    .flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z][a-z-]*)(?: ([a-z-]+))?/g)])
    .map(([, first = '', second = '']) => [first, second])
  for (const command of commands.commands.filter((one) => one.name() !== 'help')) {
    const subs = command.commands.map((one) => one.name()).filter((name) => name !== 'help')
    for (const sub of subs.length > 0 ? subs : ['']) {
      const isNamed = named.some(([first, second]) => first === command.name() && (sub === '' || second === sub))
      assert.ok(isNamed, `${command.name()} ${sub} is not in the table`)
    }
  }
  for (const [first] of named)
    assert.ok(
      commands.commands.some((one) => one.name() === first),
      `there is no command ${first}`,
    )
})
