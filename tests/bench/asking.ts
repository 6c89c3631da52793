/** Sends requests to a running server one at a time. Any error response ends the benchmark. */
import { type Agent, get, type IncomingHttpHeaders } from 'node:http'
import { SEEDED_NOW } from './seed.ts'
import type { Server } from './servers.ts'

/** A slow read is repeated only until this much time has passed. */
const MAX_TOTAL_MS = 15_000
const DAY = 86_400_000

type Answer = { readonly status: number; readonly text: string; readonly headers: IncomingHttpHeaders }
export type Get = (path: string) => Promise<Answer>

/** Repeats a request up to `most` times. Returns the duration of each in milliseconds. */
export async function timesOf(ask: Get, path: string, most: number): Promise<number[]> {
  const times: number[] = []
  const until = performance.now() + MAX_TOTAL_MS
  for (let time = 0; time < most && performance.now() < until; time += 1) {
    const started = performance.now()
    const { status, text } = await ask(path)
    times.push(performance.now() - started)
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text.slice(0, 300)}`)
  }
  return times
}

/** @throws Error if the status is not 200 */
export async function json(ask: Get, path: string): Promise<unknown> {
  const { status, text } = await ask(path)
  if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text.slice(0, 300)}`)
  return JSON.parse(text)
}

/** Returns a function that sends GET requests through the agent's connection. */
export function askOf(
  { url, token }: Server,
  agent: Agent,
  headers: Readonly<Record<string, string>> = { Authorization: `Bearer ${token}` },
): Get {
  return (path) =>
    new Promise((resolve, reject) => {
      const request = get(url + path, { agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const { statusCode: status = 0, headers } = response
          resolve({ status, text: Buffer.concat(chunks).toString('utf8'), headers })
        })
      })
      request.on('error', reject)
    })
}

export function instant(daysAgo: number): string {
  return new Date(SEEDED_NOW - daysAgo * DAY).toISOString()
}
