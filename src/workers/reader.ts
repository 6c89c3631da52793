/**
 * Runs slow queries in worker threads, so that other requests do not have to wait. All other queries run immediately.
 */
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../assets.ts'
import { IncmonError } from '../domain/error.ts'
import { TURNS } from '../domain/request/turns.ts'
import { findAlertsJson } from '../store/alertmanager/alerts.ts'
import { findGroupsJson } from '../store/alertmanager/groups.ts'
import { listCorrelations } from '../store/correlation/correlations.ts'
import { listEvents } from '../store/events.ts'
import { findAlertGroups, findServiceGroups } from '../store/history/alert-groups.ts'
import { listConditions, listMatchingAlerts } from '../store/history/alert-search.ts'
import { findGroup, findGroups } from '../store/incident/groups.ts'
import { findIncidentBrief, findIncidentView } from '../store/incident/incident-view.ts'
import { listIncidents } from '../store/incident/incidents.ts'
import { findLikelyCause } from '../store/incident/likely-cause.ts'
import { findReliability } from '../store/incident/report.ts'
import { findCauses, findSuspects } from '../store/incident/suspects.ts'
import { findTimeline } from '../store/incident/timeline-facts.ts'
import { generateDuePostmortem } from '../store/live/postmortem.ts'
import { type Query, type Read, readHere } from '../store/read.ts'
import { listRejections } from '../store/rejections.ts'
import { findMutedCount, findSilencePreview } from '../store/silence-preview.ts'
import { findCountedSilence } from '../store/silences.ts'
import type { Db } from '../store/sqlite/open.ts'
import { findDamage } from '../store/sqlite/sound.ts'
import { findIncidentRecords } from '../store/views.ts'

// The slow queries, which run in worker threads with their own connections. All other queries run on the main thread.

/** Each lane has its own thread, so that a list of events does not wait for a search. */
const LANES = ['search', 'list', 'view', 'postmortem'] as const
type Lane = (typeof LANES)[number]

/** Arguments and results must be plain values that can be passed between threads. */
const QUERIES: Readonly<Record<Lane, Readonly<Record<string, Query>>>> = {
  /** Queries that can scan all alerts of a service or period, which takes up to a minute for ten million alerts. */
  search: { listMatchingAlerts, listConditions, findSilencePreview, findDamage },
  /** Queries that count rows with an index, or list all live alerts, which takes up to a second. */
  list: { listEvents, findCountedSilence, findAlertGroups, findAlertsJson, findGroupsJson },
  /** Queries for incidents and changes. There are few such records, so these queries take milliseconds. */
  view: {
    ...{ listIncidents, listCorrelations, listRejections, findReliability, findIncidentRecords },
    ...{ findCauses, findSuspects, findTimeline, findIncidentView, findIncidentBrief, findLikelyCause, findGroup },
    ...{ findGroups, findMutedCount, findServiceGroups },
  },
  /** Whoever resolves an incident waits for this query, so the query must not wait for pages. */
  postmortem: { generateDuePostmortem },
}

/** A slow query, with the name by which the worker thread finds the query. */
type SlowQuery = { readonly lane: Lane; readonly name: string; readonly query: Query }

const ALL = LANES.flatMap((lane) => Object.entries(QUERIES[lane]).map(([name, query]) => ({ lane, name, query })))
const BY_QUERY: ReadonlyMap<Query, SlowQuery> = new Map(ALL.map((one) => [one.query, one]))
const BY_NAME: ReadonlyMap<string, SlowQuery> = new Map(ALL.map((one) => [one.name, one]))

export function queryByName(name: string): Query {
  const found = BY_NAME.get(name)
  if (!found) throw new Error(`there is no slow query ${name}`)
  return found.query
}

export type Question = { readonly name: string; readonly args: readonly unknown[] }
export type Answer = { readonly result: unknown } | { readonly error: unknown; readonly code: string }

export type Reader = {
  /**
   * @throws IncmonError `unavailable` if too many queries are waiting or the thread has ended; otherwise, the query's
   * error
   */
  readonly read: Read
  /** Stops the threads. Waiting queries are rejected. */
  readonly close: () => Promise<void>
}

