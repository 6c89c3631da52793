/** Acknowledges incidents by link, for tests that need a bit of everything. */
import { acknowledge, acknowledgePath, readAcknowledgeLink } from '../../src/actions/acknowledgement.ts'
import { listRecipients, loadChannelSecrets, updateChannel } from '../../src/store/notification/channels.ts'
import type { Flow } from './flow.ts'

/** Acknowledges an incident with the link from a message. */
export async function byLink({ deps, acme, incidents }: Flow): Promise<void> {
  const [channel] = listRecipients(deps.db, acme.key)
  // Earlier requests in the test might have disabled the channel, which makes its links invalid.
  if (channel && !channel.enabled) updateChannel(deps.db, channel.rowId, { ...channel, enabled: true })
  const key = channel && loadChannelSecrets(deps.db, channel.rowId)?.acknowledging
  const link = { channelId: channel?.id ?? '', incidentId: incidents()[0]?.id ?? '' }
  const query = new URL(acknowledgePath(deps, link, key ?? ''), 'http://localhost').searchParams
  const found = readAcknowledgeLink(deps, (name) => query.get(name) ?? '')
  if (typeof found !== 'object') throw new Error(`the link is ${found}`)
  await acknowledge(deps, found.organizationId, [found.incident.id], 'Ann')
}
