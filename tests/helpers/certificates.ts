/** Certificates for this machine, made by openssl when a test asks for them. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from './store.ts'

/** A certificate that counts for 127.0.0.1, signed by itself, and its key; `name` stands in it. */
export function makeCertificate(t: Parameters<typeof temporaryDirectory>[0], name = 'incmon') {
  const directory = temporaryDirectory(t)
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') }
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-out', files.cert, '-keyout', files.key],
    ],
    { stdio: 'ignore' },
  )
  return { ...files, pem: readFileSync(files.cert, 'utf8'), directory }
}
