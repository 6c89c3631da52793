/** Sends what is due, without a receiver. */
import type { Deps } from '../../src/actions/deps.ts'
import { recordSent, retake, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import { listDueChannels } from '../../src/store/notification/outbox.ts'
import { CONTEXT } from './messages.ts'

/** Returns the messages that each channel got, with their texts. */
export function pump(deps: Deps) {
  const context = { ...CONTEXT, now: deps.now(), cause: '' }
  return listDueChannels(deps.db, deps.now()).flatMap(({ channelId }) => {
    const sent = []
    for (let taken = takeMessage(deps, channelId); taken; taken = takeMessage(deps, channelId)) {
      const message = retake(deps, taken)
      if (!message) continue
      const { title, body } = digestTextOf(message.items, context)
      recordSent(deps, message, { title, body })
      settleMessage(deps, message, { status: 200, detail: null, remoteId: null, retryAfter: 0 }, 0)
      sent.push({ channel: message.channel.name, items: message.items, title, body })
    }
    return sent
  })
}
