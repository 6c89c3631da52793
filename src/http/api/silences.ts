/**
 * /api/silences: mutes alerts. A silenced alert is stored and counted, but it opens no incident and sends no
 * notification.
 */

import * as v from 'valibot'
import { invalidField } from '../../domain/error.ts'
import { formatInstant } from '../../domain/instant.ts'
import type { Page } from '../../domain/pagination.ts'
import { formatMatchers, MAX_NAME, MAX_VALUE, matchersFault, OPERATORS } from '../../domain/silence/matcher.ts'
import { type LiveSilence, nextWindowOf, SILENCE_STATUSES, statusOf, toSchedule } from '../../domain/silence/silence.ts'
import { WEEKDAYS } from '../../domain/time-zone.ts'
import { changeSilence, createSilence, expireSilence } from '../../engine/changes/silences/silences.ts'
import { findSilencePreview } from '../../store/silence-preview.ts'
import { type CountedSilence, findCountedSilence, listSilences } from '../../store/silences.ts'
import { instantField, textField } from '../middleware/body.ts'
import { MEANINGS, required } from '../middleware/problem.ts'
import { flagParameter, pageParameters, wordParameter } from '../middleware/query.ts'
import { DONE, json } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { answerPage, refusals, success } from './answers.ts'

const PATH = '/api/silences'
const MAX_COMMENT = 1_000
const PREVIEW_SPAN = 30 * 86_400_000
const TOO_MANY = 'The organization has the maximum number of silences or of regular expressions'
const CHANGED = 'The silence has expired, or somebody else has changed it since this revision'
const NO_WINDOW = 'No window of the schedule lies between startsAt and endsAt'

export const matcherShape = v.object(
  {
    name: shape.described(
      textField(MAX_NAME),
      'A label name, or service, namespace, cluster, source, severity, alertname',
      'service',
    ),
    op: shape.described(wordParameter(OPERATORS), 'The operator: equal, not equal, matches, or does not match', '='),
    value: shape.described(
      v.pipe(v.string('expected a string'), v.maxLength(MAX_VALUE, `too long; at most ${MAX_VALUE} characters`)),
      'The value; for =~ and !~, a regular expression (RE2) that must match the whole value',
      'checkout',
    ),
  },
  'expected an object with name, op and value',
)
shape.name('Matcher', matcherShape)

const scheduleFields = {
  from: shape.described(textField(5), 'The time of day at which the time span starts', '22:00'),
  to: shape.described(
    textField(5),
    'The time of day at which the time span ends. If this time is not later than from, the span ends on the next day',
    '06:00',
  ),
  timeZone: shape.described(
    textField(100),
    'The time zone of from and to, including daylight saving time',
    'Europe/Berlin',
  ),
}
const weekday = wordParameter(WEEKDAYS)
const days = v.pipe(
  v.array(weekday, 'expected a list of days'),
  v.minLength(1, 'expected at least one day'),
  v.readonly(),
)
const scheduleShape = v.object({
  weekdays: shape.described(v.pipe(v.array(weekday), v.readonly()), 'The days on which a time span starts', [
    'saturday',
  ]),
  ...scheduleFields,
})
const scheduleBody = v.pipe(
  v.object(
    {
      weekdays: shape.optional(days, 'The days on which a time span starts', ['saturday', 'sunday']),
      weekday: shape.optional(weekday, 'An earlier form of weekdays, with one day', 'saturday'),
      ...scheduleFields,
    },
    'expected an object with weekdays, from, to and timeZone',
  ),
  v.transform(toSchedule),
)
const windowShape = v.object({
  startsAt: shape.instant('Its start', '2036-11-20T22:00:00.000Z'),
  endsAt: shape.instant('Its end', '2036-11-21T02:00:00.000Z'),
})
const WEEKLY = 'Time spans on some weekdays within the period; null to silence without interruption'
export const silenceShape = shape.named('Silence', {
  id: shape.id,
  matchers: shape.list(matcherShape, 'The matchers, all of which must match'),
  startsAt: shape.instant('When the silence starts', '2036-11-20T22:00:00.000Z'),
  endsAt: shape.instant('When the silence ends', '2036-11-21T02:00:00.000Z'),
  schedule: shape.nullable(scheduleShape, WEEKLY, null),
  comment: shape.text('Why the alerts are silenced', 'Upgrade of the payment database'),
  createdBy: shape.text('Who created the silence: the name of a token or of a person', 'on call'),
  createdAt: shape.instant('When the silence was created'),
  revision: shape.count(
    '1 for a new silence, and one more after each change. Send this number with a change, so that a conflicting change is rejected',
    1,
  ),
  status: shape.choice(SILENCE_STATUSES, 'A weekly silence is pending outside its time span'),
  nextWindow: shape.nullable(windowShape, 'When the silence applies: now, or the next time; null after its end'),
  matching: shape.count('The number of firing alerts that are silenced now', 0),
})

const showFields = shape.shower(silenceShape)

/** What a silence would match. */
const previewShape = shape.named('SilencePreview', {
  matching: shape.count('The number of matching alerts that are firing now', 12),
  matchingLast30Days: shape.count('The number of matching alerts from the last 30 days', 340),
  warning: shape.nullable(
    v.string(),
    'A probable mistake in the matchers; null if none was found',
    null,
    'these matchers match no alert from the last 30 days; check the names and values',
  ),
})

