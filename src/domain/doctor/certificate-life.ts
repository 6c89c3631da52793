/** The certificate of the server: whether callers take it today, and what to do before they no longer do. */
import { formatInstant } from '../instant.ts'

/** Times in milliseconds UTC; `fingerprint` tells two apart. */
export type Certificate = { readonly from: number; readonly until: number; readonly fingerprint: string }

/** `text` goes on after the name of the certificate; `isRefused`: by callers, today. */
export type Trouble = { readonly isRefused: boolean; readonly text: string; readonly remedy: string }

const DAY = 86_400_000
/** Who renews by machine does so earlier; a person needs two weeks at most. */
const SOON = 14 * DAY

const RENEW = 'put a renewed one with its key in its place, and send the server SIGHUP'

/** Null where callers take it, for more than 14 days to come. `now` in milliseconds UTC. */
export function troubleOf({ from, until }: Certificate, now: number): Trouble | null {
  const end = formatInstant(until)
  if (until <= now) return { isRefused: true, text: `expired on ${end}: callers refuse it`, remedy: RENEW }
  if (from > now) {
    const text = `is valid only from ${formatInstant(from)}: callers refuse it until then`
    return { isRefused: true, text, remedy: 'look at the clock of this machine, or make the certificate anew' }
  }
  return until - now <= SOON ? { isRefused: false, text: `expires on ${end}, within 14 days`, remedy: RENEW } : null
}

/** Of a running server that was not told of a renewal, or null. `file`: what it is configured with. */
export function differenceOf(shown: Certificate, file: string, held: Certificate): Omit<Trouble, 'isRefused'> | null {
  if (shown.fingerprint === held.fingerprint) return null
  return { text: `is another one than ${file}`, remedy: 'send the server SIGHUP, so that it takes the file into use' }
}
