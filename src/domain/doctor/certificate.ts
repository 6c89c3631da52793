/** Compares the certificate on disk with the certificate that the server presents, and checks its validity. */
import { formatInstant } from '../instant.ts'
import { DAY } from '../units.ts'
import { type DoctorFacts, type Finding, fail, ok, warn } from './facts.ts'

/** Returns no findings if the server uses plain HTTP. */
export function diagnoseCertificate({ certificate, port, now }: DoctorFacts): Finding[] {
  if (certificate === null) return []
  if ('fault' in certificate) {
    const remedy = 'correct the setting or the file; until then, the server cannot start and ignores SIGHUP'
    return [fail('certificate', certificate.fault, remedy)]
  }
  const { file, held } = certificate
  const trouble = certificateFaultOf(held, now)
  const inFile = trouble
    ? (trouble.isRefused ? fail : warn)('certificate', `${file} ${trouble.text}`, trouble.remedy)
    : ok('certificate', `${file} is valid until ${formatInstant(held.until)}`)
  const shown = port.state === 'incmon' ? port.certificate : null
  const difference = shown && differenceOf(shown, file, held)
  if (!shown || !difference) return [inFile]
  const isRefused = certificateFaultOf(shown, now)?.isRefused ?? false
  const text = `the server's certificate ${difference.text}, valid until ${formatInstant(shown.until)}`
  return [inFile, (isRefused ? fail : warn)('certificate', text, difference.remedy)]
}

/** Times in ms UTC. */
export type Certificate = { readonly from: number; readonly until: number; readonly fingerprint: string }

/** `text`: the words after the name of the certificate. `isRefused`: clients currently reject the certificate. */
type CertificateFault = { readonly isRefused: boolean; readonly text: string; readonly remedy: string }

/**
 * A certificate that expires sooner than this is reported. Automatic renewal happens earlier, and manual renewal can
 * take up to two weeks.
 */
const SOON = 14 * DAY

const RENEW = 'renew the certificate and its key, then send SIGHUP to the server'

/** Returns null if the certificate is valid now and for another 14 days. `now` is in ms UTC. */
export function certificateFaultOf({ from, until }: Certificate, now: number): CertificateFault | null {
  const end = formatInstant(until)
  if (until <= now) return { isRefused: true, text: `expired on ${end}: clients reject it`, remedy: RENEW }
  if (from > now) {
    const text = `is not valid before ${formatInstant(from)}: clients reject it until then`
    return { isRefused: true, text, remedy: 'check the clock of this machine, or create a new certificate' }
  }
  return until - now <= SOON ? { isRefused: false, text: `expires on ${end}, within 14 days`, remedy: RENEW } : null
}

/** Returns a finding if the server presents a different certificate from the one in `file`; otherwise null. */
export function differenceOf(
  shown: Certificate,
  file: string,
  held: Certificate,
): Omit<CertificateFault, 'isRefused'> | null {
  if (shown.fingerprint === held.fingerprint) return null
  return { text: `is not the certificate in ${file}`, remedy: 'send SIGHUP to the server to load the file' }
}
