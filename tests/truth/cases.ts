/** Recorded incidents with a known cause: one directory per case, with the requests and the truth about them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Source } from '../../src/domain/event/event.ts'

/** One recorded webhook request. */
export type Sent = { readonly t: string; readonly endpoint: Source; readonly body: unknown }

/** The truth about a case: the root-cause object or change, and the state of the workloads at the time of recording. */
export type Truth = {
  readonly capturedAt?: string
  readonly detectedAt?: string
  readonly rootCause: { readonly object: string; readonly change?: string }
  /** Keyed by workload, as `name` or `namespace/name`. Missing if it was not recorded. */
  readonly health?: Readonly<Record<string, { readonly desired?: number; readonly available?: number }>>
}

export type Case = { readonly name: string; readonly requests: readonly Sent[]; readonly truth: Truth }

/**
 * Returns the data sets in a directory by name: the directory itself if it contains `cases/`, or else its
 * subdirectories that do.
 */
export function readDataSets(directory: string): ReadonlyMap<string, readonly Case[]> {
  const own = existsSync(join(directory, 'cases'))
  const names = own ? ['.'] : readdirSync(directory).filter((name) => existsSync(join(directory, name, 'cases')))
  return new Map(names.sort().map((name) => [own ? directory : name, readCases(join(directory, name, 'cases'))]))
}

/**
 * Returns when the truth was recorded or when the last request was sent, whichever is later, as Unix time in
 * milliseconds.
 */
export function captureOf({ requests, truth }: Case): number {
  const last = Date.parse(requests.at(-1)?.t ?? '')
  return Math.max(last, Date.parse(truth.capturedAt ?? truth.detectedAt ?? '') || last)
}

function readCases(directory: string): Case[] {
  const names = readdirSync(directory).filter((name) => existsSync(join(directory, name, 'truth.json')))
  return names.sort().map((name) => {
    const lines = readFileSync(join(directory, name, 'requests.jsonl'), 'utf8')
      .trim()
      .split('\n')
    const requests = lines.map((line): Sent => JSON.parse(line))
    return { name, requests, truth: JSON.parse(readFileSync(join(directory, name, 'truth.json'), 'utf8')) }
  })
}
