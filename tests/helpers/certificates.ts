/** Creates certificates for this machine with openssl. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from './store.ts'

/**
 * Creates a self-signed certificate for 127.0.0.1 with its key. `name` is its subject. If `days` is negative, the
 * certificate has expired.
 */
export function makeCertificate(t: Parameters<typeof temporaryDirectory>[0], name = 'incmon', days = 30) {
  const directory = temporaryDirectory(t)
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') }
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-out', files.cert, '-keyout', files.key],
    ],
    { stdio: 'ignore' },
  )
  // Only re-signing allows a date in the past.
  const dated = ['x509', '-in', files.cert, '-signkey', files.key, '-days', String(days), '-out', files.cert]
  execFileSync('openssl', dated, { stdio: 'ignore' })
  return { ...files, pem: readFileSync(files.cert, 'utf8'), directory }
}
