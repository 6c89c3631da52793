/** Starts the application, the HTTP server and the timers, and stops them in the right order. */
import { Server as SecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { inspect } from 'node:util'
import { type Deps, type World, withEngine } from './actions/deps.ts'
import { createApp } from './app.ts'
import { appIcon, programVersion, recordedText, startWorker, webTexts } from './assets.ts'
import { type Config, programName } from './config.ts'
import { readRecorded } from './domain/example/recorded.ts'
import { limitsFrom } from './domain/limits.ts'
import { createListener } from './http/middleware/listener.ts'
import type { Access } from './http/route.ts'
import type { Clusters } from './kubernetes/clusters.ts'
import { checkProcess, type Damage, JUMPED, type Loop, watchDamage, watchLoop } from './server/checks.ts'
import { limitAddresses, SPARE_CONNECTIONS, trusting } from './server/connection/addresses.ts'
import { createConnections, descriptorLimit, fittingConnections } from './server/connection/connections.ts'
import { limitPendingBodies } from './server/connection/pending-bodies.ts'
import { listen, urlOf } from './server/connection/port.ts'
import { listenOnSocket } from './server/connection/socket.ts'
import type { Tls } from './server/connection/tls.ts'
import { createWrongTokens } from './server/connection/wrong-tokens.ts'
import { elapsed, type Listening, numberRequests, type ServerContext } from './server/context.ts'
import type { Log } from './server/log.ts'
import { createMetrics } from './server/metrics.ts'
import { createNotices, type Notices } from './server/notices.ts'
import { type NotifyingDeps, startNotifying } from './server/notifying.ts'
import { createRefusals } from './server/repeated.ts'
import type { Running } from './server/running.ts'
import { startPruning, startSweeping } from './server/timers.ts'
import { createWeb, webSettings } from './server/web.ts'
import { findLikelyCause } from './store/incident/likely-cause.ts'
import { findDamage } from './store/sqlite/sound.ts'
import { findFreeDisk } from './store/sqlite/space.ts'
import { APP_MANIFEST, TAB_ICONS } from './web/kit/symbols.ts'
import { startCheckpointer } from './workers/checkpointer.ts'
import { createReader } from './workers/reader.ts'

/** How often repeated log messages are summarized, in milliseconds. */
const SUM_UP_EVERY = 60_000
/** The maximum number of connections from commands. This number is enough for one person who runs scripts. */
const MAX_COMMANDS = 64

type Options = Pick<NotifyingDeps, 'stopped'> & {
  readonly deps: World
  readonly settings: Config
  readonly tls: Tls | null
  readonly log: Log
  readonly startThread?: typeof startWorker
}

/** The state that can change while the server is running. */
type State = {
  settings: Config
  tls: Tls | null
  /** The server's URL, or null before it is listening. */
  url: string | null
  isTrusted: (address: string) => boolean
  isStopping: boolean
  clusters: Clusters | null
  /** The promise that responses wait for while the server stops accepting connections, or null. */
  held: Promise<void> | null
}

/** Serves requests until `close` is called. Rejects if the port cannot be opened. */
export async function serve(options: Options): Promise<Running> {
  const { deps: world, settings, tls, log, stopped, startThread = startWorker } = options
  const state: State = {
    settings,
    tls,
    url: null,
    isTrusted: () => false,
    isStopping: false,
    clusters: null,
    held: null,
  }
  const notices = createNotices(world.newSecret().slice(0, 8), elapsed)
  const metrics = createMetrics(programVersion())
  const failed = (what: string) => (error: unknown) => log.error({ cause: inspect(error) }, what)
  const reader = createReader(world.db, startThread, failed('a worker thread for reads failed'))
  const deps = withEngine(
    {
      ...world,
      limits: () => limitsFrom(state.settings.limits),
      awaitsRepeats: true,
      ...{ read: reader.read, announce: notices.announce, observe: metrics.committed },
    },
    () => state.settings['max-waiting'],
  )
  const { engine } = deps
  const loop = watchLoop(elapsed, Date.now, (ms) => log.warn({ ms }, JUMPED))
  const damage = watchDamage(
    () => reader.read(findDamage),
    (detail) => log.error(detail),
  )
  const notifier = startNotifying({
    deps,
    settings: () => state.settings,
    causeOf: (organizationId, id, names) => reader.read(findLikelyCause, organizationId, id, deps.now(), names),
    log,
    stopped,
    random: Math.random,
  })
  const context = createContext({ deps, notices, log, state, metrics, loop, damage, notifier })
  const listenerOf = (access: Access) => createListener(createApp(deps, reader.read, context, access), context)
  const { server, answered, drain } = createConnections(listenerOf('network'), tls)
  const commands = createConnections(listenerOf('socket'), null)
  commands.server.maxConnections = MAX_COMMANDS
  const change = (settings: Config, tls: Tls | null) => {
    state.settings = settings
    if (tls) state.tls = tls
    state.isTrusted = trusting(settings['trusted-proxies'])
    server.maxConnections = connectionsOf(settings, log) + SPARE_CONNECTIONS
    if (tls && server instanceof SecureServer) server.setSecureContext(tls)
  }
  change(settings, tls)
  server.on('drop', metrics.dropped)
  const addresses = limitAddresses(server, {
    most: () => state.settings['max-connections-per-address'],
    all: () => server.maxConnections - SPARE_CONNECTIONS,
    answered,
    isTrusted: context.isTrusted,
    dropped: metrics.dropped,
    log,
  })
  const sweeping = startSweeping(deps, log)
  const stopPruning = startPruning(deps, log)
  const sumUp = () => {
    context.refusals.tell()
    sweeping.tell()
    addresses.tell()
    notifier.tell()
  }
  const summing = setInterval(sumUp, SUM_UP_EVERY)
  const stopClockwork = () => {
    sweeping.stop()
    stopPruning()
    clearInterval(summing)
    damage.stop()
    loop.stop()
    sumUp()
  }
  let stopCheckpointing = async () => {}
  try {
    await listen(server, settings)
    state.url = urlOf(server.address() as AddressInfo, tls)
    await listenOnSocket(commands.server, deps.db.file)
    state.clusters = await startWatching(state.settings, deps, log)
    const threadFailed = failed('the worker thread for checkpoints failed')
    stopCheckpointing = startCheckpointer(deps.db, { start: startThread, failed: threadFailed })
  } catch (error) {
    stopClockwork()
    for (const one of [server, commands.server]) one.close()
    await state.clusters?.close()
    await Promise.all([notifier.stop(), reader.close()])
    throw error
  }
  // Requests that arrive earlier wait until the live state is loaded.
  void engine.load().catch(failed('the live state could not be loaded'))
  const close = async (withGrace = false) => {
    state.isStopping = true
    await pause(withGrace ? state.settings['stop-grace'] : 0)
    const doors = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    state.held = Promise.all(doors.map(({ promise }) => promise)).then(() => {})
    // Ends event streams first, because open streams would never end by themselves.
    notices.close()
    // Slow reads are canceled, because the caller can repeat the request.
    await state.clusters?.close()
    await Promise.all([drain(doors[0].resolve), commands.drain(doors[1].resolve), reader.close(), notifier.stop()])
    await engine.close()
    await stopCheckpointing()
    stopClockwork()
  }
  return { engine, url: state.url, change, close }
}

/** A server without clusters loads nothing of this. */
async function startWatching({ kubernetes }: Config, { db, engine, now }: Deps, log: Log): Promise<Clusters | null> {
  if (kubernetes.length === 0) return null
  const { watchClusters } = await import('./kubernetes/clusters.ts')
  const warn = (cluster: string, problem: string) => log.warn({ cluster, problem }, 'a cluster is not fully watched')
  const inform = (cluster: string, what: string) => log.info({ cluster }, what)
  return watchClusters([...kubernetes], { db, engine, now, random: Math.random, warn, inform })
}

type Parts = Pick<ServerContext, 'log' | 'metrics' | 'notifier'> & {
  readonly damage: Damage
  readonly deps: Deps
  readonly notices: Notices
  readonly state: State
  readonly loop: Loop
}

function createContext({ deps, notices, state, loop, ...shared }: Parts): ServerContext {
  return {
    ...shared,
    pendingBodies: limitPendingBodies(),
    web: createWeb({
      version: programVersion(),
      program: programName(),
      csrfKey: deps.newSecret(),
      notices,
      ...{ load: webTexts, appIcon, icons: TAB_ICONS, manifest: APP_MANIFEST },
      settings: () => webSettings(state.settings),
      example: (now) => readRecorded(recordedText('example'), now),
    }),
    refusals: createRefusals(shared.log),
    wrongTokens: createWrongTokens(elapsed),
    elapsed,
    pause,
    newRequestId: numberRequests(deps.newSecret().slice(0, 8)),
    isTrusted: (address) => state.isTrusted(address),
    isStopping: () => state.isStopping,
    held: () => state.held,
    clusters: (organizationId) => state.clusters?.states(organizationId) ?? [],
    workloadNow: (organizationId, service) => state.clusters?.workload(organizationId, service) ?? null,
    listening: () => listeningOf(state),
    checks: () =>
      checkProcess({
        free: findFreeDisk(deps.db),
        minFree: state.settings['min-free-disk'],
        stalled: loop.stalled(),
        damage: shared.damage.detail(),
        isLoaded: deps.engine.isLoaded(),
        isStopping: state.isStopping,
      }),
  }
}

function listeningOf({ url, tls, settings }: State): Listening | null {
  if (url === null) return null
  return { url, publicUrl: settings['public-url'].replace(/\/+$/, '') || url, certificate: tls?.cert ?? null }
}

/** Returns the number of connections that the open file limit allows. Logs a warning if `max-connections` is higher. */
function connectionsOf({ 'max-connections': wanted }: Config, log: Log): number {
  const limit = descriptorLimit()
  const fitting = fittingConnections(wanted, limit)
  if (fitting < wanted) {
    log.warn(
      { 'max-connections': wanted, openFiles: limit },
      `max-connections is lowered to ${fitting}, because this process can open only ${limit} files; raise the limit (ulimit -n, LimitNOFILE in systemd)`,
    )
  }
  return fitting
}
