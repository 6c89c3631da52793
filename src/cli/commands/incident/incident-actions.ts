/** incmon incident actions, add-action, set-action and remove-action: the action items of an incident. */
import { type Command, Option } from 'commander'
import type { InferInput } from 'valibot'
import { ACTION_STATES } from '../../../domain/postmortem/document.ts'
import { visible } from '../../../domain/terminal.ts'
import type { itemShape } from '../../../http/api/incidents/action-items.ts'
import { type Incident, type Named, type OrganizationOptions, withRecord } from '../../api/records.ts'
import { CommandError, UsageError } from '../../failure.ts'
import { print, printList } from '../../output.ts'
import { addOrgCommand } from '../../plain-command.ts'

type Item = InferInput<typeof itemShape>
type Fields = OrganizationOptions & Partial<Pick<Item, 'owner' | 'due' | 'text' | 'state'>>

const ITEM = 'the id of the action item, or at least its last 8 characters'

export function addIncidentActions(incident: Command, id: string): void {
  addOrgCommand(incident, 'actions', 'list the action items of an incident').argument('<id>', id).action(listItems)
  addOrgCommand(incident, 'add-action', 'add an action item')
    .argument('<id>', id)
    .argument('<text...>', 'what to do')
    .option('--owner <name>', 'who does it')
    .option('--due <date>', 'when it is due, such as 2026-03-31')
    .action(addItem)
  addOrgCommand(incident, 'set-action', 'change, assign or finish an action item')
    .argument('<id>', id)
    .argument('<item>', ITEM)
    .option('--text <text>', 'what to do')
    .option('--owner <name>', 'who does it')
    .option('--due <date>', 'when it is due, such as 2026-03-31')
    .addOption(new Option('--state <state>', 'the state').choices(ACTION_STATES))
    .action(changeItem)
  addOrgCommand(incident, 'remove-action', 'remove an action item')
    .argument('<id>', id)
    .argument('<item>', ITEM)
    .action(removeItem)
}

async function listItems(id: string, options: OrganizationOptions): Promise<void> {
  const items = await withRecord<Incident, Item[]>('incident', id, options, itemsOf)
  printList(options, items, 'there are no action items', {
    TEXT: 'text',
    OWNER: 'owner',
    DUE: 'due',
    STATE: 'state',
    ID: 'id',
  })
}

async function addItem(id: string, words: readonly string[], options: Fields): Promise<void> {
  const text = words.join(' ').trim()
  if (text === '') throw new UsageError('<text> is empty: write what to do after the incident number')
  const { owner, due } = options
  const item = await withRecord<Incident, Item>('incident', id, options, ({ api, found }) =>
    api.json('POST', `/api/incidents/${found.id}/actions`, { body: { text, owner, due } }),
  )
  print(options.json ? JSON.stringify(item) : `added the action item: ${visible(item.text)}`)
}

async function changeItem(id: string, item: string, options: Fields): Promise<void> {
  const { text, owner, due, state } = options
  const body = { text, owner, due, state }
  if (Object.values(body).every((value) => value === undefined))
    throw new UsageError('nothing to change: specify at least one option; see --help')
  const changed = await withRecord<Incident, Item>('incident', id, options, async (named) => {
    const { id: itemId } = await requireItem(named, item)
    return named.api.json('PATCH', `/api/incidents/${named.found.id}/actions/${itemId}`, { body })
  })
  print(options.json ? JSON.stringify(changed) : `changed the action item: ${visible(changed.text)}, ${changed.state}`)
}

async function removeItem(id: string, item: string, options: OrganizationOptions): Promise<void> {
  const removed = await withRecord<Incident, Item>('incident', id, options, async (named) => {
    const found = await requireItem(named, item)
    await named.api.json('DELETE', `/api/incidents/${named.found.id}/actions/${found.id}`)
    return found
  })
  print(options.json ? JSON.stringify({ id: removed.id }) : `removed the action item: ${visible(removed.text)}`)
}

function itemsOf({ api, found }: Named<Incident>): Promise<Item[]> {
  return api.all<Item>(`/api/incidents/${found.id}/actions`)
}

async function requireItem(named: Named<Incident>, text: string): Promise<Item> {
  const items = await itemsOf(named)
  const wanted = text.trim().toLowerCase()
  const isMeant = ({ id }: Item) => id === wanted || (wanted.length >= 8 && id.endsWith(wanted))
  const [item, second] = items.filter(isMeant)
  if (item && !second) return item
  throw new CommandError(`no action item ${text}: list them with "incmon incident actions ${named.found.number}"`)
}
