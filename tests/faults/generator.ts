/** A load generator with kept-alive connections that counts responses by status and measures latencies. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { queuedBy } from '../bench/children.ts'
import { inCi } from '../helpers/in-ci.ts'
import type { Target } from './load.ts'

export type Reply = {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}
export type Tally = {
  readonly statuses: Map<number, number>
  /** The duration of each 200 response in milliseconds. */
  readonly times: number[]
  /** The number of connections that ended without a response. */
  broken: number
}

export type Generator = {
  readonly tally: Tally
  readonly post: (path: string, body: string | Buffer, more?: Readonly<Record<string, string>>) => Promise<Reply | null>
  /** Sends this many requests per second, whether or not the server keeps up. Resolves when all are answered. */
  readonly atRate: (perSecond: number, seconds: number, send: (number: number) => Promise<unknown>) => Promise<void>
  readonly close: () => void
}

/** @param address the local address to connect from */
export function createGenerator({ url, token }: Target, connections: number, address = '127.0.0.1'): Generator {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const tally: Tally = { statuses: new Map(), times: [], broken: 0 }
  const headers = { Authorization: `Bearer ${token}`, 'X-Ci-Token': token, 'Content-Type': 'application/json' }
  const post: Generator['post'] = (path, body, more = {}) =>
    new Promise<Reply | null>((resolve) => {
      const began = performance.now()
      const fail = () => {
        tally.broken += 1
        resolve(null)
      }
      const length = Buffer.byteLength(body)
      const sent = { ...headers, 'Content-Length': length, ...more }
      const options = { agent, method: 'POST', localAddress: address, headers: sent }
      const request = httpRequest(url + path, options, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', fail)
        response.on('end', () => {
          const status = response.statusCode ?? 0
          tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1)
          if (status === 200) tally.times.push(performance.now() - began)
          resolve({ status, headers: response.headers, text: Buffer.concat(chunks).toString() })
        })
      })
      request.on('error', fail)
      request.end(body)
    })
  const atRate: Generator['atRate'] = async (perSecond, seconds, send) => {
    const began = performance.now()
    const all: Promise<unknown>[] = []
    for (let number = 0; number < perSecond * seconds; ) {
      const due = Math.min(perSecond * seconds, ((performance.now() - began) / 1000) * perSecond)
      for (; number < due; number += 1) all.push(send(number))
      await pause(2)
    }
    await Promise.all(all)
  }
  return { tally, post, atRate, close: () => agent.destroy() }
}

/** Returns the quantile of the response times: the maximum time for this share of them, in milliseconds. */
export function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Returns the current and peak resident memory of a process in MB. */
export function memoryOf(pid: number): { readonly now: number; readonly highest: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1000)
  return { now: field('VmRSS'), highest: field('VmHWM') }
}

/** Resets the peak memory of a process to its current memory. */
export function resetHighest(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
}

/** Returns the targets of a process's open file descriptors: a path, or `socket:[…]`. */
export function descriptorsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)]
    } catch {
      // It was closed in the meantime.
      return []
    }
  })
}

/** Reports a measurement for a row of the table, with thousands separators. */
export function figure(t: { diagnostic: (text: string) => void }, number: number, text: string): void {
  t.diagnostic(`figure ${number}: ${text.replace(/\b\d{4,}\b/g, (digits) => Number(digits).toLocaleString('en-GB'))}`)
}

/** If the server spends a larger share of the time waiting for a CPU, its timings are not meaningful. */
const MAX_QUEUED = 0.15
const SAMPLE_MS = 20
/** In CI, the disk belongs to other machines, too. */
const JUDGES_TIME = inCi(false, true)

/**
 * Measures how long a server and the test itself wait for a CPU. The returned function fails if a time limit is not met.
 * If other programs kept the machine busy, and in CI, it reports the figures instead. `overMs` is the amount by which the
 * longest stall exceeds its limit: a single wait of this length explains it.
 */
export function judging(t: { diagnostic: (text: string) => void }, number: number, pid: number) {
  const began = performance.now()
  const watched = [watchQueue(pid), watchQueue(process.pid)]
  return (isMet: boolean, words: string, overMs = Number.POSITIVE_INFINITY) => {
    const waits = watched.map((stop) => stop())
    if (isMet) return
    const share = Math.max(...waits.map(({ total }) => total)) / (performance.now() - began)
    const longest = waits[0]?.longest ?? 0
    const waited = `it waited ${Math.round(share * 100)} % of the time for a processor, at most ${Math.round(longest)} ms in a row`
    if (JUDGES_TIME && share <= MAX_QUEUED && longest < overMs) throw new Error(`${words}; ${waited}`)
    t.diagnostic(`unjudged ${number}: ${words}; ${waited}`)
  }
}

/** Measures how long a process waits for a CPU, in milliseconds, until it ends or the returned function is called. */
function watchQueue(pid: number): () => { readonly total: number; readonly longest: number } {
  const first = queuedBy({ pid })
  let [last, longest] = [first, 0]
  const look = () => {
    try {
      const now = queuedBy({ pid })
      longest = Math.max(longest, now - last)
      last = now
    } catch {
      // The process has ended.
      clearInterval(sampler)
    }
  }
  const sampler = setInterval(look, SAMPLE_MS).unref()
  return () => {
    look()
    clearInterval(sampler)
    return { total: last - first, longest }
  }
}
