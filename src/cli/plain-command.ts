/** Commander's Command, with messages that say what is wrong and what to type instead. */
import { Command, Option } from 'commander'
import { suggestion } from '../domain/suggestion.ts'
import { KEYS } from '../settings.ts'
import { ErrorResponse, UsageError } from './failure.ts'

/** Options whose names differ from the names of the API fields that they set. */
const OPTION_OF_FIELD: Readonly<Record<string, string>> = {
  endsAt: '--for',
  startsAt: '--start',
  schedule: '--weekly',
  rules: '--rule',
  url: '--contact',
  to: '--contact',
}

/** Adds a command to the program or to another command. */
export function addCommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description)
}

/** Adds a command that applies to one organization. */
export function addOrgCommand(parent: Command, name: string, description: string): Command {
  return addCommand(parent, name, description).addOption(
    new Option('--org <name>', 'the organization (default: the only one)'),
  )
}

const SETTINGS = Object.keys(KEYS).filter((name) => name !== 'database')

/** Adds options for settings: by default, all settings except the database, which is an option of every command. */
export function addKeys(command: Command, names: readonly string[] = SETTINGS): Command {
  for (const [name, { doc, fallback }] of Object.entries(KEYS)) {
    const standard = String(fallback) === '' ? '' : ` (default: ${fallback})`
    if (names.includes(name)) command.option(`--${name} <${name}>`, `${doc}${standard}`)
  }
  return command
}

/**
 * A command that throws UsageError instead of printing Commander's message. Each command also accepts the program's
 * options.
 */
export class PlainCommand extends Command {
  override createCommand(name?: string): Command {
    return new PlainCommand(name)
  }

  override error(message: string): never {
    throw new UsageError(plainMessage(this, message))
  }

  /** Rejects empty arguments, and replaces API field names in errors with the names of the options. */
  override action(work: Parameters<Command['action']>[0]): this {
    return super.action(async (...values) => {
      for (const [index, argument] of this.registeredArguments.entries()) {
        const value: unknown = values[index]
        if (typeof value === 'string' && value.trim() === '')
          this.error(`missing required argument '${argument.name()}'`)
      }
      try {
        await work.apply(this, [...values.slice(0, -2), this.optsWithGlobals(), this])
      } catch (error) {
        throw error instanceof ErrorResponse ? withOptionNames(this, error) : error
      }
    })
  }
}

type Rewording = readonly [found: RegExp, reword: (command: Command, parts: readonly string[]) => string]

const REWORDINGS: readonly Rewording[] = [
  [/missing required argument '(.+)'$/, (command, [name = '']) => missingArgument(command, name)],
  [/required option '(.+)' not specified$/, (command, [flags = '']) => missingOption(command, flags)],
  [/^option '(.+)' argument missing$/, (_, [flags = '']) => `${nameOf(flags)} requires a value: ${flags}`],
  [/^unknown (option) '([^']+)'(?:\s+\(Did you mean (.+)\?\))?/s, unknownWord],
  [/^unknown (command) '(.+?)'(?:\s+\(Did you mean (.+)\?\))?$/s, unknownWord],
  [/^too many arguments/, tooManyArguments],
  [/^option '(.+?)' argument '(.*)' is invalid\. Allowed choices are (.+)\.$/s, (_, parts) => invalidChoice(parts)],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+)'\. Allowed choices are (.+)\.$/s,
    (_, [value = '', name = '', choices = '']) => invalidChoice([`<${name}>`, value, choices]),
  ],
]

/** Replaces Commander's message with incmon's. Returns any other message on one line. */
function plainMessage(command: Command, message: string): string {
  const text = message.trim().replace(/^error: /, '')
  for (const [found, reword] of REWORDINGS) {
    const match = found.exec(text)
    if (match) return reword(command, match.slice(1))
  }
  return text.replace(/\s*\n\s*/g, ' ')
}

function missingArgument(command: Command, name: string): string {
  const argument = command.registeredArguments.find((one) => one.name() === name)
  const meaning = argument?.argChoices ? `one of ${argument.argChoices.join(', ')}` : argument?.description
  return `<${name}> is missing: run "${usageOf(command)}"; <${name}> is ${meaning}`
}

function missingOption(command: Command, flags: string): string {
  const option = command.options.find((one) => one.flags === flags)
  const meaning = option?.argChoices ? `one of ${option.argChoices.join(', ')}` : option?.description
  return `${nameOf(flags)} is missing: add ${flags}, ${meaning}`
}

function unknownWord(command: Command, [kind, word, meant]: readonly string[]): string {
  const remedy = meant ? `did you mean ${meant}?` : `"${pathOf(command)} --help" shows the ${kind}s`
  return `unknown ${kind} ${word}: ${remedy}`
}

function tooManyArguments(command: Command): string {
  for (const word of command.args) {
    const option = command.options.find(({ argChoices }) => argChoices?.includes(word))
    if (option) return `unexpected argument ${word}: use ${option.long} ${word}; run "${usageOf(command)}"`
  }
  const extra = command.args.slice(command.registeredArguments.length).join(' ')
  return `unexpected argument ${extra}: run "${usageOf(command)}"; put quotes around a value that contains spaces`
}

function invalidChoice([flags = '', value = '', choices = '']: readonly string[]): string {
  return `${nameOf(flags)}: "${value}" is not valid; ${suggestion(value, choices.split(', '))}`
}

/** Returns `--kind` for `--kind <kind>`. */
function nameOf(flags: string): string {
  return flags.startsWith('-') ? (/--[\w-]+/.exec(flags)?.[0] ?? flags) : flags
}

/** Returns the command with its arguments, such as `incmon incident show <id>`. */
function usageOf(command: Command): string {
  const names = command.registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? '...' : ''}`
    return one.required ? ` <${name}>` : ` [${name}]`
  })
  return pathOf(command) + names.join('')
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

/** Replaces API field names with the command's options if each rejected field has an option. */
function withOptionNames(command: Command, refused: ErrorResponse): Error {
  const lines = refused.errors.map(({ path, message }) => {
    const name = optionOf(command, /^\w*/.exec(path)?.[0] ?? '')
    // The list of errors truncates long messages. The `detail` contains the full message.
    const [, whole = message] = refused.message.split(`body: ${path}: `)
    return name === null ? null : `${name}: ${whole.replace(/\bsend\b(?! SIGHUP)/, 'use')}`
  })
  const known = lines.filter((line) => line !== null)
  return known.length === 0 || known.length < lines.length ? refused : new UsageError(...known)
}

function optionOf(command: Command, field: string): string | null {
  const names = [`--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`, OPTION_OF_FIELD[field]]
  const option = command.options.find(({ long }) => names.includes(long ?? ''))
  if (option?.long) return option.long
  return command.registeredArguments.some((argument) => argument.name() === field) ? `<${field}>` : null
}
