/** /api/incidents/:id/actions: the action items of an incident. */
import * as v from 'valibot'
import { addActionItem, changeActionItem, removeActionItem } from '../../../actions/action-items.ts'
import { ACTION_STATES } from '../../../domain/postmortem/document.ts'
import { noteChange } from '../../../engine/changes/incidents/incident-changes.ts'
import { listActionItems } from '../../../store/incident/action-items.ts'
import { textField } from '../../middleware/body.ts'
import { required } from '../../middleware/problem.ts'
import { wordParameter } from '../../middleware/query.ts'
import { DONE, json } from '../../middleware/reply.ts'
import { type Call, type Route, rest } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { answerAll, refusals, success, successPage } from '../answers.ts'
import { requireIncident } from './incidents.ts'

const PATH = '/api/incidents/:id/actions'
const MAX_TEXT = 2_000
const MAX_ITEMS = 500
export const itemShape = shape.named('ActionItem', {
  id: shape.text('The ID of the item, or the name of the rule that suggested it', shape.EXAMPLE_ID),
  text: shape.text('What to do', 'Alert on the certificate 30 days before it expires'),
  owner: shape.nullable(v.string(), 'Who does it', null),
  due: shape.nullable(v.string(), 'When it is due, as a date', null),
  state: shape.choice(ACTION_STATES, 'The state of the item', 'open'),
})

const text = shape.described(textField(MAX_TEXT), 'What to do', 'Alert on the certificate 30 days before it expires')
const owner = shape.optional(v.nullable(textField(200)), 'Who does it', 'Dana')
const due = shape.optional(v.nullable(textField(10)), 'When it is due, as a date', '2026-03-31')

export const actionItemRoutes: readonly Route[] = [
  rest(`GET ${PATH}`, {
    summary: 'List the action items of an incident',
    scope: 'read',
    answers: successPage(itemShape, 'The action items, oldest first'),
    handle: async (call) => answerAll(call, await itemsOf(call), MAX_ITEMS),
  }),
  rest(`POST ${PATH}`, {
    summary: 'Add an action item to an incident',
    description:
      'On every plan, from the moment the incident opens. A postmortem shows the action items of its incident.',
    scope: 'write',
    takesKey: true,
    body: v.object({ text, owner, due }),
    answers: {
      ...success(itemShape, 'The action item', 201),
      ...refusals({ 409: 'The incident has the maximum number of action items' }),
    },
    handle: async (call) => {
      const { id } = await requireIncident(call)
      const added = await call.own.run(addActionItem, id, call.body)
      await note(call, id, `action item added: ${call.body.text}`)
      return json(await requireItem(call, added), 201)
    },
  }),
  rest(`PATCH ${PATH}/:actionId`, {
    summary: 'Change, assign or finish an action item',
    scope: 'write',
    body: shape.object(
      { text: v.optional(text), owner, due, state: shape.optional(wordParameter(ACTION_STATES), 'The state', 'done') },
      'The changes',
      { state: 'done' },
    ),
    answers: success(itemShape, 'The action item'),
    handle: async (call) => {
      const { id } = await requireIncident(call)
      const actionId = actionIdOf(call)
      await call.own.run(changeActionItem, id, { id: actionId, ...call.body })
      const item = await requireItem(call, actionId)
      await note(call, id, `action item ${call.body.state ?? 'changed'}: ${item.text}`)
      return json(item)
    },
  }),
  rest(`DELETE ${PATH}/:actionId`, {
    summary: 'Remove an action item',
    scope: 'write',
    answers: { 204: { description: 'The item is removed; an item that a rule suggested is dropped', body: null } },
    handle: async (call) => {
      const { id } = await requireIncident(call)
      const item = await requireItem(call, actionIdOf(call))
      await call.own.run(removeActionItem, id, item.id)
      await note(call, id, `action item removed: ${item.text}`)
      return DONE
    },
  }),
]

function actionIdOf({ c }: Call): string {
  return c.req.param('actionId') ?? ''
}

async function itemsOf(call: Call) {
  const { id } = await requireIncident(call)
  const items = await call.own.read(listActionItems, id)
  return items.map(({ because: _, ...item }) => item)
}

async function requireItem(call: Call, actionId: string) {
  const found = itemsOf(call).then((items) => items.find(({ id }) => id === actionId))
  return required(found, 'action item', 'GET /api/incidents/ID/actions')
}

/** Adds an entry to the timeline, because a person has changed something. */
function note(call: Call, id: string, text: string): Promise<void> {
  return call.own.change((ctx, now, actor) => noteChange(ctx, id, text, actor, now))
}
