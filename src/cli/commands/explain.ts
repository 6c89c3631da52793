/** incmon explain: shows what a payload would do and the rule behind each decision, without storing anything. */
import { type Command, Option } from 'commander'
import { IncmonError } from '../../domain/error.ts'
import type { Source } from '../../domain/event/event.ts'
import { formatDuration } from '../../domain/shown-time.ts'
import { isOnlyTime, likelihoodOf, likelihoodOfLink } from '../../domain/suspect/likely-cause.ts'
import { visible } from '../../domain/terminal.ts'
import { formatScore } from '../../domain/text.ts'
import type { Receipt } from '../../engine/changes/receive/receipt.ts'
import { parseBody } from '../../intake/json.ts'
import { misspellings } from '../../intake/misspellings.ts'
import { recognizeSource } from '../../intake/recognize.ts'
import { type OrganizationOptions, withOrganization } from '../api/records.ts'
import { requireConfig } from '../database.ts'
import { CommandError, ErrorResponse, NegativeAnswer, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { formatTable, print, printError } from '../output.ts'
import { addOrgCommand } from '../plain-command.ts'
import { parseSource, SOURCE_NAMES } from '../source-names.ts'
import { type Decision, type Line, toldLines } from '../told.ts'

type Options = OrganizationOptions & { readonly source?: Source; readonly cluster?: string }
type Tried = { readonly decisions: readonly Decision[] } & Partial<Pick<Receipt, 'rejected' | 'warnings'>>

export function addExplain(program: Command): void {
  addOrgCommand(
    program,
    'explain',
    'show what a payload would do, and the rule behind each decision; nothing is stored',
  )
    .argument('<file>', 'a file with the payload, or - for standard input')
    .addOption(
      new Option('--source <sender>', 'the sender (default: detected from the payload)')
        .choices(SOURCE_NAMES)
        .argParser(parseSource),
    )
    .option('--cluster <name>', 'evaluate the payload as if the token of the sender had this cluster')
    .action(explainFile)
}

/** @throws NegativeAnswer if an item is rejected; CommandError if every item is invalid */
async function explainFile(file: string, options: Options): Promise<void> {
  const bytes = await readInput(file, 'with the payload')
  const body = parsed(bytes, file)
  const typos = misspellings(body).map(({ path, meant }) => `${path}: did you mean ${meant}?`)
  for (const typo of typos) printError(visible(typo))
  const source = options.source ?? recognized(body)
  const asked = { cluster: options.cluster, payload: bytes }
  const tried = withOrganization(options, (api) => {
    if (api.isServer) sayServerAnswers(options)
    return api.json<Tried>('POST', `/api/webhooks/${source}?dryRun=1`, asked)
  })
  const {
    decisions,
    rejected = [],
    warnings = [],
  } = await tried.catch((error: unknown) => {
    if (error instanceof ErrorResponse && error.errors.length > 0) output([], error.errors.map(itemOf), options.json)
    throw error
  })
  // The webhook also warns about misspelled fields.
  for (const { index, warning } of warnings)
    if (!typos.includes(`alerts[${index}].${warning}`)) printError(`item ${index}: ${visible(warning)}`)
  output(decisions, rejected, options.json)
  if (rejected.length > 0) throw new NegativeAnswer()
}

/** A contributor who changed a rule must not mistake a running server's decisions for those of the changed code. */
function sayServerAnswers(options: Options): void {
  const { database } = requireConfig(options)
  printError(
    `evaluated by the server that uses ${visible(database)}; for the rules of this program, set --database to a database that no server uses`,
  )
}

function parsed(bytes: Uint8Array, file: string): unknown {
  try {
    return parseBody(bytes)
  } catch (error) {
    if (!(error instanceof IncmonError)) throw error
    const fault = error.message.replace(/^body/, '').replace(/; send .*$/, '')
    throw new CommandError(`${file}${fault}: choose a file with the payload, or - for standard input`)
  }
}

/** Returns the webhook for the payload. @throws UsageError if the payload's format is unknown */
function recognized(body: unknown): Source {
  const source = recognizeSource(body)
  if (source === null) {
    const choices = SOURCE_NAMES.slice(0, -1).join(', ')
    throw new UsageError(
      `cannot detect the sender from the payload: add --source with one of ${choices} or ${SOURCE_NAMES.at(-1)}`,
    )
  }
  printError(`detected a payload for the ${source} webhook; use --source to choose another webhook`)
  return source
}

/** Converts an API error to a rejected item. For example, `alerts[2].labels` becomes `labels` of the third item. */
function itemOf({ path, message }: ErrorResponse['errors'][number]): Receipt['rejected'][number] {
  const [, index = '0', field = path] = /^alerts\[(\d+)\]\.?(.*)$/s.exec(path) ?? []
  return { index: Number(index), error: field === '' ? message : `${field}: ${message}` }
}

function output(decisions: readonly Decision[], rejected: Receipt['rejected'], json: boolean | undefined): void {
  if (json) print(JSON.stringify({ decisions, rejected }, null, 2))
  else show(decisions, rejected)
}

function show(decisions: readonly Decision[], rejected: Receipt['rejected']): void {
  const shown = [
    ...decisions.map((decision) => ({ index: decision.index, text: textOf(decision) })),
    ...rejected.map(({ index, error }) => ({ index, text: `item ${index}: rejected: ${visible(error)}` })),
  ]
  for (const { text } of shown.sort((a, b) => a.index - b.index)) print(text)
  if (decisions.length === 0 && rejected.length === 0)
    print('the payload contains no items, so it would have no effect')
}

function textOf(decision: Decision): string {
  const { index, event, alert } = decision
  const as =
    alert && event.kind === 'firing' && alert.name !== event.name ? `, which incmon calls ${visible(alert.name)}` : ''
  return `item ${index}: ${event.kind}, ${visible(event.name)}${as}\n${formatTable(linesOf(decision), '', COLUMNS)}\n`
}

const COLUMNS = {
  WHAT: ([what]: Line) => what,
  DECIDED: ([, decided]: Line) => decided,
  RULE: ([, , rule]: Line) => rule,
}

function linesOf(decision: Decision): Line[] {
  const { service, alert, event, health, correlations, suspects, clockOffset } = decision
  const path = [service.cluster, service.namespace, service.name].filter(Boolean).join('/')
  // An event without a service, such as a heartbeat, has no health.
  const note = health === null ? ' (not created)' : service.isNew ? ' (new)' : ''
  const lines: Line[] = [['service', `${path}${note}`, service.rule]]
  if (clockOffset !== 0) {
    const side = clockOffset > 0 ? 'ahead' : 'behind'
    lines.push(['time', 'corrected', `the sender's clock is ${formatDuration(Math.abs(clockOffset))} ${side}`])
  }
  if (alert) {
    lines.push(['identity', alert.fingerprint, alert.rules.identity])
    lines.push(['alert', `${alert.change}, ${alert.status}`, ''])
    const isRaised = alert.severity === 'critical' && event.severity !== 'critical'
    const why = isRaised ? `; ${event.severity} at first, raised by other reports` : ''
    lines.push(['severity', alert.severity, `${alert.rules.severity}${why}`])
  } else {
    lines.push(['alert', 'none', 'an event without an alert'], ['severity', event.severity, ''])
  }
  if (health) {
    const penalties = health.penalties.map(({ penalty, reason }) => `-${penalty} ${reason}`).join('; ')
    lines.push(['health', `${health.status}, ${health.score} of 100`, penalties])
  }
  for (const { change, score, reasons } of correlations) {
    lines.push([
      'link',
      `${change}, ${formatScore(score)} ${likelihoodOfLink(score)}`,
      reasons.map(({ text }) => text).join('; '),
    ])
  }
  for (const { ref, score, reasons } of suspects)
    lines.push([
      'suspect',
      `${ref}, ${formatScore(score)} ${likelihoodOf({ score, onlyTime: isOnlyTime(reasons) })}`,
      reasons.map(({ text }) => text).join('; '),
    ])
  return [...lines, ...toldLines(decision)]
}
