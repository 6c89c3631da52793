/** /settings/silences: silences and maintenance windows. */
import * as v from 'valibot'
import { safePath } from '../../domain/request/session.ts'
import { nextChangeOf, statusOf } from '../../domain/silence/silence.ts'
import { capitalized } from '../../domain/text.ts'
import { changeSilence, expireSilence } from '../../engine/changes/silences/silences.ts'
import { addSilence, newSilenceBody, previewSilence, silenceChangeBody } from '../../http/api/silences.ts'
import { required } from '../../http/middleware/problem.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { type CountedSilence, findCountedSilence, listSilences } from '../../store/silences.ts'
import { QUICK_LENGTHS } from '../kit/silenced.tsx'
import { type PageRoute, page, type Visit } from '../page.ts'
import { showSection } from '../settings/section-routes.tsx'
import { validated, withFormErrors } from '../visit/apply.ts'
import { pageOf } from '../visit/choice.ts'
import { redirect } from '../visit/reply.ts'
import { type FormProps, SilencePage } from './form.tsx'
import {
  matchersOf,
  newSilenceForm,
  quickEnd,
  readSilenceForm,
  SILENCE_FIELDS,
  type SilenceForm,
  type SilenceView,
  silenceBody,
  silenceForm,
  withLine,
} from './input.ts'
import { SilenceList } from './list.tsx'
import { CURRENT_SILENCES } from './silenced.ts'

const PATH = '/settings/silences'
const ENDED = 20
const MAX_COMMENT = 1_000
const PREVIEWED = v.pick(newSilenceBody, ['matchers'])

export const silencePages: readonly PageRoute[] = [
  page(`GET ${PATH}`, 'read', showSilences),
  page(`GET ${PATH}/new`, 'write', (visit) =>
    showForm(visit, null, { form: newSilenceForm(visit.query('matchers'), visit.viewer.zone) }),
  ),
  page(`POST ${PATH}/new`, 'write', create),
  page(`POST ${PATH}/quick`, 'write', silenceQuickly),
  page(`GET ${PATH}/:id`, 'write', showSilence),
  page(`POST ${PATH}/:id`, 'write', act),
]

async function showSilences(visit: Visit): Promise<Reply> {
  const { own, now, query } = visit
  const number = pageOf(query('page'))
  const current = await own.read(listSilences, { expired: false }, now, CURRENT_SILENCES)
  const ended = await own.read(listSilences, { expired: true }, now, { page: number, limit: ENDED })
  const content = (
    <SilenceList
      page={number}
      current={current.items.map((silence) => viewOf(visit, silence))}
      ended={ended.items.map((silence) => viewOf(visit, silence))}
      pages={Math.ceil(ended.total / ENDED)}
    />
  )
  return showSection(visit, { current: 'silences', title: 'Silences', content })
}

type Shown = Pick<FormProps, 'form'> & Partial<Pick<FormProps, 'faults' | 'preview' | 'conflict'>>

/** Shows the form for a new silence if `silence` is null. */
function showForm(visit: Visit, silence: CountedSilence | null, shown: Shown): Promise<Reply> {
  const { form, faults = [], preview = null, conflict = false } = shown
  const view = silence && viewOf(visit, silence)
  const content = <SilencePage {...{ silence: view, form, faults, preview, conflict }} />
  const title = silence ? 'Silence' : 'New silence'
  return showSection(visit, { current: 'silences', title, content, faults, still: preview !== null })
}

async function showSilence(visit: Visit): Promise<Reply> {
  const silence = await requireSilence(visit)
  return showForm(visit, silence, { form: silenceForm(silence, visit.viewer.zone) })
}

async function create(visit: Visit): Promise<Reply> {
  const typed = readSilenceForm(visit.form)
  const asked = await askedFor(visit, typed)
  if (asked) return showForm(visit, null, asked)
  const attempt = await withFormErrors(SILENCE_FIELDS, () =>
    addSilence(visit, validated(newSilenceBody, silenceBody(typed, visit.now, null))),
  )
  if ('done' in attempt) return redirect(visit, PATH, 'silenced')
  return showForm(visit, null, { form: typed, faults: attempt.faults })
}

/** Silences alerts from the menu of a page. If that is refused, shows the form with the reason. */
async function silenceQuickly(visit: Visit): Promise<Reply> {
  const { form, viewer, now } = visit
  const [length, text] = QUICK_LENGTHS.find(([word]) => word === form.text('length')) ?? QUICK_LENGTHS[1]
  const typed = newSilenceForm(form.text('matchers'), viewer.zone)
  const endsAt = new Date(quickEnd(length, now, viewer.zone)).toISOString()
  const comment = `${capitalized(text)}, from the page ${form.text('back')}`.slice(0, MAX_COMMENT)
  const attempt = await withFormErrors(SILENCE_FIELDS, () =>
    addSilence(visit, validated(newSilenceBody, { matchers: matchersOf(typed), endsAt, comment })),
  )
  if ('done' in attempt) return redirect(visit, safePath(form.text('back') || PATH), 'silenced')
  return showForm(visit, null, { form: { ...typed, comment }, faults: attempt.faults })
}

/** Returns the form if the user asked for a preview or another row; null if the form is to be saved. */
async function askedFor(visit: Visit, form: SilenceForm): Promise<Shown | null> {
  const wanted = visit.form.text('do')
  if (wanted === 'add-line') return { form: withLine(form) }
  if (wanted !== 'preview') return null
  const attempt = await withFormErrors(SILENCE_FIELDS, () => {
    const { matchers } = validated(PREVIEWED, { matchers: matchersOf(form) })
    return previewSilence(visit, matchers)
  })
  return 'done' in attempt ? { form, preview: attempt.done } : { form, faults: attempt.faults }
}

async function act(visit: Visit): Promise<Reply> {
  const { own, form } = visit
  const silence = await requireSilence(visit)
  if (form.text('do') === 'end') {
    await own.change((ctx, now, actor) => expireSilence(ctx, silence.id, now, actor))
    return redirect(visit, PATH, 'silence-ended')
  }
  const typed = readSilenceForm(form)
  const asked = await askedFor(visit, typed)
  return asked ? showForm(visit, silence, asked) : save(visit, silence, typed)
}

async function save(visit: Visit, silence: CountedSilence, typed: SilenceForm): Promise<Reply> {
  const { own, now } = visit
  const attempt = await withFormErrors(SILENCE_FIELDS, () => {
    const change = validated(silenceChangeBody, silenceBody(typed, now, silence))
    return own.change((ctx, at) => changeSilence(ctx, silence.id, change, at))
  })
  if ('done' in attempt) return redirect(visit, PATH, 'saved')
  const stored = await requireSilence(visit)
  const conflict = typed.revision !== String(stored.revision)
  // The page now shows the other person's change. Saving again overwrites that change.
  const form = { ...typed, revision: String(stored.revision) }
  return showForm(visit, stored, { form, faults: attempt.faults, conflict })
}

function viewOf({ now }: Visit, silence: CountedSilence): SilenceView {
  const status = statusOf(silence, now)
  const matching = status === 'active' ? silence.matching : 0
  return { ...silence, status, changesAt: nextChangeOf(silence, now), matching }
}

/**
 * Returns the silence whose ID is in the path.
 * @throws IncmonError `not-found`
 */
function requireSilence({ own, id, now }: Visit): Promise<CountedSilence> {
  return required(own.read(findCountedSilence, id, now), 'silence', 'the page Silences')
}
