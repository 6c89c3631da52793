/** Sends a test message to a channel. */
import type { Deps } from '../actions/deps.ts'
import type { SendOutcome } from '../actions/messages.ts'
import { NO_PROBLEM } from '../domain/incident/problem.ts'
import { digestTextOf } from '../domain/notification/digest.ts'
import type { MessageItem } from '../domain/notification/words.ts'
import { type ChannelRecord, loadChannelSecrets } from '../store/notification/channels.ts'
import { baseContext, type NotifierOptions } from './context.ts'
import { deliver } from './deliver.ts'

/** Sends a test message through a channel and returns the receiver's response. */
export async function sendTest(
  deps: Deps,
  options: Pick<NotifierOptions, 'transports' | 'publicUrl'>,
  channel: ChannelRecord,
): Promise<SendOutcome> {
  const secrets = loadChannelSecrets(deps.db, channel.rowId)
  if (!secrets) throw new Error(`channel ${channel.id} has no secrets`)
  const context = baseContext(deps, options, channel, null)
  const items = [testItem(deps, channel)]
  const thread = { incidentId: null, replyTo: null, isFirst: true }
  const words = digestTextOf(items, context)
  return deliver(
    { id: deps.newId(), kind: channel.kind, secrets, items, words, context, ...thread },
    options.transports(),
  )
}

function testItem(deps: Deps, { id, name }: ChannelRecord): MessageItem {
  const now = deps.now()
  return {
    kind: 'test',
    at: now,
    actor: null,
    severityBefore: null,
    ...{ names: [], wasWrong: false, mergedInto: null, isDigest: false, alerts: [], group: null },
    incident: {
      ...{ id, number: 0, title: name, severity: 'info', status: 'open' },
      ...{ alertCount: 0, firingAlerts: 0, hasPostmortem: false },
      ...{ startedAt: now, resolvedAt: null, acknowledgedAt: null, acknowledgedBy: null, touchedAt: null },
      ...{ origin: 'manual', problem: NO_PROBLEM, previous: null },
    },
    service: { name: 'incmon', namespace: '', cluster: '' },
  }
}
