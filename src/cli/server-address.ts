/** Where the running server is found: as it was named, else as the configuration says. */
import { type Config, clientVariables } from '../config.ts'
import { type Common, requireConfig } from './database.ts'
import { UsageError } from './failure.ts'

/** `--url`, else INCMON_URL, else the configured host and port; without a slash at the end. */
export function serverAddress(options: Common & { readonly url?: string }): string {
  const config = requireConfig(options)
  const base = options.url ?? clientVariables().url ?? addressOf(config)
  const parsed = URL.canParse(base) ? new URL(base) : null
  if (parsed && /^https?:$/.test(parsed.protocol) && parsed.username === '') {
    return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
  }
  throw new UsageError(`--url: ${base} is no address: allowed are such as http://127.0.0.1:8080, without a password`)
}

/** Who listens on every address of the machine is found on its own. */
export function addressOf({ host, port, 'tls-cert': certificate }: Pick<Config, 'host' | 'port' | 'tls-cert'>): string {
  if (port === 0)
    throw new UsageError('the configured port is 0, any free one: name the server with --url or INCMON_URL')
  const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `${certificate === '' ? 'http' : 'https'}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}
