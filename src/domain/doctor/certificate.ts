/** Diagnosis of the certificate: the one in the file, and whether the running server shows it. */

import { formatInstant } from '../instant.ts'
import { differenceOf, troubleOf } from './certificate-life.ts'
import { type Facts, type Finding, fail, ok, warn } from './facts.ts'

/** Nothing where plain HTTP is spoken. */
export function diagnoseCertificate({ certificate, port, now }: Facts): Finding[] {
  if (certificate === null) return []
  if ('fault' in certificate) {
    return [fail('certificate', certificate.fault, 'until then no server starts, and SIGHUP changes nothing')]
  }
  const { file, held } = certificate
  const trouble = troubleOf(held, now)
  const inFile = trouble
    ? (trouble.isRefused ? fail : warn)('certificate', `${file} ${trouble.text}`, trouble.remedy)
    : ok('certificate', `${file} is valid until ${formatInstant(held.until)}`)
  const shown = port.state === 'incmon' ? port.certificate : null
  const difference = shown && differenceOf(shown, file, held)
  if (!shown || !difference) return [inFile]
  const isRefused = troubleOf(shown, now)?.isRefused ?? false
  const text = `what the server shows ${difference.text}, valid until ${formatInstant(shown.until)}`
  return [inFile, (isRefused ? fail : warn)('certificate', text, difference.remedy)]
}
