/** Checks whether clients accept a certificate now and in the next days. */
import { formatInstant } from '../instant.ts'

/** Times in ms UTC. `fingerprint` distinguishes certificates. */
export type Certificate = { readonly from: number; readonly until: number; readonly fingerprint: string }

/** `text` follows the name of the certificate. `isRefused`: clients refuse it now. */
export type CertificateFault = { readonly isRefused: boolean; readonly text: string; readonly remedy: string }

const DAY = 86_400_000
/** Automatic renewal happens earlier. A person needs up to two weeks. */
const SOON = 14 * DAY

const RENEW = 'replace it and its key with renewed files, then send SIGHUP to the server'

/** Returns null if clients accept the certificate for more than 14 days. `now` in ms UTC. */
export function certificateFaultOf({ from, until }: Certificate, now: number): CertificateFault | null {
  const end = formatInstant(until)
  if (until <= now) return { isRefused: true, text: `expired on ${end}: clients refuse it`, remedy: RENEW }
  if (from > now) {
    const text = `is valid only from ${formatInstant(from)}: clients refuse it until then`
    return { isRefused: true, text, remedy: 'check the clock of this machine, or create the certificate again' }
  }
  return until - now <= SOON ? { isRefused: false, text: `expires on ${end}, within 14 days`, remedy: RENEW } : null
}

/** Returns a finding if the server uses another certificate than the one in `file`, else null. */
export function differenceOf(
  shown: Certificate,
  file: string,
  held: Certificate,
): Omit<CertificateFault, 'isRefused'> | null {
  if (shown.fingerprint === held.fingerprint) return null
  return { text: `is not the one in ${file}`, remedy: 'send SIGHUP to the server, so that it uses the file' }
}
