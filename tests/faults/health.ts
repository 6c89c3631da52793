/**
 * Asks a server for /healthz all the time, in a process of its own, so that neither the clients in the test nor other
 * programs are taken for silence of the server: `health.ts URL PID NEW` prints its measurement when its input ends.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { queuedBy } from '../bench/children.ts'

/** The longest time without an answer, in milliseconds. */
export const MAX_STALL = 100

type Watched = {
  /** The longest response time in ms, less the time in which the server and this process waited for a processor. */
  readonly silent: number
  /** The same, and the longest response time with these waits, for the table. */
  readonly words: string
}
const PAUSE_MS = 5

/** @param isNew whether each request needs a new connection */
export async function watchHealth(
  t: { after: (work: () => void) => void },
  { url, pid }: { readonly url: string; readonly pid: number },
  isNew = false,
): Promise<() => Promise<Watched>> {
  const args = [import.meta.filename, url, String(pid), isNew ? 'new' : 'kept']
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => void child.kill())
  await once(child.stdout, 'readable')
  child.stdout.read()
  return async () => {
    child.stdin.end()
    return JSON.parse(await text(child.stdout))
  }
}

async function watch(url: string, pid: number, isNew: boolean): Promise<Watched> {
  const agent = new Agent({ keepAlive: !isNew, maxSockets: 1 })
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const asked = get(`${url}/healthz`, { agent }, (response) => response.resume().on('end', resolve))
      asked.on('error', reject)
    })
  const waiting = () => queuedBy({ pid }) + queuedBy({ pid: process.pid })
  await ask()
  process.stdout.write('\n')
  let [silent, longest, isDone] = [0, 0, false]
  process.stdin.resume().on('end', () => {
    isDone = true
  })
  while (!isDone) {
    const [began, waited] = [performance.now(), waiting()]
    await ask()
    const took = performance.now() - began
    longest = Math.max(longest, took)
    silent = Math.max(silent, took - (waiting() - waited))
    await pause(PAUSE_MS)
  }
  agent.destroy()
  const [own, all] = [Math.round(silent), Math.round(longest)]
  return { silent: own, words: `/healthz at most ${own} ms (${all} with waits for a processor)` }
}

const [, program, url = '', pid, kind] = process.argv
if (program === import.meta.filename) console.log(JSON.stringify(await watch(url, Number(pid), kind === 'new')))
