/** Checks the certificate in the file and the certificate of the running server. */

import { formatInstant } from '../instant.ts'
import { certificateFaultOf, differenceOf } from './certificate-life.ts'
import { type DoctorFacts, type Finding, fail, ok, warn } from './facts.ts'

/** Returns nothing if the server uses plain HTTP. */
export function diagnoseCertificate({ certificate, port, now }: DoctorFacts): Finding[] {
  if (certificate === null) return []
  if ('fault' in certificate) {
    return [
      fail('certificate', certificate.fault, 'fix it: otherwise the server cannot start, and SIGHUP has no effect'),
    ]
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
  const text = `the certificate of the server ${difference.text}, valid until ${formatInstant(shown.until)}`
  return [inFile, (isRefused ? fail : warn)('certificate', text, difference.remedy)]
}
