/** Action items that people add to an incident before it has a postmortem. */
import { newAction } from './actions.ts'
import type { Action } from './document.ts'
import type { ActionEdit } from './edits.ts'

/** Returns the action items that people added. */
export function itemsOf(edits: readonly ActionEdit[]): readonly Action[] {
  return edits.map(({ id, text, owner = null, due = null, state = 'open' }) => {
    return { ...newAction(id, text ?? '', state), owner, due }
  })
}
