/** incmon import: takes over the configuration and the silences of an Alertmanager. */
import type { Command } from 'commander'
import { countOf } from '../../domain/text.ts'
import { readSilences } from '../../intake/silences.ts'
import { withTimeLimit } from '../../notify/time-limit.ts'
import type { Api } from '../api/api.ts'
import { type OrganizationOptions, withOrganization } from '../api/records.ts'
import { CommandError, UsageError } from '../failure.ts'
import { type Plan, type PlannedChannel, planImport } from '../import/alertmanager-file.ts'
import { readInput } from '../input.ts'
import { hint, print, printError } from '../output.ts'
import { addOrgCommand } from '../plain-command.ts'

type Options = OrganizationOptions & { readonly alertmanager?: string; readonly silences?: string }

export function addImport(program: Command): void {
  addOrgCommand(program, 'import', 'import the channels or the silences of an Alertmanager; safe to repeat')
    .option('--alertmanager <file>', 'alertmanager.yml: its receivers and routes become channels with rules')
    .option(
      '--silences <source>',
      'the URL of the Alertmanager, or a file with the output of "amtool silence query -o json", or - for standard input',
    )
    .action(importAll)
}

async function importAll(options: Options): Promise<void> {
  if (options.alertmanager === undefined && options.silences === undefined)
    throw new UsageError('specify what to import: --alertmanager alertmanager.yml or --silences URL')
  if (options.alertmanager !== undefined) await importChannels(options.alertmanager, options)
  if (options.silences !== undefined) await importSilences(options.silences, options)
}

async function importChannels(file: string, options: Options): Promise<void> {
  const plan = planOf(file, (await readInput(file, 'such as alertmanager.yml')).toString('utf8'))
  const done = await withOrganization(options, (api) => createChannels(api, plan.channels))
  if (options.json) return print(JSON.stringify({ channels: done, notImported: plan.notes }))
  for (const { name, outcome } of done) print(`channel ${name}: ${outcome}`)
  for (const { line, text } of plan.notes) print(`${file}:${line}: ${text}`)
  const lines = new Set(plan.notes.map(({ line }) => line)).size
  const left = lines === 0 ? '' : `; ${countOf(lines, 'line')} ${lines === 1 ? 'was' : 'were'} not imported completely`
  const added = done.filter(({ outcome }) => outcome === 'added').length
  const listed = done.length === 0 ? '' : `. ${hint(options, 'channel list')} lists them`
  print(`imported: ${added} of ${done.length} channels${left}${listed}`)
}

function planOf(file: string, text: string): Plan {
  try {
    return planImport(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw new CommandError(`${file}: ${error.message}`)
    throw error
  }
}

/** Creates the channels that do not exist. A channel that cannot be created does not stop the others. */
async function createChannels(api: Api, channels: readonly PlannedChannel[]) {
  const names = new Set((await api.all<{ name: string }>('/api/channels')).map(({ name }) => name))
  const done: { readonly name: string; readonly outcome: string }[] = []
  for (const channel of channels) {
    if (names.has(channel.name)) done.push({ name: channel.name, outcome: 'exists already and was not changed' })
    else done.push({ name: channel.name, outcome: await createChannel(api, channel) })
  }
  return done
}

async function createChannel(api: Api, channel: PlannedChannel): Promise<string> {
  try {
    const { warnings } = await api.json<{ warnings: readonly string[] }>('POST', '/api/channels', { body: channel })
    for (const warning of warnings) printError(`warning: channel ${channel.name}: ${warning}`)
    return 'added'
  } catch (error) {
    if (error instanceof CommandError) return `was not added: ${error.message}`
    throw error
  }
}

/** Imports silences from a file, from standard input or from an Alertmanager. */
export async function importSilences(source: string, options: OrganizationOptions): Promise<void> {
  const text = /^https?:\/\//.test(source)
    ? await fetchSilences(source)
    : (await readInput(source, 'written by "amtool silence query -o json"')).toString('utf8')
  const body = { silences: silencesIn(source, text) }
  const done = await withOrganization(options, (api) =>
    api.json<{ created: number; skipped: number }>('POST', '/operator/silences', { body }),
  )
  if (options.json) return print(JSON.stringify(done))
  print(
    `imported: ${countOf(done.created, 'silence')}; skipped because they have ended or were imported before: ${done.skipped}`,
  )
}

const TIMEOUT_MS = 10_000

/** Fetches the silences of an Alertmanager. The URL is the one of its page, and can have a user and a password. */
async function fetchSilences(source: string): Promise<string> {
  const url = new URL(source)
  const { username, password } = url
  const user = [username, password].map(decodeURIComponent).join(':')
  const headers: Record<string, string> =
    user === ':' ? {} : { Authorization: `Basic ${Buffer.from(user).toString('base64')}` }
  Object.assign(url, { username: '', password: '', search: '', hash: '' })
  const address = `${url.href.replace(/\/+$/, '').replace(/\/api\/v2(\/silences)?$/, '')}/api/v2/silences`
  const answer = await withTimeLimit(TIMEOUT_MS, async (signal) => {
    const response = await fetch(address, { headers, signal })
    return { ok: response.ok, status: response.status, text: await response.text() }
  }).catch(() => null)
  if (!answer) throw new CommandError(`${address} cannot be reached: check the URL of the Alertmanager`)
  if (!answer.ok) throw new CommandError(`${address} answered with the status ${answer.status}: check the URL`)
  return answer.text
}

/** Parses the text and verifies that it contains silences. */
function silencesIn(source: string, text: string): unknown {
  try {
    const silences: unknown = JSON.parse(text)
    readSilences(silences)
    return silences
  } catch (error) {
    if (error instanceof SyntaxError) throw new CommandError(`${source}: ${error.message}`)
    throw error
  }
}
