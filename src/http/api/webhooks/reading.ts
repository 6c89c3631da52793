/** Parses and reads the body of a webhook. For a long body, other requests are served between the steps. */
import { IncmonError } from '../../../domain/error.ts'
import type { Intake, Source } from '../../../domain/event/event.ts'
import { READERS, readInSteps } from '../../../intake/index.ts'
import { parseBody, parseInSteps } from '../../../intake/json.ts'
import { redact, redactRaw } from '../../../intake/redact.ts'

/** Reading this many bytes takes at most a few dozen milliseconds. */
const LONG = 131_072
const MAX_KEPT_BODY = 65_536

/**
 * `fault` is set if the whole body is unusable. It is then stored as one rejected item, so that a person can look at
 * it.
 */
export type ReadBody = { readonly intake: Intake; readonly fault: IncmonError | null }

export function isLong(bytes: Uint8Array): boolean {
  return bytes.length > LONG
}

export function read(source: Source, bytes: Uint8Array, receivedAt: number): ReadBody {
  const seen: ParseState = { bytes }
  try {
    seen.body = parseBody(bytes)
    return { intake: READERS[source](seen.body, receivedAt), fault: null }
  } catch (error) {
    return unusable(error, seen)
  }
}

/** Reads a long body step by step. `turn` resolves after other requests were served. */
export async function readLong(
  source: Source,
  bytes: Uint8Array,
  receivedAt: number,
  turn: () => Promise<void>,
): Promise<ReadBody> {
  try {
    const body = await inTurns(parseInSteps(bytes), turn)
    await turn()
    const steps = readInSteps(source, body, receivedAt, Math.ceil(bytes.length / LONG))
    return { intake: await inTurns(steps, turn), fault: null }
  } catch (error) {
    return unusable(error, { bytes })
  }
}

async function inTurns<Result>(steps: Generator<void, Result>, turn: () => Promise<void>): Promise<Result> {
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done) return step.value
    await turn()
  }
}

/** `body` is set once the bytes are valid JSON that is short enough to search for secrets. */
type ParseState = { readonly bytes: Uint8Array; body?: unknown }

function unusable(error: unknown, seen: ParseState): ReadBody {
  if (!(error instanceof IncmonError)) throw error
  const rejected = [{ index: 0, error: error.message, payload: keptOf(seen) }]
  return { intake: { accepted: [], rejected, group: null }, fault: error }
}

/** Returns the body for a rejected item. In valid JSON, secrets are also found by their key. */
function keptOf(seen: ParseState): unknown {
  if ('body' in seen) return redact(seen.body)
  return redactRaw(Buffer.from(seen.bytes.subarray(0, 2 * MAX_KEPT_BODY)).toString('utf8'), MAX_KEPT_BODY)
}
