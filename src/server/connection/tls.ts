/** TLS: reads the certificate and key, and validates them before use. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { readSmallFile } from '../../config.ts'
import { type Certificate, certificateFaultOf } from '../../domain/doctor/certificate.ts'

/** Options for node:https. */
export type Tls = { readonly cert: string; readonly key: string; readonly minVersion: 'TLSv1.2' }

/** `warning` explains in one line why clients reject a valid certificate, or will reject it soon. */
type ReadTls =
  | { readonly tls: Tls; readonly certificate: Certificate; readonly warning: string | null }
  /** The server uses plain HTTP. */
  | { readonly tls: null; readonly certificate: null; readonly warning: null }
  | { readonly fault: string }

/**
 * Reads the certificate and its private key.
 * @param files the paths of both files, or '' for a file that is not set; setting only one file is an error
 * @param now Unix time in milliseconds, to check whether the certificate has expired
 */
export function readTls(files: { readonly cert: string; readonly key: string }, now: number): ReadTls {
  if (files.cert === '' && files.key === '') return { tls: null, certificate: null, warning: null }
  if (files.cert === '') return { fault: 'tls-key is set but tls-cert is not: set both for HTTPS, or neither' }
  if (files.key === '') return { fault: 'tls-cert is set but tls-key is not: set both for HTTPS, or neither' }
  try {
    const cert = textOf(files.cert, 'tls-cert')
    const key = textOf(files.key, 'tls-key')
    const parsed = certificateIn(cert, files.cert)
    if (!parsed.checkPrivateKey(keyIn(key, files.key))) {
      throw new Fault(
        `${files.key} does not match the certificate ${files.cert}: use a certificate and a key that belong together`,
      )
    }
    const tls = { cert, key, minVersion: 'TLSv1.2' } as const
    refuseUnusable(tls, files.cert)
    const certificate = certificateOf(parsed)
    const trouble = certificateFaultOf(certificate, now)
    return { tls, certificate, warning: trouble && `${files.cert} ${trouble.text}: ${trouble.remedy}` }
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message }
    throw error
  }
}

/** Returns the checked fields of a certificate. */
export function certificateOf({ validFromDate, validToDate, fingerprint256 }: X509Certificate): Certificate {
  return { from: validFromDate.getTime(), until: validToDate.getTime(), fingerprint: fingerprint256 }
}

class Fault extends Error {}

function textOf(file: string, name: string): string {
  try {
    return readSmallFile(file)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error
    throw new Fault(`${file} cannot be read (${code}): set ${name} to a readable PEM file`)
  }
}

/** Returns the first certificate in the file, which is the server's own. The chain follows the server's certificate. */
function certificateIn(text: string, file: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw new Fault(
      text.includes('-----BEGIN CERTIFICATE-----')
        ? `${file} is damaged or truncated: replace it with a complete certificate and its chain`
        : `${file} contains no certificate: it must begin with -----BEGIN CERTIFICATE-----`,
    )
  }
}

function keyIn(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text)
  } catch (error) {
    const isLocked = /ENCRYPTED/.test(text) || /PASSPHRASE/.test(String((error as { code?: unknown }).code))
    throw new Fault(
      isLocked
        ? `${file} is protected by a passphrase: remove the passphrase and make the file readable only by incmon`
        : `${file} contains no private key: it must be a PEM file that begins with -----BEGIN PRIVATE KEY-----`,
    )
  }
}

/** Throws if node:https would reject the certificate because of a broken chain or a weak key. */
function refuseUnusable(tls: Tls, file: string): void {
  try {
    createSecureContext(tls)
  } catch (error) {
    const [why] = String((error as Error).message).split('\n')
    throw new Fault(`${file} cannot be used (${why}): create a new certificate and its chain`)
  }
}