const fields = {
  matchers: shape.described(
    v.array(matcherShape, 'expected a list of matchers'),
    'The matchers, all of which must match',
  ),
  startsAt: shape.optional(
    instantField,
    'When the silence starts; if omitted, a new silence starts now',
    '2036-11-20T22:00:00Z',
  ),
  endsAt: shape.described(instantField, 'When the silence ends; every silence has an end', '2036-11-21T02:00:00Z'),
  schedule: shape.optional(v.nullable(scheduleBody), WEEKLY, null),
  comment: shape.described(textField(MAX_COMMENT), 'Why the alerts are silenced', 'Upgrade of the payment database'),
}

export const newSilenceBody = v.object(fields)
export const silenceChangeBody = v.object({
  ...v.partial(newSilenceBody).entries,
  revision: shape.optional(
    v.pipe(v.number('expected a number'), v.integer('expected a whole number')),
    'The revision that your change is based on. If the silence has changed since then, the response is 409',
    1,
  ),
})

export const silenceRoutes: readonly Route[] = [
  rest(`GET ${PATH}`, {
    summary: 'List silences, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      expired: shape.described(flagParameter, '1: only silences that have ended; 0: only silences that have not ended'),
    }),
    answers: success(shape.page(silenceShape), 'A page of silences'),
    handle: (call) => {
      const now = call.deps.now()
      const list = (page: Page) => call.own.read(listSilences, call.query, now, page)
      return answerPage(call, list, (silence) => showSilence(silence, now))
    },
  }),
  rest(`POST ${PATH}`, {
    summary: 'Silence alerts, or count the matching alerts with ?dryRun=1',
    description:
      'A silenced alert is stored and counted, but it does not open an incident, lower a score or send notifications. If the alert is still firing when the silence ends, incmon opens an incident.',
    scope: 'write',
    takesKey: true,
    query: v.object({ dryRun: shape.described(flagParameter, '1: create nothing, and count the alerts that match') }),
    body: newSilenceBody,
    answers: {
      ...success(silenceShape, 'The silence, which takes effect immediately', 201),
      ...success(previewShape, 'With dryRun=1: the number of alerts that the silence would match'),
      ...refusals({ 409: TOO_MANY, 422: NO_WINDOW, 503: MEANINGS[503] }),
    },
    handle: async (call) => {
      if (call.query.dryRun) return json(await previewSilence(call, call.body.matchers))
      return answerSilence({ ...call, id: await addSilence(call, call.body) }, 201)
    },
  }),
  rest(`GET ${PATH}/:id`, {
    summary: 'Show a silence',
    scope: 'read',
    answers: success(silenceShape, 'The silence'),
    handle: (call) => answerSilence(call),
  }),
  rest(`PATCH ${PATH}/:id`, {
    summary: 'Change a silence that has not ended',
    scope: 'write',
    body: silenceChangeBody,
    answers: { ...success(silenceShape, 'The silence'), ...refusals({ 409: CHANGED, 422: NO_WINDOW }) },
    handle: async (call) => {
      const { id } = await requireSilence(call)
      await call.own.change((ctx, now) => changeSilence(ctx, id, call.body, now))
      return answerSilence(call)
    },
  }),
  rest(`DELETE ${PATH}/:id`, {
    summary: 'End a silence now',
    description: 'The silence stays in the list as expired, so that the history shows why an alert opened no incident.',
    scope: 'write',
    answers: { 204: { description: 'The silence has ended. Repeating the request changes nothing', body: null } },
    handle: async (call) => {
      const { id } = await requireSilence(call)
      await call.own.change((ctx, now, actor) => expireSilence(ctx, id, now, actor))
      return DONE
    },
  }),
]

/** Creates a silence, which begins now by default. Returns its ID. */
export function addSilence({ own }: Pick<Call, 'own'>, body: v.InferOutput<typeof newSilenceBody>): Promise<string> {
  return own.change((ctx, now, actor) => {
    const { startsAt = now, schedule = null } = body
    return createSilence(ctx, { ...body, startsAt, schedule }, actor, now)
  })
}

/** Counts the alerts that the matchers would silence. @throws IncmonError `invalid` if the matchers are unusable */
export async function previewSilence(
  { deps, own }: Pick<Call, 'deps' | 'own'>,
  matchers: LiveSilence['matchers'],
): Promise<v.InferInput<typeof previewShape>> {
  const fault = matchersFault(matchers)
  if (fault !== null) throw invalidField('body', 'matchers', fault)
  const since = deps.now() - PREVIEW_SPAN
  const { firing, total } = await own.read(findSilencePreview, matchers, since)
  const warning = `${formatMatchers(matchers)} matches no alert from the last 30 days; check the names and values`
  return { matching: firing, matchingLast30Days: total, warning: firing + total === 0 ? warning : null }
}

async function answerSilence(call: Call, status: 200 | 201 = 200) {
  return json(showSilence(await requireSilence(call), call.deps.now()), status)
}

function requireSilence({ own, id, deps }: Call): Promise<CountedSilence> {
  return required(own.read(findCountedSilence, id, deps.now()), 'silence', `GET ${PATH}`)
}

function showSilence(silence: CountedSilence, now: number) {
  const next = nextWindowOf(silence, now)
  const nextWindow = next && { startsAt: formatInstant(next.startsAt), endsAt: formatInstant(next.endsAt) }
  const schedule = silence.schedule && { ...silence.schedule, weekdays: [...silence.schedule.weekdays] }
  return showFields({ ...silence, schedule, status: statusOf(silence, now), nextWindow })
}
