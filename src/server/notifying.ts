/** Starts the notifier with the server's settings, fetches graphs, and sends incmon's own heartbeat. */

import type { Deps } from '../actions/deps.ts'
import type { Config } from '../config.ts'
import type { NotifierOptions } from '../notify/context.ts'
import { startGraphs } from '../notify/graphs.ts'
import { startHeartbeat } from '../notify/heartbeat.ts'
import { type Notifier, startNotifier } from '../notify/notifier.ts'
import { createResolve } from '../notify/resolve.ts'
import { allowing } from './connection/addresses.ts'
import type { Log } from './log.ts'
import { type Repeated, watchRepeated } from './repeated.ts'

const TIMEOUT = 10_000

export type NotifyingDeps = Pick<NotifierOptions, 'stopped'> & {
  readonly deps: Deps
  readonly causeOf: NotifierOptions['causeOf']
  readonly settings: () => Config
  readonly log: Log
  /** Returns a number between 0 and 1. */
  readonly random: () => number
}

type Notifying = Notifier & Pick<Repeated, 'tell'>

/** Starts sending messages. `tell` logs how often sending has failed since the last call of `tell`. */
export function startNotifying({ deps, causeOf, settings, log, stopped, random }: NotifyingDeps): Notifying {
  const { failed, worked, tell } = watchRepeated(log, 'the outbox')
  const notifier = startNotifier(deps, {
    transports: () => transportsOf(settings()),
    publicUrl: () => settings()['public-url'].replace(/\/+$/, ''),
    causeOf,
    stopped,
    random,
    failed,
    worked,
  })
  const graphs = watchRepeated(log, 'fetching graphs')
  const stopGraphs = startGraphs(deps, { network: () => transportsOf(settings()).network, ...graphs })
  const stopHeartbeat = startHeartbeat(() => settings()['heartbeat-url'], TIMEOUT, log)
  const stop = async () => {
    stopHeartbeat()
    await Promise.all([notifier.stop(), stopGraphs()])
    graphs.tell()
    tell()
  }
  return { ...notifier, stop, tell }
}

const resolve = createResolve()

/** Returns the transports configured by these settings. */
export function transportsOf(settings: Config) {
  const url = settings['smtp-url']
  const passwordFile = settings['smtp-password-file']
  const mail = { url, passwordFile, from: settings['mail-from'], timeoutMs: TIMEOUT }
  const network = { resolve, isAllowed: allowing(settings['notify-allow']), timeoutMs: TIMEOUT }
  return { network, mailServer: url === '' ? null : mail }
}
