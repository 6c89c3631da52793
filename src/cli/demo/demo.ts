/** incmon demo: a server for trying it out, with a week of history of a shop that goes on living. */

import { systemClock } from '../../deps.ts'
import { createProcessLog } from '../../server/log.ts'
import { listening } from '../../server/port.ts'
import { type Common, requireConfig } from '../database.ts'
import { print } from '../output.ts'
import { startDemo } from './run.ts'

/** How often the shop is looked after, in milliseconds. */
const EVERY = 5_000

/** Resolves once it listens; Ctrl-C ends the server and removes its files. */
export async function runDemo(options: Common & { readonly seed?: string }): Promise<void> {
  const settings = requireConfig(options)
  const { host, port } = settings
  const log = createProcessLog(options.json ? 'silent' : 'error')
  if (!options.json) print('Making a week of history. This takes some seconds.')
  const seed = Number(options.seed ?? 1)
  const demo = await listening(settings, () => startDemo({ settings, host, port, log, seed, now: systemClock }))
  let ended = false
  const timer = setInterval(() => {
    demo.goOn().catch((error) => log.error({ error }, 'the demo could not go on'))
  }, EVERY)
  const end = () => {
    // A terminal and npm each pass the same Ctrl-C on.
    if (ended) return
    ended = true
    clearInterval(timer)
    void demo.close().then(() => process.exit(0))
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  if (options.json) print(JSON.stringify({ url: demo.url, link: demo.link, token: demo.token }))
  else for (const line of words(demo)) print(line)
}

function words({
  url,
  link,
  token,
}: {
  readonly url: string
  readonly link: string
  readonly token: string
}): string[] {
  return [
    '',
    'Open this link in a browser. It signs you in, and works once within 30 minutes:',
    '',
    `  ${link}`,
    '',
    `Or sign in at ${url} with this token: ${token}`,
    'Everything here is made up, and is deleted when you press Ctrl-C.',
  ]
}
