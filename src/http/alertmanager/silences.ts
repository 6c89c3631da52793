/** /silences and /silence/{id}: incmon's silences in the form of Alertmanager. */

import { IncmonError } from '../../domain/error.ts'
import { type Labels, newLabels } from '../../domain/event/event.ts'
import { parseInstant } from '../../domain/instant.ts'
import { ordered } from '../../domain/order.ts'
import { type Matcher, matcherFault, matchersFault, type Operator } from '../../domain/silence/matcher.ts'
import { type LiveSilence, type SilenceStatus, statusOf, windowOf } from '../../domain/silence/silence.ts'
import { cutText } from '../../domain/text.ts'
import { expireSilence, setSilence } from '../../engine/changes/silences/silences.ts'
import { fieldsOf } from '../../intake/fields.ts'
import { cleanText, parseBody } from '../../intake/json.ts'
import { findSilence, listSilencesSince } from '../../store/silences.ts'
import { REST_LIMIT, readBytes, typedText } from '../middleware/body.ts'
import { json, type Reply } from '../middleware/reply.ts'
import { flag, matchersIn } from './filters.ts'
import { EMPTY, isBlank, requireJson } from './post-alerts.ts'
import { type ApiCall, coded, Refusal, refusal } from './route.ts'

/** Alertmanager deletes silences five days after their end (`--data.retention`). */
const EXPIRED_LISTED_MS = 5 * 86_400_000
const MAX_TEXT = 2_000

const SILENCE_ORDER: readonly SilenceStatus[] = ['active', 'pending', 'expired']

export async function getSilences({ c, deps, store, identity }: ApiCall): Promise<Reply> {
  const filters = matchersIn(c, 'filter')
  const now = deps.now()
  const all = await store.read(listSilencesSince, identity.organizationId, now - EXPIRED_LISTED_MS)
  const shown = all
    .filter(({ matchers }) => filters.every((wanted) => matchers.some((one) => isEqual(one, wanted))))
    .map((silence) => showSilence(silence, now))
    .filter(({ status }) => flag(c, status.state))
  return json(ordered(shown, placeOf))
}

function isEqual(one: Matcher, other: Matcher): boolean {
  return one.name === other.name && one.op === other.op && one.value === other.value
}

/** Active silences first, the earliest end first; then pending ones, the earliest start first; the last end last. */
function placeOf({ status: { state }, startsAt, endsAt }: ReturnType<typeof showSilence>) {
  const time = Date.parse(state === 'pending' ? startsAt : endsAt)
  return [SILENCE_ORDER.indexOf(state), state === 'expired' ? -time : time]
}

/** A weekly silence has the times of its current or next period. */
function showSilence(silence: LiveSilence, now: number) {
  const { startsAt, endsAt } = windowOf(silence, now)
  return {
    id: silence.id,
    status: { state: statusOf(silence, now) },
    updatedAt: new Date(silence.createdAt).toISOString(),
    annotations: silence.annotations,
    comment: silence.comment,
    createdBy: silence.createdBy,
    endsAt: new Date(endsAt).toISOString(),
    matchers: silence.matchers.map(({ name, op, value }) => {
      return { isEqual: !op.startsWith('!'), isRegex: op.endsWith('~'), name, value }
    }),
    startsAt: new Date(startsAt).toISOString(),
  }
}

export async function getSilence({ c, deps, store, identity }: ApiCall): Promise<Reply> {
  const silence = await store.read(findSilence, identity.organizationId, idIn(c))
  if (!silence) throw missing()
  return json(showSilence(silence, deps.now()))
}

export async function deleteSilence({ c, deps, store, identity }: ApiCall): Promise<Reply> {
  const id = idIn(c)
  if (!(await store.read(findSilence, identity.organizationId, id))) throw missing()
  await deps.engine.run(identity.organizationId, (ctx, now) => expireSilence(ctx, id, now, identity.tokenName))
  return EMPTY
}

