/** What the interface answers about a database: recorded when its file was made, and asked again after an upgrade. */
import assert from 'node:assert/strict'
import { createApp } from '../../../src/http/app.ts'
import { createIngest } from '../../../src/operations/ingest.ts'
import { readerOf } from '../../helpers/app.ts'
import type { Db } from '../../../src/store/sqlite/open.ts'
import type { Member, Tokens } from './story.ts'
import { makeSurroundings } from '../../helpers/surroundings.ts'

export type Question = { readonly as: Member; readonly path: string }
export type Answer = Question & { readonly status: number; readonly body: unknown }
/** `now`: the clock when it was asked, milliseconds UTC. */
export type Recording = { readonly now: number; readonly tokens: Tokens; readonly answers: readonly Answer[] }

const LISTS = ['alerts', 'events', 'incidents', 'correlations', 'rejections'] as const
const OTHERS = ['services', 'sources', 'organization', 'tokens'] as const

/** Asks as one of them, at that time; nothing is changed by it. */
export function asking(db: Db, { now, tokens }: Pick<Recording, 'now' | 'tokens'>) {
  const never = () => assert.fail('a read makes nothing')
  const deps = { db, now: () => now, newId: never, newSecret: never, announce: never, observe: never }
  const app = createApp(deps, createIngest(deps), readerOf(deps.db), makeSurroundings())
  return async (question: Question): Promise<Answer> => {
    const { as, path } = question
    const answer = await app.request(path, { headers: { Authorization: `Bearer ${tokens[as]}` } })
    return { ...question, status: answer.status, body: await answer.json() }
  }
}

type Listed = { readonly id: string; readonly hasPostmortem?: boolean }

/** Everything that can be asked: every list as each of them, and as Charlie every record of the others too. */
export async function askAll(ask: (question: Question) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = []
  const get = async (question: Question) => {
    const answer = await ask(question)
    answers.push(answer)
    return answer.body
  }
  for (const as of ['Acme', 'Basil', 'Charlie'] as const) {
    for (const name of OTHERS) await get({ as, path: `/api/${name}` })
    const services = (await get({ as, path: '/api/services?archived=1' })) as Listed[]
    for (const { id } of services) await get({ as, path: `/api/services/${id}` })
    for (const list of LISTS) {
      const { data } = (await get({ as, path: `/api/${list}?limit=500` })) as { data: Listed[] }
      for (const one of data) await askOne(get, as, list, one)
    }
  }
  return answers
}

async function askOne(
  get: (question: Question) => Promise<unknown>,
  as: Member,
  list: (typeof LISTS)[number],
  { id, hasPostmortem }: Listed,
): Promise<void> {
  if (list === 'correlations' || list === 'rejections') return
  await get({ as, path: `/api/${list}/${id}` })
  if (as !== 'Charlie') await get({ as: 'Charlie', path: `/api/${list}/${id}` })
  if (hasPostmortem) await get({ as, path: `/api/incidents/${id}/postmortem` })
}

/** What was recorded must be there; a newer program may answer more fields, and no more records. */
export function assertAnswers(actual: Answer, recorded: Answer): void {
  assert.deepEqual(onlyKnown(actual, recorded), recorded, `${recorded.as}: ${recorded.path}`)
}

function onlyKnown(actual: unknown, known: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(known)) return actual.map((one, index) => onlyKnown(one, known[index]))
  if (!isTable(actual) || !isTable(known)) return actual
  const kept = Object.entries(actual).filter(([key]) => Object.hasOwn(known, key))
  return Object.fromEntries(kept.map(([key, value]) => [key, onlyKnown(value, known[key])]))
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