type PendingQuestion = Question & {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Times are in milliseconds; null means that there is no limit. */
type Limits = {
  readonly maxWaiting: number
  /** The time after which the thread of a query is ended. */
  readonly maxMs: number | null
  /** The time without queries after which the thread is ended. The next query starts a new one. */
  readonly idleMs: number | null
}

export const LIMITS: Readonly<Record<Lane, Limits>> = {
  // A thread that has read the whole database keeps 20 MB of memory.
  search: { maxWaiting: 32, maxMs: null, idleMs: 10_000 },
  list: { maxWaiting: 32, maxMs: null, idleMs: null },
  // In an outage, a start page needs a view of each open incident, and several people open it at the same time.
  view: { maxWaiting: 1_000, maxMs: null, idleMs: null },
  // On a busy machine, a postmortem for 25,000 alerts takes three seconds. The limit is high, because the main thread
  // then has to do the same work. In an outage, the 20 MB of the thread are needed for other things until one is resolved.
  postmortem: { maxWaiting: 32, maxMs: 60_000, idleMs: 60_000 },
}

/** Called with the reason why a thread failed. */
type Failed = (error: unknown) => void

/** Creates a reader with one lane for each name in `LANES`. A lane starts its worker thread with its first query. */
export function createReader(db: Db, start = startWorker, failed: Failed = () => {}, limits = LIMITS): Reader {
  const startReading = () => start('read', db.file)
  const lanes = new Map(LANES.map((lane) => [lane, createLane(startReading, failed, limits[lane])]))
  const read = readHere(db)
  return {
    read: (query, ...args) => {
      const slow = BY_QUERY.get(query)
      if (!slow) return read(query, ...args)
      return new Promise((resolve, reject) => {
        const ask = lanes.get(slow.lane)?.ask
        // What was read is rendered at once. Several results in one turn would keep other requests waiting.
        ask?.({ name: slow.name, args, resolve: (result) => TURNS.later(() => resolve(result as never)), reject })
      })
    },
    close: async () => void (await Promise.all([...lanes.values()].map(({ close }) => close()))),
  }
}

/** Runs one query at a time. If the thread ends, only the current query fails, and the next query starts a new thread. */
function createLane(start: () => Worker, failed: Failed, { maxWaiting, maxMs, idleMs }: Limits) {
  let waiting: PendingQuestion[] = []
  let current: PendingQuestion | null = null
  let worker: Worker | null = null
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const next = () => {
    clearTimeout(timer)
    current = waiting.shift() ?? null
    if (!current) {
      if (idleMs !== null) timer = setTimeout(rest, idleMs).unref()
      return
    }
    const { name, args } = current
    const thread = begin()
    if (!thread) return ended()
    thread.postMessage({ name, args } satisfies Question)
    if (maxMs !== null) timer = setTimeout(giveUp, maxMs, maxMs)
  }

  /** Does not wait for the thread to end, because a thread can hang in SQLite. */
  const giveUp = (ms: number) => {
    const hanging = worker
    failed(new Error(`${current?.name} took longer than ${ms} ms`))
    ended()
    void hanging?.terminate()
  }

  const rest = () => {
    const idle = worker
    worker = null
    void idle?.terminate()
  }

  const ended = () => {
    worker = null
    current?.reject(unavailable('the reader thread ended'))
    next()
  }

  /** Returns null if no thread can be created, for example because the limit for threads is reached. */
  const begin = (): Worker | null => {
    try {
      worker ??= started()
    } catch (error) {
      failed(error)
    }
    return worker
  }

  const started = (): Worker => {
    const made = start()
    made.on('message', (answer: Answer) => {
      if (worker !== made) return
      if ('error' in answer) current?.reject(withCode(answer))
      else current?.resolve(answer.result)
      next()
    })
    made.on('error', failed)
    made.on('exit', () => {
      if (worker === made) ended()
    })
    return made
  }

  return {
    ask: (one: PendingQuestion) => {
      if (closed) return one.reject(unavailable('incmon is stopping'))
      if (waiting.length >= maxWaiting) return one.reject(unavailable('too many slow reads are pending'))
      waiting.push(one)
      if (!current) next()
    },
    close: async () => {
      closed = true
      for (const { reject } of [...(current ? [current] : []), ...waiting]) reject(unavailable('incmon is stopping'))
      waiting = []
      clearTimeout(timer)
      await worker?.terminate()
    },
  }
}

function withCode({ error, code }: Extract<Answer, { error: unknown }>): unknown {
  if (!(error instanceof Error)) return error
  // The class of an error is lost between threads.
  if (code === 'invalid') return new IncmonError(code, error.message)
  return code.startsWith('SQLITE_') ? Object.assign(error, { code }) : error
}

function unavailable(why: string): IncmonError {
  return new IncmonError(
    'unavailable',
    `${why}: try again in a few seconds, if possible with a shorter period (from, to)`,
  )
}
