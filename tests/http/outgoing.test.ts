/** The messages of webhook channels have the form that openapi.json documents. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import { formatWebhook } from '../../src/domain/notification/format.ts'
import type { GroupMember } from '../../src/domain/notification/group-words.ts'
import { NOTIFICATION_KINDS } from '../../src/domain/notification/kind.ts'
import { type MessageItem, messageTextOf } from '../../src/domain/notification/words.ts'
import { EXAMPLE_ID } from '../../src/http/shapes.ts'
import { CONTEXT, messageAlert, messageItem, NOW } from '../helpers/messages.ts'
import { fits } from '../helpers/openapi.ts'

const ID = { id: EXAMPLE_ID }
const of = (more: Partial<MessageItem> = {}) =>
  messageItem({ alerts: [{ ...messageAlert(), ...ID }], ...more }, { ...ID, acknowledgedBy: null })

function assertForm(name: string, items: readonly MessageItem[], text = messageTextOf(items[0] ?? of(), CONTEXT)) {
  const { body } = formatWebhook(items, text, { ...CONTEXT, suspects: [] })
  fits(`#/components/schemas/${name}`, JSON.parse(body), name)
}

for (const kind of NOTIFICATION_KINDS.filter((kind) => kind !== 'group'))
  test(`the message ${kind} has the documented form`, () => assertForm('IncidentMessage', [of({ kind })]))

test('the message about a group has the documented form', () => {
  const { number, title, severity, status, startedAt, acknowledgedBy } = of().incident
  const about = { number, title, severity, status, startedAt, acknowledgedBy, service: of().service }
  const leader: GroupMember = { ...ID, ...about, problem: 'on', isFiring: true }
  const group = { leader, cause: 'postgres', incidents: [leader, leader, leader] }
  assertForm('GroupMessage', [of({ kind: 'group', group, at: NOW })])
})

test('a digest has the documented form', () => {
  const items = [of(), of({ kind: 'resolved' })]
  assertForm('DigestMessage', items, digestTextOf(items, CONTEXT))
})

test('a test message has the documented form', () => assertForm('TestMessage', [of({ kind: 'test' })]))

test('a message without its incident is found', () => {
  const body = JSON.parse(formatWebhook([of()], messageTextOf(of(), CONTEXT), { ...CONTEXT, suspects: [] }).body)
  const wrong = { ...body, data: { ...body.data, incident: null } }
  assert.throws(() => fits('#/components/schemas/IncidentMessage', wrong, 'x'), /incident must be object/)
})
