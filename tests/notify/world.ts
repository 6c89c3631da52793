/** A flow of webhooks with a running notifier, and what its channels sent. */
import type { TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createChannel } from '../../src/actions/channels.ts'
import type { ChannelKind } from '../../src/domain/notification/format.ts'
import type { NotifierOptions } from '../../src/notify/context.ts'
import type { MailServer } from '../../src/notify/deliver.ts'
import { startNotifier } from '../../src/notify/notifier.ts'
import { allowing } from '../../src/server/connection/addresses.ts'
import { findLikelyCause } from '../../src/store/incident/likely-cause.ts'
import { listMessages } from '../../src/store/notification/messages.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const PAGE = { page: 1, limit: 100 }

type Wanted = { mailServer?: MailServer | null } & Partial<Pick<NotifierOptions, 'causeOf' | 'stopped'>>

export function notifying(t: TestContext, { mailServer = null, causeOf, stopped = null }: Wanted = {}) {
  const flow = makeFlow(t)
  const { acme } = flow
  const faults: unknown[] = []
  const start = () =>
    startNotifier(flow.deps, {
      transports: () => ({
        network: { resolve: async () => [], isAllowed: allowing(['127.0.0.0/8']), timeoutMs: 60_000 },
        mailServer,
      }),
      publicUrl: () => 'https://incmon.example.com',
      causeOf:
        causeOf ??
        (async (organizationId, id, names) => findLikelyCause(flow.deps.db, organizationId, id, flow.clock.now, names)),
      stopped,
      random: () => 0.5,
      failed: (error) => faults.push(error),
      worked: () => {},
    })
  let notifier = start()
  t.after(() => notifier.stop())
  let channels = 1
  const channel = (kind: ChannelKind, target: string, more: object = {}) =>
    createChannel(flow.deps, acme.key, { name: `channel ${channels++}`, kind, target, ...more })
  /** Opens an incident for a service. */
  const fail = (service = 'checkout') =>
    flow.send('metrics', alertmanager([alert('Down', { service, severity: 'critical' }, { startsAt: NOON })]))
  const messages = () => listMessages(flow.deps.db, acme.key, {}, PAGE).items
  /** Waits until the notifier has done this. The clock advances by a second only if it takes longer than two. */
  const settled = async (until: () => boolean) => {
    for (let tries = 0; tries < 7_200; tries += 1) {
      if (until()) return
      await pause(25)
      if (tries % 80 === 79) flow.clock.now += 1_000
    }
    const states = messages().map(({ kind, status }) => `${kind} ${status}`)
    throw new Error(`the notifier did not get there within three minutes: ${states.join(', ')}`)
  }
  const later = (minutes: number) => {
    flow.clock.now += minutes * MINUTE
  }
  const restart = async () => {
    await notifier.stop()
    flow.restart()
    notifier = start()
  }
  const test = (target: Parameters<typeof notifier.test>[0]) => notifier.test(target)
  return { ...flow, channel, fail, messages, settled, later, restart, faults, test }
}
