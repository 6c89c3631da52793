/** incmon prune: what has expired, deleted now or only shown, beside a running server. */
import { type Seen, toldWait } from '../../operations/pruning/pruner.ts'
import { type Api, withApi } from '../api/api.ts'
import { requireOrganization } from '../api/organization.ts'
import { type Common, hint } from '../database.ts'
import { CommandError } from '../failure.ts'
import { instant, printList } from '../output.ts'
import { startProgress } from '../progress.ts'

type Options = Common & { readonly org?: string; readonly dryRun?: boolean; readonly yes?: boolean }
type Survey = Extract<Seen, { survey: unknown }>['survey']
type Outcome = Extract<Seen, { outcome: unknown }>['outcome']

/** @throws CommandError if more than half would be deleted and nobody said --yes */
export async function pruneOrgs(options: Options): Promise<void> {
  const { surveys, outcomes } = await withApi(options, (api) => watch(api, options))
  if (options.dryRun) return showSurveys(surveys, options)
  showOutcomes(outcomes, options)
  const command = hint(options, 'prune --yes').slice(1, -1)
  const waiting = outcomes.flatMap(({ organization, waits }) => (waits ? toldWait(organization, waits, command) : []))
  if (waiting.length > 0) throw new CommandError(waiting.join('; '))
}

/** Follows the pass to its end, with the progress on a terminal. */
async function watch(api: Api, { org, dryRun = false, yes = false, ...options }: Options) {
  const chosen = org === undefined ? {} : { organizationId: (await requireOrganization(api, { ...options, org })).id }
  const body = { ...chosen, dryRun, approved: yes }
  const surveys: Survey[] = []
  const outcomes: Outcome[] = []
  const progress = startProgress('records')
  try {
    for await (const seen of api.lines<Seen>('POST', '/operator/prune', { body })) {
      if ('survey' in seen) surveys.push(seen.survey)
      else if ('outcome' in seen) outcomes.push(seen.outcome)
      else progress.show(seen.progress.done, seen.progress.of, seen.progress.organization)
    }
  } finally {
    progress.end()
  }
  return { surveys, outcomes }
}

function showSurveys(surveys: readonly Survey[], options: Options): void {
  printList(
    {
      items: surveys.map((one) => ({ ...one, oldest: instant(one.oldest) })),
      columns: [
        ['ORGANIZATION', ({ organization }) => organization],
        ['EVENTS', ({ events }) => `${events.due} of ${events.total}`],
        ['ALERTS', ({ alerts }) => `${alerts.due} of ${alerts.total}`],
        ['OLDEST', ({ oldest }) => oldest],
        ['BYTES', ({ bytes }) => `about ${bytes}`],
      ],
      empty: nobody(options),
    },
    options.json,
  )
}

function nobody(options: Options): string {
  return `no organization yet: ${hint(options, 'org create NAME')} makes one`
}

function showOutcomes(outcomes: readonly Outcome[], options: Options): void {
  printList(
    {
      items: outcomes.map(({ waits, ...one }) => ({
        ...one,
        waits: waits && { ...waits, oldest: instant(waits.oldest) },
      })),
      columns: [
        ['ORGANIZATION', ({ organization }) => organization],
        ['EVENTS', ({ deleted }) => deleted.events],
        ['ALERTS', ({ deleted }) => deleted.alerts],
        ['INCIDENTS', ({ deleted }) => deleted.incidents],
        ['PIPELINES', ({ deleted }) => deleted.pipelines],
        ['REJECTIONS', ({ deleted }) => deleted.rejections],
      ],
      empty: nobody(options),
    },
    options.json,
  )
}
