/** The documentation lists every command, setting and metric, and names no endpoint or option that does not exist. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../src/app.ts'
import { DEFAULT_SETTINGS } from '../../src/domain/organization.ts'
import { parseSeverity, SEVERITY_WORDS, type Severity } from '../../src/domain/severity.ts'
import { KEYS } from '../../src/settings.ts'
import { startServer } from '../helpers/server.ts'
import { COMMANDS, PAGES, pageAt, shellBlocks } from './pages.ts'

const CALL = /\b(GET|POST|PATCH|PUT|DELETE) (\/[\w/:.-]*)/g
const commandLine = pageAt('docs/command-line.md').text
const configuration = pageAt('docs/configuration.md').text
const operations = pageAt('docs/operations.md').text

for (const { path, text } of PAGES) {
  test(`${path} names only endpoints that exist`, () => {
    const served = new Set(ROUTES.map((route) => `${route.method} ${route.path}`))
    const calls = [...text.matchAll(CALL)].map(([call]) => call)
    assert.deepEqual(
      calls.filter((call) => !served.has(call)),
      [],
    )
  })
}

test('the command line page names every command', () => {
  for (const name of COMMANDS.keys())
    assert.ok(commandLine.includes(`\`incmon ${name}`), `add "incmon ${name}" to docs/command-line.md`)
})

test('the help explains every command, argument and option', () => {
  const unexplained = [...COMMANDS].flatMap(([name, command]) =>
    [command.description(), ...[...command.registeredArguments, ...command.options].map((one) => one.description)].some(
      (text) => text.trim() === '',
    )
      ? [name]
      : [],
  )
  assert.deepEqual(unexplained, [])
})

for (const page of PAGES) {
  test(`every incmon command in ${page.path} exists, with its options`, () => {
    const inline = [...page.text.matchAll(/`(incmon [^`]+)`/g)].map(([, line = '']) => line)
    const lines = [...shellBlocks(page).flatMap(commandsOf), ...inline.flatMap(commandsOf)]
    assert.deepEqual(lines.flatMap(unknownIn), [])
  })
}

test('an unknown command or option is found', () => {
  const lines = ['incmon tokens create', 'incmon token create --scope x', 'incmon backup x --force', 'incmon --help']
  assert.deepEqual(lines.flatMap(unknownIn), ['incmon tokens create', 'incmon token create --scope x: --scope'])
})

test('the configuration page has every setting with its default', () => {
  for (const [name, { fallback }] of Object.entries(KEYS)) {
    const shown = String(fallback) === '' ? 'empty' : `\`${fallback}\``
    assert.ok(configuration.includes(`| \`${name}\` | ${shown} |`), `${name} ${shown}`)
  }
})

test('the configuration page has every organization setting with its default', () => {
  for (const [name, value] of Object.entries(DEFAULT_SETTINGS)) {
    const shown = value === '' ? 'none' : `\`${value}\``
    assert.ok(configuration.includes(`| \`${name}\` | ${shown} |`), `${name} ${value}`)
  }
})

test('the troubleshooting page has a row for every check of /readyz, and no other', async (t) => {
  const { url } = await startServer(t)
  const { checks } = (await (await fetch(`${url}/readyz`)).json()) as { checks: readonly { name: string }[] }
  const [, table = ''] =
    /\| check \| what to do \|\n.*\n((?:\|.*\n)+)/.exec(pageAt('docs/troubleshooting.md').text) ?? []
  const rows = [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name)
  assert.deepEqual(rows.sort(), checks.map(({ name }) => name).sort())
})

test('every INCMON_ variable in the documentation exists', () => {
  const known = ['INCMON_URL', 'INCMON_TOKEN', 'INCMON_ORG', 'INCMON_CONFIG'].concat(
    Object.keys(KEYS).map((name) => `INCMON_${name.toUpperCase().replaceAll('-', '_')}`),
  )
  for (const { path, text } of PAGES) {
    for (const [name] of text.matchAll(/\bINCMON_[A-Z_]+\b/g)) assert.ok(known.includes(name), `${path}: ${name}`)
  }
})

test('the operations page names every metric, and no other', async (t) => {
  const incmon = await startServer(t)
  await incmon.request('POST', '/api/webhooks/metrics', '{"alerts":[{"labels":{"alertname":"A"}}]}')
  const response = await fetch(`${incmon.url}/metrics`, { headers: { Authorization: `Bearer ${incmon.token}` } })
  const served = [...(await response.text()).matchAll(/^# TYPE (incmon_\w+)/gm)].map(([, name = '']) => name)
  const named = [...operations.matchAll(/\bincmon_\w+/g)].map(([name]) => name)
  assert.deepEqual([...new Set(named)].sort(), [...new Set(served)].sort())
})

test('the severity table has every accepted value and no other', () => {
  const rows = [...pageAt('docs/decisions.md').text.matchAll(/^\| (`\w+`|no alert) \| (\w+(?:, [\w ]+)+) \|$/gm)]
  assert.equal(rows.length, 5)
  for (const [, severity = '', words = ''] of rows) {
    const expected = severity === 'no alert' ? 'none' : severity.replaceAll('`', '')
    assert.equal(words.replaceAll('very high', 'veryhigh'), SEVERITY_WORDS[expected as Severity].split(' ').join(', '))
    for (const word of words.split(', ')) assert.equal(parseSeverity(word), expected, word)
  }
})

/** Returns the incmon commands in a script, one per line. */
function commandsOf(script: string): string[] {
  const lines = script.replaceAll('\\\n', ' ').split(/\n|[|;]|&&/)
  return lines.flatMap(
    (line) => /(?:^ *(?:sudo )?|[$<]\(| \/)(incmon (?:[a-z]|--)[^)>]*)/.exec(line)?.[1]?.trim() ?? [],
  )
}

/** Returns the commands and options that do not exist. */
function unknownIn(line: string): string[] {
  const [, ...words] = line.split(/\s+/)
  if (words[0]?.startsWith('--') || words[0] === 'COMMAND') return []
  const command = COMMANDS.get(words.slice(0, 2).join(' ')) ?? COMMANDS.get(words[0] ?? '')
  if (!command) return [line]
  const known = ['--database', '--config', '--json', '--help', ...command.options.map(({ long }) => long)]
  const options = words.flatMap((word) => /^--[a-z-]+/.exec(word)?.[0] ?? [])
  return options.filter((option) => !known.includes(option)).map((option) => `${line}: ${option}`)
}
