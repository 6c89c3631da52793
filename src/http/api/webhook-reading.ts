/** What the body of a webhook says: read at once, or, where it is long, with a turn for everybody else in between. */
import { IncmonError } from '../../domain/error.ts'
import type { Intake, Source } from '../../domain/event/event.ts'
import { READERS, readInSteps } from '../../intake/index.ts'
import { parseBody } from '../../intake/json.ts'
import { redact, redactRaw } from '../../intake/redact.ts'

/** Bytes that are read in a few dozen milliseconds, whatever they are. */
const LONG = 131_072
const MAX_KEPT_BODY = 65_536

/** `fault`: why nothing of it can be used; the body is then one rejected item, so that it can be looked at later. */
export type Read = { readonly intake: Intake; readonly fault: IncmonError | null }

export function isLong(bytes: Uint8Array): boolean {
  return bytes.length > LONG
}

export function read(source: Source, bytes: Uint8Array, receivedAt: number): Read {
  const seen: Seen = { bytes }
  try {
    seen.body = parseBody(bytes)
    return { intake: READERS[source](seen.body, receivedAt), fault: null }
  } catch (error) {
    return unusable(error, seen)
  }
}

/** The same, step by step. `turn` resolves once others have had theirs. */
export async function readLong(
  source: Source,
  bytes: Uint8Array,
  receivedAt: number,
  turn: () => Promise<void>,
): Promise<Read> {
  const seen: Seen = { bytes }
  try {
    seen.body = parseBody(bytes)
    await turn()
    const steps = readInSteps(source, seen.body, receivedAt, Math.ceil(bytes.length / LONG))
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) return { intake: step.value, fault: null }
      await turn()
    }
  } catch (error) {
    return unusable(error, seen)
  }
}

/** What was found so far; `body`: once it is known to be JSON. */
type Seen = { readonly bytes: Uint8Array; body?: unknown }

function unusable(error: unknown, seen: Seen): Read {
  if (!(error instanceof IncmonError)) throw error
  const rejected = [{ index: 0, error: error.message, payload: keptOf(seen) }]
  return { intake: { accepted: [], rejected, group: null }, fault: error }
}

/** As text unless it is JSON: then secrets are found by their place as well. */
function keptOf(seen: Seen): unknown {
  if ('body' in seen) return redact(seen.body)
  return redactRaw(Buffer.from(seen.bytes.subarray(0, MAX_KEPT_BODY)).toString('utf8'))
}
