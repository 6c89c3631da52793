/** incmon prune: deletes expired records, or only counts them. The command can run alongside a server. */
import type { Command } from 'commander'
import { confirmationText, type PruneOutput } from '../../actions/pruning/prune.ts'
import { type Api, withApi } from '../api/api.ts'
import { namedOrganization, requireOrganization } from '../api/records.ts'
import { CommandError } from '../failure.ts'
import { type Common, hint, instant, printList } from '../output.ts'
import { addCommand } from '../plain-command.ts'
import { startProgress } from '../progress.ts'

type Options = Common & { readonly org?: string; readonly dryRun?: boolean; readonly yes?: boolean }
type Survey = Extract<PruneOutput, { survey: unknown }>['survey']
type Outcome = Extract<PruneOutput, { outcome: unknown }>['outcome']

export function addPrune(program: Command): void {
  addCommand(program, 'prune', 'delete expired records now; the server can keep running')
    .option('--org <name>', 'prune only this organization (default: INCMON_ORG, or all)')
    .option('--dry-run', 'show what would be deleted, without deleting anything')
    .option('--yes', 'confirm the deletion of more than half of the events or alerts')
    .action(pruneOrgs)
}

/** @throws CommandError if more than half of the records would be deleted and --yes is missing */
async function pruneOrgs(options: Options): Promise<void> {
  const { surveys, outcomes } = await withApi(options, (api) => prune(api, options))
  if (options.dryRun) return showSurveys(surveys, options)
  showOutcomes(outcomes, options)
  const command = hint(options, 'prune --yes').slice(1, -1)
  const waiting = outcomes.flatMap(({ organization, waits }) =>
    waits ? confirmationText(organization, waits, command) : [],
  )
  if (waiting.length > 0) throw new CommandError(waiting.join('; '))
}

/** Reads the server's progress reports until the pruning is done. */
async function prune(api: Api, { org, dryRun = false, yes = false }: Options) {
  const chosen =
    namedOrganization(org) === undefined ? {} : { organizationId: (await requireOrganization(api, org)).id }
  const body = { ...chosen, dryRun, approved: yes }
  const surveys: Survey[] = []
  const outcomes: Outcome[] = []
  using progress = startProgress('records')
  for await (const step of api.lines<PruneOutput>('POST', '/operator/prune', { body })) {
    if ('survey' in step) surveys.push(step.survey)
    else if ('outcome' in step) outcomes.push(step.outcome)
    else progress.show(step.progress.done, step.progress.of, step.progress.organization)
  }
  return { surveys, outcomes }
}

function showSurveys(surveys: readonly Survey[], options: Options): void {
  const items = surveys.map((one) => ({ ...one, oldest: instant(one.oldest) }))
  printList(options, items, noOrganization(options), {
    ORGANIZATION: 'organization',
    EVENTS: ({ events }) => `${events.due} of ${events.total}`,
    ALERTS: ({ alerts }) => `${alerts.due} of ${alerts.total}`,
    OLDEST: 'oldest',
    BYTES: ({ bytes }) => `about ${bytes}`,
  })
}

function noOrganization(options: Options): string {
  return `there are no organizations: create one with ${hint(options, 'org create NAME')}`
}

function showOutcomes(outcomes: readonly Outcome[], options: Options): void {
  const items = outcomes.map(({ waits, ...one }) => ({
    ...one,
    waits: waits && { ...waits, oldest: instant(waits.oldest) },
  }))
  printList(options, items, noOrganization(options), {
    ORGANIZATION: 'organization',
    EVENTS: ({ deleted }) => deleted.events,
    ALERTS: ({ deleted }) => deleted.alerts,
    INCIDENTS: ({ deleted }) => deleted.incidents,
    PIPELINES: ({ deleted }) => deleted.pipelines,
    REJECTIONS: ({ deleted }) => deleted.rejections,
  })
}
