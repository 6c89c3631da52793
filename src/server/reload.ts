/** SIGHUP: reloads the configuration and the certificate, and applies all settings that can be changed at run time. */
import { type Config, type Flags, readConfig } from '../config.ts'
import type { Running } from '../serve.ts'
import { readTls } from './connection/tls.ts'
import type { Log } from './log.ts'

/** Settings that take effect only after a restart. */
const FIXED = ['host', 'port', 'database'] as const

/** Reloads the configuration on each SIGHUP. @param started the configuration with which the server was started */
export function reloadBySignal(
  running: Running,
  options: { readonly flags: Flags; readonly started: Config; readonly log: Log; readonly now: () => number },
): void {
  process.on('SIGHUP', () => reload(running, options))
}

/** Applies all changes, or none if there is an error. Logs the result in one line. */
function reload(running: Running, options: Parameters<typeof reloadBySignal>[1]): void {
  const { flags, started, log, now } = options
  const read = readConfig({ flags })
  if ('faults' in read) {
    log.error({ faults: read.faults }, 'the configuration was not reloaded and nothing has changed')
    return
  }
  const { config } = read
  const certificate = readTls({ cert: config['tls-cert'], key: config['tls-key'] }, now())
  if ('fault' in certificate) {
    log.error({ faults: [certificate.fault] }, 'the configuration was not reloaded and nothing has changed')
    return
  }
  const { tls, warning } = certificate
  log.level = config['log-level']
  running.change(config, tls)
  const waiting = FIXED.filter((name) => config[name] !== started[name]).map(String)
  if ((tls === null) !== (started['tls-cert'] === '')) waiting.push('tls-cert')
  const happening = { ...(waiting.length > 0 ? { 'after a restart': waiting } : {}), ...(warning ? { warning } : {}) }
  if (warning) log.warn(happening, 'reloaded')
  else log.info(happening, 'reloaded')
}
