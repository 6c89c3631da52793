/** incmon completion in real shells: what they suggest, and what TAB inserts on a terminal. */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { createProgram } from '../../src/cli/cli.ts'
import { completed } from '../../src/cli/completion.ts'
import { CACHED, call, MAIN } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const has = (shell: string) => spawnSync(shell, ['--version']).status === 0
const SHELLS = ['bash', 'zsh', 'fish'].filter(has)
/** How long to wait for a shell, in milliseconds. */
const LONGEST = 120_000
const scripts = new Map<string, Promise<string>>()
const scriptOf = (shell: string) => {
  const made = scripts.get(shell) ?? call('/', ['completion', shell]).then(({ out }) => out)
  scripts.set(shell, made)
  return made
}

/** Creates a directory with a shell's script and two files to complete. */
async function place(t: TestContext, shell: string): Promise<string> {
  const cwd = temporaryDirectory(t)
  writeFileSync(join(cwd, 'completion'), await scriptOf(shell))
  writeFileSync(join(cwd, 'dump one.jsonl'), '')
  mkdirSync(join(cwd, 'out'))
  return cwd
}

/** Returns the output. Rejects if the shell fails or reports an error. */
async function run(cwd: string, command: string, args: readonly string[], input = ''): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: cwd, TERM: 'dumb', LC_ALL: 'C.UTF-8', ...CACHED }
  const running = promisify(execFile)(command, args, { cwd, env, timeout: LONGEST })
  running.child.stdin?.end(input)
  const { stdout, stderr } = await running
  assert.equal(stderr, '')
  return stdout
}

/** Makes `incmon` run the program. */
const CALL = `'${process.execPath}' '${MAIN}'`
const PROGRAM = `incmon() { ${CALL} "$@"; }`

/** What each shell suggests for an incomplete line. Words are split as readline splits them. */
const OFFERS: Readonly<Record<string, (cwd: string, line: string) => Promise<string>>> = {
  bash: (cwd, line) => {
    const words = line.split(/ |(?<==)|(?==)/).map((word) => `'${word}'`)
    const ask = `${PROGRAM}; source ./completion; COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _incmon incmon; printf '%s\\n' "\${COMPREPLY[@]}"`
    return run(cwd, 'bash', ['--norc', '-c', ask])
  },
  // zsh passes everything it would show to compadd.
  zsh: (cwd, line) => {
    const words = line.split(' ').map((word) => `'${word}'`)
    const ask = `${PROGRAM}; compdef() { :; }; source ./completion
      words=(${words.join(' ')}) CURRENT=${words.length} PREFIX='${line.split(' ').at(-1)}'
      compset() { PREFIX=\${PREFIX#*=}; }
      _message() { :; }; _files() { print -l -- *(N); }
      _describe() { local -a all=(\${(P)2}); print -l -- \${(M)\${all%%:*}:#\${PREFIX}*}; }
      _incmon`
    return run(cwd, 'zsh', ['-f', '-c', ask])
  },
  fish: (cwd, line) => {
    const ask = `function incmon; ${CALL} $argv; end; source completion; complete -C '${line}'`
    return run(cwd, 'fish', ['--no-config', '-c', ask])
  },
}

const CASES: readonly [line: string, offered: readonly string[] | ':files'][] = [
  ['incmon to', ['token']],
  ['incmon token ', ['create', 'list', 'revoke']],
  ['incmon token re', ['revoke']],
  ['incmon --json --database a.db token li', ['list']],
  ['incmon token create --sc', ['--scopes']],
  ['incmon serve --po', ['--port']],
  ['incmon org list --js', ['--json']],
  ['incmon org create Acme --plan ', ['Free', 'Pro', 'Team']],
  ['incmon org create Acme --plan T', ['Team']],
  ['incmon org create --plan=T', ['--plan=Team']],
  ['incmon org set-plan Acme P', ['Pro']],
  ['incmon org set-plan --database a.db Acme P', ['Pro']],
  ['incmon incident list --status inv', ['investigating']],
  ['incmon migrate --status --dr', ['--dry-run']],
  ['incmon send-test c', ['ci', 'cluster']],
  ['incmon completion f', ['fish']],
  ['incmon replay ', ':files'],
  ['incmon backup x --config i', ':files'],
  ['incmon token create --cluster x', []],
  ['incmon version x', []],
  ['incmon nonsense ', ['--config', '--database', '--help', '--json', '--version']],
]

/** What only a real shell shows: a value after =, file names, and nothing. */
const IN_SHELLS: readonly [line: string, offered: readonly string[]][] = [
  ['incmon token ', ['create', 'list', 'revoke']],
  ['incmon org create --plan=T', ['Team']],
  ['incmon replay ', ['completion', 'dump one.jsonl', 'out']],
  ['incmon token create --cluster x', []],
]

for (const [line, offered] of CASES) {
  test(`${line}<TAB> offers ${[offered].flat().join(', ') || 'nothing'}`, async () => {
    const found = completed(await createProgram(Date.now), line.split(' '))
    assert.deepEqual(found === ':files' ? found : found.map(({ word }) => word).sort(), offered)
  })
}

test('readline passes --flag=value as three words', async () => {
  const found = completed(await createProgram(Date.now), ['incmon', 'org', 'create', '--plan', '=', 'T'])
  assert.deepEqual(found, [{ word: '--plan=Team', doc: '' }])
})

for (const shell of SHELLS) {
  suite(`in ${shell}`, { concurrency: 4 }, () => {
    for (const [line, offered] of IN_SHELLS) {
      test(`${line}<TAB> offers ${offered.join(', ') || 'nothing'}`, async (t) => {
        const cwd = await place(t, shell)
        const found = (await OFFERS[shell]?.(cwd, line)) ?? ''
        // fish shows a completed option together with its value, a directory as one word, and a description.
        const plain = found.split('\n').map((one) => one.replace(/^--plan=|\/?(\t.*)?$/g, ''))
        assert.deepEqual([...new Set(plain.filter((one) => one !== ''))].sort(), [...offered])
      })
    }
  })
}

/** Makes `incmon` print how it was called, except to complete words. */
const CALLED = `incmon() { case $1 in completion) ${CALL} "$@" ;; *) echo "called: $*" ;; esac; }`

/** Types keys on a pseudo-terminal and returns its output. */
async function typed(cwd: string, shell: string, keys: string): Promise<string> {
  return (await run(cwd, 'script', ['-qec', shell, '/dev/null'], `${keys}exit\n`)).replaceAll('\r', '')
}

test('on a terminal, bash finishes what is typed', async (t) => {
  const cwd = await place(t, 'bash')
  const said = await typed(cwd, 'bash --norc -i', `${CALLED}; source ./completion\nincmon to\tli\t--o\tAcme\n`)
  assert.match(said, /^called: token list --org Acme$/m)
})

test('on a terminal, zsh finishes what is typed', { skip: !has('zsh') }, async (t) => {
  const cwd = await place(t, 'zsh')
  const setUp = 'autoload -U compinit; compinit -u'
  assert.match(
    await typed(cwd, 'zsh -f -i', `${setUp}; ${CALLED}; source ./completion\nincmon to\tli\t--o\tAcme\n`),
    /^called: token list --org Acme$/m,
  )
})
