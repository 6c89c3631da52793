/**
 * Golden files: each contains one call of the program and its expected output. They are read, compared and rewritten
 * here.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { MIGRATIONS } from '../../src/store/sqlite/schema/migrate.ts'
import type { Outcome } from '../helpers/cli.ts'
import type { Setup } from './setups.ts'

/** `args` still contains the placeholders from the file. */
export type Golden = {
  readonly name: string
  readonly file: string
  readonly setup: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly until?: string
  /** Whether the command runs in a process of its own. */
  readonly isOwnProcess: boolean
  readonly files: Readonly<Record<string, string>>
  readonly input: string
  readonly exit: number
  readonly out: string
  readonly err: string
}

const FOLDER = new URL('goldens/', import.meta.url).pathname

/** Patterns for output that varies between runs, with their placeholders. The setup's own names are replaced first. */
const PLACEHOLDERS: readonly (readonly [what: RegExp, placeholder: string])[] = [
  // So that a new migration does not change the golden files.
  [/^VERSION +NAME +APPLIED\n(?:\d+ .*\n)+/gm, 'VERSION  NAME  APPLIED\n{migrations}\n'],
  [/"\d{4}_[a-z_]+"(?:,"\d{4}_[a-z_]+")*/g, '"{migrations}"'],
  [/\b\d{4}_[a-z_]+(?:, \d{4}_[a-z_]+)*/g, '{migrations}'],
  [new RegExp(`\\b(at most|uses|schema version) ${MIGRATIONS.length}\\b`, 'g'), '$1 {model}'],
  [/\b(commit"?[: ]"?)(?:[0-9a-f]{12}|unknown)\b/g, '$1{commit}'],
  [/\b(node"?[: ]"?)\d+\.\d+\.\d+/gi, '$1{node}'],
  [/\b(sqlite"?[: ]"?)\d+\.\d+\.\d+/gi, '$1{sqlite}'],
  [/("bytes":)\d+/g, '$1{bytes}'],
  [new RegExp(`"dataModel":${MIGRATIONS.length}\\b`, 'g'), '"dataModel":{model}'],
  [/^(problem +)(?:goes on|is over)\b.*/gm, '$1{problem}'],
  [/("criticalSeconds": ?)\d+/g, '$1{seconds}'],
  [/\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g, '{time}'],
  [/(?<=created on )\d{4}-\d{2}-\d{2}/g, '{date}'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '{uuid}'],
  [/\bincmon_[\w-]{43}/g, '{secret}'],
  [/\bwhsec_[\w+/]{43}=/g, '{secret}'],
  [/(?<=setup\?key=)[\w-]{43}/g, '{secret}'],
  [/http:\/\/127\.0\.0\.1:[3-6]\d{4}\b/g, '{url}'],
  [/\b\d+(\.\d+)? (B|kB|MB|GB|TB)\b/g, '{size}'],
  [/\buid \d+/g, 'uid {uid}'],
]

export function readGoldens(): Golden[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => parse(join(FOLDER, name)))
}

function parse(file: string): Golden {
  const [head = '', ...sections] = readFileSync(file, 'utf8').split(/^(?=--- )/m)
  const lines = head.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const said = lines.map((line) => /^(\w+): (.*)$/.exec(line) ?? fail(file, line))
  const all = (key: string) => said.filter(([, name]) => name === key).map(([, , value = '']) => value)
  const bodies = new Map(sections.map((section) => titled(section)))
  const [until] = all('until')
  return {
    name: basename(file, '.txt').replaceAll('-', ' '),
    file,
    setup: all('setup')[0] ?? fail(file, 'setup'),
    args: wordsOf(all('run')[0] ?? fail(file, 'run')),
    env: Object.fromEntries(all('env').map((one) => one.split(/=(.*)/s, 2))),
    ...(until === undefined ? {} : { until }),
    isOwnProcess: until !== undefined || all('process').includes('own'),
    files: Object.fromEntries(
      [...bodies].flatMap(([title, body]) => (/^file (.+)$/.test(title) ? [[title.slice(5), body]] : [])),
    ),
    input: bodies.get('stdin') ?? '',
    exit: Number(all('exit')[0] ?? 0),
    out: bodies.get('stdout') ?? '',
    err: bodies.get('stderr') ?? '',
  }
}

/** Returns `--- stdout` followed by the lines. */
function titled(section: string): [string, string] {
  const end = section.indexOf('\n')
  return [section.slice(4, end), section.slice(end + 1)]
}

/** Splits `incmon org create 'Basil & Sons'` into words, without the first one. Quoted words can contain spaces. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
  return words.slice(1)
}

function fail(file: string, what: string): never {
  throw new Error(`${file}: ${what}: not understood; see golden.test.ts`)
}

/** Replaces placeholders with the setup's values. `{{token}}` is left for the program. */
export function filled(text: string, { names = {} }: Setup): string {
  return Object.entries(names).reduce(
    (before, [name, value]) => before.replaceAll(new RegExp(`(?<!\\{)\\{${name}\\}(?!\\})`, 'g'), value),
    text,
  )
}

/** Replaces everything in an outcome that varies between runs with placeholders. */
export function normalised({ out, err, code }: Outcome, { cwd, names = {} }: Setup, version: string) {
  const known = [...Object.entries(names), ['directory', cwd] as const]
  const plain = (text: string) => {
    const named = known.reduce((before, [name, value]) => before.replaceAll(value, `{${name}}`), text)
    const general = PLACEHOLDERS.reduce((before, [what, placeholder]) => before.replace(what, placeholder), named)
    return general.replaceAll(version, '{version}')
  }
  return { exit: code, out: plain(out), err: plain(err) }
}

/** Rewrites a golden file with the actual output. */
export function rewrite({ file }: Golden, came: ReturnType<typeof normalised>): void {
  const asked = readFileSync(file, 'utf8').replace(/^--- (stdout|stderr)\n[\s\S]*?(?=^--- |(?![\s\S]))/gm, '')
  const kept = asked.replace(/^exit: .*\n/m, '').replace(/^(run: .*\n)/m, `$1exit: ${came.exit}\n`)
  const section = (title: string, body: string) => (body === '' ? '' : `--- ${title}\n${body}`)
  writeFileSync(file, `${kept}${section('stdout', came.out)}${section('stderr', came.err)}`)
}
