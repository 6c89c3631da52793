/** Fetches the graphs of incidents from Prometheus, one after the other, outside of all requests. */
import type { Deps } from '../actions/deps.ts'
import { type DueGraph, type GraphAnswer, keepGraph, listDueGraphs } from '../actions/graphs.ts'
import { type Network, post, SendError } from './post.ts'

/** How often incidents without a graph are looked for, in milliseconds. */
const LOOK_EVERY_MS = 2_000
const TIMEOUT_MS = 2_000
const MAX_BYTES = 1_048_576

type Options = {
  readonly network: () => Network
  readonly failed: (error: unknown) => void
  readonly worked: () => void
}

/** Starts fetching. Returns a function that stops it and resolves when no request is under way. */
export function startGraphs(deps: Deps, { network, failed, worked }: Options): () => Promise<void> {
  let work = Promise.resolve()
  let isBusy = false
  const look = () => {
    if (isBusy) return
    isBusy = true
    work = fetchGraphs(deps, network())
      .then(worked, failed)
      .finally(() => {
        isBusy = false
      })
  }
  const timer = setInterval(look, LOOK_EVERY_MS)
  return () => {
    clearInterval(timer)
    return work
  }
}

/** Fetches all due graphs once. */
export async function fetchGraphs(deps: Deps, network: Network): Promise<void> {
  for (const due of listDueGraphs(deps)) keepGraph(deps, due, await ask(due, network))
}

async function ask({ prometheusUrl, query }: DueGraph, network: Network): Promise<GraphAnswer> {
  const url = URL.parse(`${prometheusUrl.replace(/\/+$/, '')}/api/v1/query_range`)
  if (!url) return { failure: 'the URL of Prometheus is invalid' }
  const { expression, from, to, stepMs } = query
  const fields = {
    query: expression,
    start: `${from / 1000}`,
    end: `${to / 1000}`,
    step: `${stepMs / 1000}`,
    timeout: '2s',
  }
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' }
  try {
    const request = { body: new URLSearchParams(fields).toString(), headers }
    const { status, text } = await post(url, request, { ...network, timeoutMs: TIMEOUT_MS }, MAX_BYTES)
    if (Buffer.byteLength(text) >= MAX_BYTES) return { failure: 'the response is larger than 1 MiB' }
    // Prometheus explains a refused query in the body.
    const isExplained = status === 200 || (status >= 400 && text.startsWith('{"status":"error"'))
    return isExplained ? { text } : { failure: `Prometheus answered with the status ${status}` }
  } catch (error) {
    if (error instanceof SendError) return { failure: error.message }
    throw error
  }
}
