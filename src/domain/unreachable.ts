/** What to do if another program cannot be reached. */

/** The error codes of the operating system. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /\bECONNREFUSED\b/,
    'check that a program is listening at this address and port, and that no firewall rejects the connection',
  ],
  [/\b(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b/, 'check the network and the firewalls on the way to this address'],
  [/\b(?:ECONNRESET|EPIPE)\b/, 'check the log of the receiver and of any proxy on the way'],
  [/\b(?:ENOTFOUND|EAI_AGAIN)\b/, 'check the host name and the DNS server of this machine'],
]

/** Returns what to do about an error message that contains a code such as ECONNREFUSED; null for other messages. */
export function unreachableRemedy(message: string): string | null {
  return REMEDIES.find(([code]) => code.test(message))?.[1] ?? null
}
