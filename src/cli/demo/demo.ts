/** incmon demo: starts a server with 90 days of an example shop's history. The shop keeps sending events. */

import { systemClock } from '../../deps.ts'
import { listening } from '../../server/connection/port.ts'
import { createProcessLog } from '../../server/log.ts'
import { requireConfig } from '../database.ts'
import type { Common } from '../hint.ts'
import { print } from '../output.ts'
import { type Demo, startDemo } from './run.ts'

const UPDATE_INTERVAL_MS = 2_000

/** Resolves when the server is listening. Ctrl-C stops the server and deletes its files. */
export async function runDemo(options: Common): Promise<void> {
  const settings = requireConfig(options)
  const log = createProcessLog(options.json ? 'silent' : 'error')
  let demo: Demo | null = null
  let timer: NodeJS.Timeout | undefined
  let ended = false
  const end = async () => {
    // The terminal and npm both send a signal for the same Ctrl-C.
    if (ended) return
    ended = true
    clearInterval(timer)
    // The files are deleted on exit, even if the server could not be closed.
    await demo?.close().catch((error) => log.error({ error }, 'the demo server could not be stopped cleanly'))
    process.exit(0)
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  if (!options.json) print('Creating 90 days of example data. This takes a few seconds.')
  const made = await listening(settings, () => startDemo({ settings, log, now: systemClock }))
  demo = made
  timer = setInterval(() => {
    made.goOn().catch((error) => log.error({ error }, 'the demo could not send further example data'))
  }, UPDATE_INTERVAL_MS)
  if (options.json) print(JSON.stringify({ url: made.url, link: made.link, token: made.token }))
  else for (const line of words(made)) print(line)
}

function words({ url, link, token }: Demo): string[] {
  return [
    '',
    'Open this link in a browser to sign in. It works once and expires after 30 minutes:',
    '',
    `  ${link}`,
    '',
    `Or sign in at ${url} with this token: ${token}`,
    'All data is fictional. Press Ctrl-C to stop the server and delete the data.',
  ]
}
