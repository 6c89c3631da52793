/** incmon config and check-config: prints the configuration, the source of each value, and all errors. */
import type { Command } from 'commander'
import { readSettings, type Setting } from '../../config.ts'
import { visible } from '../../domain/terminal.ts'
import { readTls } from '../../server/connection/tls.ts'
import { requireConfig, settingFaults } from '../database.ts'
import { NegativeAnswer } from '../failure.ts'
import { type Common, print, printError, printList } from '../output.ts'
import { addCommand } from '../plain-command.ts'

/** @param now returns the current Unix time in milliseconds */
export function addConfig(program: Command, now: () => number): void {
  addCommand(
    program,
    'check-config',
    'check the configuration, and print its errors or the source of each value',
  ).action((options) => checkConfig(options, now()))
  addCommand(program, 'config', 'print the effective configuration as a file')
    .option('--explain', 'explain each setting, the source of its value, and the allowed values')
    .action(showConfig)
}

/** @throws NegativeAnswer if there is an error */
async function checkConfig(options: Common, now: number): Promise<void> {
  const { settings, config, faults: found } = readSettings({ flags: options })
  const tls = readTls({ cert: config['tls-cert'], key: config['tls-key'] }, now)
  const inFiles = async () => [...('fault' in tls ? [tls.fault] : []), ...(await settingFaults(config))]
  const faults = found.length === 0 ? await inFiles() : found
  if (options.json) print(JSON.stringify({ faults, settings: settings.map(brief) }, null, 2))
  else if (faults.length === 0) printSettings(settings)
  else for (const fault of faults) printError(`incmon: ${visible(fault)}`)
  if (faults.length > 0) throw new NegativeAnswer()
  if ('warning' in tls && tls.warning) printError(`incmon: ${visible(tls.warning)}`)
}

function showConfig(options: Common & { readonly explain?: boolean }): void {
  requireConfig(options)
  const { settings, config } = readSettings({ flags: options })
  const lines = options.explain
    ? settings.map(explained).join('\n\n')
    : settings.map(({ name, value }) => `${name} = ${tomlOf(value)}`).join('\n')
  print(options.json ? JSON.stringify(options.explain ? settings.map(full) : config, null, 2) : lines)
}

function printSettings(settings: readonly Setting[]): void {
  printList({}, settings, '', {
    KEY: 'name',
    VALUE: ({ value }) =>
      Array.isArray(value) && value.some((item) => typeof item === 'object') ? tomlOf(value) : String(value),
    FROM: ({ from }) => from ?? 'default',
  })
}

function brief({ name, value, from }: Setting) {
  return { key: name, value, from: from ?? 'default' }
}

function full(setting: Setting) {
  const { doc, fallback, variable, allowed } = setting
  return { ...brief(setting), doc, default: fallback, variable, allowed }
}

/** JSON is TOML, except for a table inside a list. */
function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{ ${Object.entries(value)
    .map(([key, inner]) => `${key} = ${tomlOf(inner)}`)
    .join(', ')} }`
}

function explained({ name, value, from, doc, fallback, variable, allowed }: Setting): string {
  return [
    `${name} = ${visible(tomlOf(value))}`,
    `  ${doc}`,
    `  from      ${from === null ? 'the default' : visible(from)}`,
    `  default   ${JSON.stringify(fallback)}`,
    `  variable  ${variable}`,
    `  allowed   ${allowed}`,
  ].join('\n')
}