function idIn(c: ApiCall['c']): string {
  const id = c.req.param('id') ?? ''
  if (!UUID.test(id))
    throw coded(422, 601, `silenceID in path must be of type uuid: ${JSON.stringify(id.slice(0, 100))}`)
  return id.toLowerCase()
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function missing(): Refusal {
  return new Refusal({ status: 404, headers: {}, body: null, detail: 'this organization has no such silence' })
}

export async function postSilences({ c, deps, server, identity }: ApiCall): Promise<Reply> {
  requireJson(c)
  const bytes = await readBytes(c, REST_LIMIT, server.pendingBodies, identity.organizationId)
  if (isBlank(bytes)) throw coded(422, 602, 'silence in body is required')
  const sent = readSilence(parsed(bytes), deps.now())
  const createdBy = sent.createdBy || identity.tokenName
  try {
    const id = await deps.engine.run(identity.organizationId, (ctx, now) =>
      setSilence(ctx, sent.id, sent, createdBy, now),
    )
    return json({ silenceID: id })
  } catch (error) {
    if (!(error instanceof IncmonError)) throw error
    if (error.code === 'not-found') throw refusal(404, 'silence not found')
    if (error.code === 'invalid' || error.code === 'conflict') throw refusal(400, `silence invalid: ${error.message}`)
    throw error
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseBody(bytes)
  } catch (error) {
    if (error instanceof IncmonError) throw unparsable(error.message)
    throw error
  }
}

function unparsable(why: string): Refusal {
  return coded(400, 400, `parsing silence body from "" failed, because ${why}`)
}

/** Reads a posted silence. The order of the checks is Alertmanager's. @throws Refusal */
function readSilence(body: unknown, now: number) {
  const fields = body === null ? {} : fieldsOf(body)
  if (!fields) throw unparsable('the body is not an object')
  const text = (name: string) => {
    const value = fields[name]
    if (value !== undefined && value !== null && typeof value !== 'string') throw unparsable(`${name} is not a string`)
    return value ?? null
  }
  const [comment, createdBy, endsAt, startsAt, id] = ['comment', 'createdBy', 'endsAt', 'startsAt', 'id'].map(text)
  const times = { endsAt: timeOf(endsAt ?? null, 'endsAt'), startsAt: timeOf(startsAt ?? null, 'startsAt') }
  for (const [name, value] of Object.entries({ comment, createdBy, endsAt })) {
    if (value === null) throw coded(422, 602, `${name} in body is required`)
  }
  const matchers = readMatchers(fields.matchers)
  if (startsAt === null) throw coded(422, 602, 'startsAt in body is required')
  if (times.startsAt >= times.endsAt) throw refusal(400, 'Failed to create silence: start time must be before end time')
  if (times.endsAt <= now) throw refusal(400, "Failed to create silence: end time can't be in the past")
  requireUsable(matchers)
  return {
    ...{ id: id || null, matchers, ...times, schedule: null, labelsOnly: true },
    comment: cutText(typedText(comment ?? ''), MAX_TEXT) || '(no comment)',
    createdBy: cutText(typedText(createdBy ?? ''), 100),
    annotations: annotationsOf(fields.annotations),
  }
}

function timeOf(text: string | null, name: string): number {
  if (text === null) return 0
  const time = parseInstant(text)
  if (time === null) throw unparsable(`${name} is not a time such as 2026-03-14T02:11:09Z`)
  return time
}

function readMatchers(value: unknown): Matcher[] {
  if (value === undefined || value === null) throw coded(422, 602, 'matchers in body is required')
  if (!Array.isArray(value)) throw unparsable('matchers is not a list')
  if (value.length === 0) throw coded(422, 612, 'matchers in body should have at least 1 items')
  return value.map((item, index) => {
    const fields = fieldsOf(item)
    if (!fields) throw unparsable(`matchers.${index} is not an object`)
    const { isRegex, name, value: wanted, isEqual: equal = true } = fields
    for (const [field, given] of Object.entries({ isRegex, name, value: wanted })) {
      if (given === undefined || given === null) throw coded(422, 602, `matchers.${index}.${field} in body is required`)
      if (typeof given !== (field === 'isRegex' ? 'boolean' : 'string'))
        throw unparsable(`matchers.${index}.${field} has the wrong type`)
    }
    const op: Operator = isRegex === true ? (equal === false ? '!~' : '=~') : equal === false ? '!=' : '='
    return { name: cleanText(String(name)), op, value: cleanText(String(wanted)) }
  })
}

/** A name of letters, digits and underscores cannot begin with a digit. */
const WRONG_NAME = /^(?:[0-9]\w*)?$/

function requireUsable(matchers: readonly Matcher[]): void {
  matchers.forEach((matcher, index) => {
    const at = `silence invalid: invalid label matcher ${index}`
    if (WRONG_NAME.test(matcher.name)) throw refusal(400, `${at}: invalid label name ${JSON.stringify(matcher.name)}`)
    const fault = matcherFault(matcher)
    if (fault !== null) throw refusal(400, `${at}: ${fault}`)
  })
  const matchesAll = matchersFault(matchers)
  if (matchesAll === null) return
  const isEmpty = matchers.length <= 20
  throw refusal(
    400,
    `silence invalid: ${isEmpty ? 'at least one matcher must not match the empty string' : matchesAll}`,
  )
}

function annotationsOf(value: unknown): Labels {
  const annotations = newLabels()
  for (const [name, text] of Object.entries(fieldsOf(value) ?? {}).slice(0, 50)) {
    if (typeof text === 'string') annotations[cutText(cleanText(name), 200)] = cutText(cleanText(text), MAX_TEXT)
  }
  return annotations
}
