/**
 * The parts of a postmortem that users write. These parts are stored separately, so that a new revision does not
 * overwrite them.
 */
import { IncmonError } from '../error.ts'
import { parseBound } from '../instant.ts'
import { knownAction, newAction } from './actions.ts'
import type { Action, KeyFact, Lessons, Postmortem, PostmortemState } from './document.ts'

type Texts<Name extends string> = { readonly [N in Name]?: string | null | undefined }

/** In a change, a missing field leaves the stored value unchanged, and null or a blank string removes it. */
export type Edits = Texts<'summary' | 'rootCause'> & {
  readonly impact?: Texts<'customers'> | undefined
  readonly lessons?: Texts<keyof Lessons> | undefined
  /** Changes to suggested actions, and actions added by users, by id. An added action must have `text`. */
  readonly actions?: readonly ActionEdit[] | undefined
}

/** `due`: a date such as `2026-03-31`, or null. If `text` is null, a suggested action gets its original text back. */
export type ActionEdit = Texts<'text' | 'owner' | 'due'> & {
  readonly id: string
  readonly state?: Action['state'] | undefined
}

/**
 * Applies a change to the edits, and drops removed fields.
 * @throws IncmonError `invalid` for an added action without `text`, or a due date that does not exist
 */
export function applyEdits(before: Edits, change: Partial<Edits>): Edits {
  const lessons = written({ ...before.lessons, ...defined(change.lessons) })
  const customers = written({ ...before.impact, ...defined(change.impact) })
  const actions = mergedActions(before.actions ?? [], change.actions ?? [])
  const { summary, rootCause } = { ...before, ...defined(change) }
  return {
    ...written({ summary, rootCause }),
    ...(Object.keys(customers).length > 0 ? { impact: customers } : {}),
    ...(Object.keys(lessons).length > 0 ? { lessons } : {}),
    ...(actions.length > 0 ? { actions } : {}),
  }
}

function mergedActions(before: readonly ActionEdit[], changes: readonly ActionEdit[]): readonly ActionEdit[] {
  const byId = new Map(before.map((action) => [action.id, action]))
  for (const [index, change] of changes.entries()) {
    const { id, state, ...texts } = { ...byId.get(change.id), ...defined(change), id: change.id }
    const action: ActionEdit = { id, ...written(texts), ...(state === undefined ? {} : { state }) }
    requireValid(action, index)
    byId.set(id, action)
  }
  return [...byId.values()]
}

function requireValid(action: ActionEdit, index: number): void {
  const refuse = (field: string, message: string) => {
    const path = `actions[${index}].${field}`
    return new IncmonError('invalid', `${path}: ${message}`, [{ path, message }])
  }
  if (action.id.trim() === '') throw refuse('id', 'expected a name')
  if (!knownAction(action.id) && !action.text)
    throw refuse('text', 'missing; an action requires a text unless a rule suggested the action')
  if (action.due && (!/^\d{4}-\d{2}-\d{2}$/.test(action.due) || parseBound(action.due, 'from') === null)) {
    throw refuse('due', 'expected a date such as 2026-03-31')
  }
}

/**
 * Adds the parts that users wrote to the document. Generated sentences stay unchanged. `state`: the state of the
 * revision.
 */
export function merge(document: Postmortem, edits: Edits, state: PostmortemState = document.header.state): Postmortem {
  return {
    ...document,
    header: { ...document.header, state },
    summary: {
      ...document.summary,
      ...(edits.rootCause ? withRootCause(document) : {}),
      addition: edits.summary ?? document.summary.addition,
    },
    impact: { ...document.impact, customers: edits.impact?.customers ?? document.impact.customers },
    rootCause: { ...document.rootCause, text: edits.rootCause ?? document.rootCause.text },
    lessons: { ...document.lessons, ...written(edits.lessons ?? {}) },
    actions: mergeActions(document.actions, edits.actions ?? []),
  }
}

/** A cause that people wrote down replaces the one that incmon found, unless somebody confirmed that one. */
function withRootCause({ summary: { facts }, contributing }: Postmortem): { readonly facts?: readonly KeyFact[] } {
  if (!facts || contributing.changes.some(({ verdict }) => verdict === 'confirmed')) return {}
  return { facts: facts.map((fact) => (fact.label === 'Cause' ? { ...fact, text: 'see the root cause' } : fact)) }
}

/** Returns the suggested actions in order, followed by actions that users kept or added. */
function mergeActions(proposed: readonly Action[], edits: readonly ActionEdit[]): readonly Action[] {
  const ids = new Set(proposed.map(({ id }) => id))
  const byId = new Map(edits.map((edit) => [edit.id, edit]))
  // Actions added by a user are accepted without confirmation.
  const kept = edits.filter(({ id }) => !ids.has(id)).map(({ id }) => knownAction(id) ?? newAction(id, '', 'open'))
  const all = [...proposed, ...kept].map((action) => ({ ...action, ...written(byId.get(action.id) ?? {}) }))
  // Somebody has thought of a better alert.
  const hasAlert = all.some(({ id, text }) => !knownAction(id) && /\balert/i.test(text))
  return hasAlert ? all.filter(({ id, state }) => id !== 'alert-coverage' || state !== 'proposed') : all
}

/** Drops undefined fields, which would override earlier values. */
function defined<T extends object>(value: T | undefined): Partial<T> {
  const entries = Object.entries(value ?? {}).filter(([, one]) => one !== undefined)
  return Object.fromEntries(entries) as Partial<T>
}

/** Drops missing and blank texts. */
function written<T extends Readonly<Record<string, string | null | undefined>>>(texts: T) {
  const entries = Object.entries(texts).filter(([, text]) => typeof text === 'string' && text.trim() !== '')
  return Object.fromEntries(entries) as { [K in keyof T]?: NonNullable<T[K]> }
}

/** Returns the action items that people added. */
export function itemsOf(edits: readonly ActionEdit[]): readonly Action[] {
  return edits.map(({ id, text, owner = null, due = null, state = 'open' }) => {
    return { ...newAction(id, text ?? '', state), owner, due }
  })
}
