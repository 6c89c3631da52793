/** Finds the server URL to use in the senders' configuration. */
import type { Visit } from './page.ts'
import { serverAddress } from './visitor.ts'

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/
/** The host of a server that listens on all interfaces. */
const WILDCARD = /^(?:0\.0\.0\.0|\[::\])$/

/** `missing`: the settings to change if the URL works only on this machine; otherwise empty. */
export type SenderAddress = { readonly address: string; readonly missing: readonly string[] }

/**
 * Returns the URL at which the visitor reaches this server. If only the server's public URL works on other machines,
 * returns the public URL.
 */
export function senderAddress(visit: Visit): SenderAddress {
  const own = serverAddress(visit.c, visit)
  const { url, publicUrl } = visit.server.listening() ?? { url: own, publicUrl: own }
  const address = isLocal(own) && !isLocal(publicUrl) ? publicUrl : own
  const settings = LOOPBACK.test(hostOf(url)) ? ['host', 'public-url'] : ['public-url']
  return { address, missing: isLocal(address) ? settings : [] }
}

function isLocal(url: string): boolean {
  return LOOPBACK.test(hostOf(url)) || WILDCARD.test(hostOf(url))
}

function hostOf(url: string): string {
  return new URL(url).hostname
}
