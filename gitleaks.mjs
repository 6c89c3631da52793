/**
 * Generates src/intake/gitleaks/rules.ts from the published rules of gitleaks (MIT license), which use Go's regex
 * syntax. Usage: node gitleaks.mjs config/gitleaks.toml VERSION, where both come from the same gitleaks release.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'smol-toml'

const OUT = new URL('src/intake/gitleaks/rules.ts', import.meta.url)

/**
 * Matches rules for secrets with a recognizable prefix. The other rules depend on a preceding keyword, which redact.ts
 * covers.
 */
const OWN_BEGINNING = /^(?:\(\?i\))?(?:\\b)?(?:\(\?:|\()*[A-Za-z0-9_]{2,}/

/** Rules that match too much ordinary text. */
const TOO_BROAD = new Set([
  'clickhouse-cloud-api-secret-key',
  'curl-auth-header',
  'curl-auth-user',
  'jwt',
  'jwt-base64',
  'sidekiq-sensitive-url',
  'vault-service-token',
])

const [file, version] = process.argv.slice(2)
if (!file || !version) {
  process.stderr.write('usage: node gitleaks.mjs config/gitleaks.toml VERSION\n')
  process.exit(2)
}
const { rules } = parse(readFileSync(file, 'utf8'))
const chosen = rules.filter(({ id, regex }) => regex && OWN_BEGINNING.test(regex) && !TOO_BROAD.has(id))
const lines = chosen.map(({ id, regex }) => {
  const pattern = translated(regex)
  new RegExp(pattern)
  return `  { id: '${id}', pattern: String.raw\`${pattern}\`, ignoresCase: ${/\(\?i[:)]/.test(regex)} },`
})
writeFileSync(
  OUT,
  `/** Made by gitleaks.mjs from the rules of gitleaks ${version}, Copyright (c) 2019 Zachary Rice, MIT license: see LICENSE. */
// biome-ignore-all format: one rule per line
// biome-ignore-all lint/complexity/noUselessStringRaw: all rules use the same syntax
export const GITLEAKS_VERSION = '${version}'

/** \`pattern\` is a regular expression without capturing groups. */
export const GITLEAKS_RULES: readonly { readonly id: string; readonly pattern: string; readonly ignoresCase: boolean }[] = [
${lines.join('\n')}
]
`,
)
process.stdout.write(`${lines.length} of ${rules.length} rules\n`)

/** Converts a regular expression from Go's syntax to JavaScript's. The end of a secret is matched but not replaced. */
function translated(regex) {
  return regex
    .replace(/\(\?:\[\\x60'"\\s;\]\|\\\\\[nr\]\|\$(?:\|\\b)?\)$/, '(?![A-Za-z0-9])')
    .replace(/\(\?:\[\^([^\]]+)\]\|\\z\)$/, '(?![$1])')
    .replaceAll('[[:alnum:]]', '[A-Za-z0-9]')
    .replaceAll('(?i)', '')
    .replace(/\(\?-?i:/g, '(?:')
    .replace(/(?<!\\)\((?!\?)/g, '(?:')
}
