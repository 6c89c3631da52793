/** When a message about what is over is green: only if nothing that it is about goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import type { MessageItem } from '../../src/domain/notification/words.ts'
import { CONTEXT, healed, messageItem } from '../helpers/messages.ts'

const URLS = { ...CONTEXT, cause: '', acknowledgeUrls: {} }
const member = (name: string, isFiring: boolean) => ({
  ...({ id: name, number: 1, title: name, severity: 'critical', status: 'open', startedAt: 0 } as const),
  ...({ acknowledgedBy: null, problem: 'on', isFiring, service: { name, namespace: '', cluster: '' } } as const),
})
const groupOf = (isFiring: boolean) => {
  const leader = member('postgres', isFiring)
  return { leader, cause: 'postgres', incidents: [leader, member('cart', false), member('web', false)] }
}
const over = (name: string, more: Partial<MessageItem> = {}, firingAlerts = 0) => {
  const service = { name, namespace: 'shop', cluster: '' }
  return messageItem({ kind: 'recovered', service, names: [], ...more }, { id: name, problem: healed(), firingAlerts })
}
const resolved = (name: string, more: Partial<MessageItem> = {}, firingAlerts = 0) => {
  const item = over(name, { kind: 'resolved', actor: null, ...more }, firingAlerts)
  return { ...item, incident: { ...item.incident, status: 'resolved' as const } }
}

for (const [what, items, tone] of [
  ['a recovery', [over('cart')], 'resolved'],
  ['a recovery while an error fires', [over('cart', {}, 1)], 'warning'],
  ['a recovery while another service of the group burns', [over('cart', { group: groupOf(true) })], 'warning'],
  ['the recovery of the last service of a group', [over('cart', { group: groupOf(false) })], 'resolved'],
  ['a recovery while something fires on the pods of the node', [over('node', { names: ['Down of web'] })], 'warning'],
  ['two recoveries', [over('cart'), over('web')], 'resolved'],
  ['two recoveries, an error fires in one', [over('cart'), over('web', {}, 1)], 'warning'],
  [
    'two recoveries of a group that burns',
    ['cart', 'web'].map((name) => over(name, { group: groupOf(true) })),
    'warning',
  ],
  ['a resolution', [resolved('cart', { names: ['Down'] })], 'resolved'],
  ['a resolution by itself while an error fires', [resolved('cart', {}, 1)], 'warning'],
  ['two resolutions by themselves, an error fires in one', [resolved('cart'), resolved('web', {}, 1)], 'warning'],
  ['a merge into an incident that burns', [resolved('cart', { mergedInto: 'web: Down', names: ['Down'] })], 'warning'],
  ['a merge into an incident that is over', [resolved('cart', { mergedInto: 'web: Down' })], 'resolved'],
  [
    'a recovery, and a merge into what burns',
    [over('till'), resolved('cart', { mergedInto: 'web: Down', names: ['Down'] })],
    'warning',
  ],
] as const) {
  test(`${what} is shown as ${tone}`, () => {
    assert.equal(digestTextOf(items, URLS).tone, tone)
  })
}
