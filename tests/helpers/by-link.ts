/** Acknowledgement by link, for tests that need a little of everything. */
import { acknowledge, acknowledgePath, readAcknowledgeLink } from '../../src/operations/acknowledgement.ts'
import { listRecipients, loadChannelSecrets, updateChannel } from '../../src/store/notification/channels.ts'
import type { Flow } from './flow.ts'

/** Acknowledges an incident with the link of a message. */
export async function byLink({ deps, acme, incidents }: Flow): Promise<void> {
  const [channel] = listRecipients(deps.db, acme.key)
  // What a test has sent so far may have disabled the channel, and then its links are no longer valid.
  if (channel && !channel.enabled) updateChannel(deps.db, channel.rowId, { ...channel, enabled: true })
  const key = channel && loadChannelSecrets(deps.db, channel.rowId)?.acknowledging
  const link = { channelId: channel?.id ?? '', incidentId: incidents()[0]?.id ?? '' }
  const query = new URL(acknowledgePath(deps, link, key ?? ''), 'http://localhost').searchParams
  const found = readAcknowledgeLink(deps, (name) => query.get(name) ?? '')
  if (typeof found !== 'object') throw new Error(`the link is ${found}`)
  await acknowledge(deps, found, null)
}
