/** incmon prune: what is too old, deleted now or only shown, beside a running server. */
import { setTimeout } from 'node:timers/promises'
import type { Deps } from '../../operations/deps.ts'
import { type Outcome, type Progress, prune, type Survey, survey, type Tally } from '../../operations/prune.ts'
import { toldWait } from '../../operations/pruner.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { giveBackSpace } from '../../store/sqlite/vacuum.ts'
import { type Common, requireOrganization, withDatabase } from '../database.ts'
import { CommandError } from '../failure.ts'
import { drawLine, instant, printList } from '../output.ts'

type Options = Common & { readonly org?: string; readonly dryRun?: boolean; readonly yes?: boolean }

/** In which a server beside us takes its turn to write, in milliseconds. */
const PAUSE = 5

export async function pruneOrgs(options: Options): Promise<void> {
  await withDatabase(options, async (deps) => {
    const organizations =
      options.org === undefined ? listOrganizations(deps.db) : [requireOrganization(deps.db, options.org)]
    if (options.dryRun) return showSurveys(deps, organizations, options.json)
    const outcomes: (readonly [OrganizationRecord, Outcome])[] = []
    for (const organization of organizations) {
      const pass = prune(deps, organization, { approved: options.yes ?? false })
      outcomes.push([organization, await walk(pass, organization.name)])
    }
    while (giveBackSpace(deps.db)) await setTimeout(PAUSE)
    showOutcomes(outcomes, options.json)
    const waiting = outcomes.flatMap(([organization, { waits }]) => (waits ? toldWait(organization, waits) : []))
    if (waiting.length > 0) throw new CommandError(waiting.join('; '))
  })
}

/** Step by step to the end, with the progress on a terminal. */
async function walk<Result>(steps: Generator<Progress, Result>, name: string): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) {
      if (process.stderr.isTTY) drawLine('')
      return step.value
    }
    if (process.stderr.isTTY) drawLine(barOf(name, step.value))
    await setTimeout(PAUSE)
  }
}

const WIDTH = 30

function barOf(name: string, { done, of }: Progress): string {
  const part = of === 0 ? 0 : done / of
  const filled = Math.round(WIDTH * part)
  return `${name} [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor(100 * part)} %  ${done} of ${of}`
}

async function showSurveys(
  deps: Deps,
  organizations: readonly OrganizationRecord[],
  json: boolean | undefined,
): Promise<void> {
  const items: ({ organization: string; oldest: string | null } & Omit<Survey, 'oldest'>)[] = []
  for (const organization of organizations) {
    const found = await walk(survey(deps, organization), organization.name)
    items.push({ organization: organization.name, ...found, oldest: instant(found.oldest) })
  }
  printList(
    {
      items,
      columns: [
        ['ORGANIZATION', ({ organization }) => organization],
        ['EVENTS', ({ events }) => `${events.due} of ${events.total}`],
        ['ALERTS', ({ alerts }) => `${alerts.due} of ${alerts.total}`],
        ['OLDEST', ({ oldest }) => oldest],
        ['BYTES', ({ bytes }) => `about ${bytes}`],
      ],
      empty: NOBODY,
    },
    json,
  )
}

const NOBODY = 'no organization yet: "incmon org create NAME" makes one'
const NOTHING: Tally = { events: 0, alerts: 0, incidents: 0, pipelines: 0, images: 0, groups: 0, rejections: 0 }

function showOutcomes(outcomes: readonly (readonly [OrganizationRecord, Outcome])[], json: boolean | undefined): void {
  const items = outcomes.map(([{ name }, outcome]) => ({
    organization: name,
    deleted: outcome.waits ? NOTHING : outcome.tally,
    waits: outcome.waits && { ...outcome.waits, oldest: instant(outcome.waits.oldest) },
  }))
  printList(
    {
      items,
      columns: [
        ['ORGANIZATION', ({ organization }) => organization],
        ['EVENTS', ({ deleted }) => deleted.events],
        ['ALERTS', ({ deleted }) => deleted.alerts],
        ['INCIDENTS', ({ deleted }) => deleted.incidents],
        ['PIPELINES', ({ deleted }) => deleted.pipelines],
        ['REJECTIONS', ({ deleted }) => deleted.rejections],
      ],
      empty: NOBODY,
    },
    json,
  )
}
