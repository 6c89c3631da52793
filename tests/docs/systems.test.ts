/** Executes the commands for systemd, Docker and Kubernetes in a directory that simulates a machine. */
import assert from 'node:assert/strict'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { DEFAULTS } from '../../src/config.ts'
import { incmon, incmonServe, MAIN, shell } from '../helpers/cli.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { COMMANDS, PAGES, pageAt, ROOT, shellBlocks } from './pages.ts'

/**
 * Blocks executed by another program, by their first line. tests/alertmanager.test.ts executes those that use amtool.
 */
const SYSTEMD = 'sudo install dist/incmon /usr/local/bin/incmon'
const RESTORE = 'sudo systemctl stop incmon'
const DOCKER = 'npm ci && npm run build'
const KUBERNETES = 'kubectl create namespace incmon'
const AMTOOL = ['amtool check-config alertmanager.yml', 'amtool alert query']

const dockerfile = readFileSync(`${ROOT}examples/Dockerfile`, 'utf8')
const instruction = (name: string) =>
  new RegExp(`^${name} ?(.+)$`, 'm').exec(dockerfile)?.[1] ?? assert.fail(`no ${name} in the Dockerfile`)

/** Returns the lines of the block that starts with the given line. */
function blockOf(path: string, first: string): string[] {
  const found = shellBlocks(pageAt(path)).filter((block) => block.startsWith(first) && ELSEWHERE.test(block))
  assert.equal(found.length, 1, `${path}: ${first}`)
  return (found[0] ?? '').trim().split('\n')
}
const ELSEWHERE = /^(sudo|docker|kubectl|amtool) /m

test('every block for another program is executed by a test', () => {
  const blocks = PAGES.flatMap(shellBlocks).filter((block) => ELSEWHERE.test(block))
  const firsts = blocks.map((block) => block.split('\n')[0])
  assert.deepEqual(firsts.sort(), [SYSTEMD, RESTORE, DOCKER, KUBERNETES, ...AMTOOL].sort())
})

/** A minimal service manager for incmon's unit: it starts and stops the installed unit. */
const SYSTEMCTL = `
unit=$(eval echo "$ROOT/etc/systemd/system/\\\${$#}.service")
of() { sed -n "s#^$1=##p" "$unit" | sed "s#%S#$ROOT/var/lib#g; s#/usr/local/#$ROOT&#g"; }
start() {
  mkdir -p "$ROOT/var/lib/$(of StateDirectory)"
  export $(of Environment)
  setsid $(of ExecStart) >>"$ROOT/log" 2>&1 &
  echo $! >"$ROOT/pid"
  $(of ExecStartPost) >>"$ROOT/log"
}
stop() { kill "$(cat "$ROOT/pid")"; while kill -0 "$(cat "$ROOT/pid")" 2>/dev/null; do sleep 0.05; done; }
case "$1 $2" in
  'daemon-reload ') ;;
  'enable --now' | 'start incmon') start ;;
  'stop incmon') stop ;;
  *) echo "unknown: systemctl $*" >&2; exit 1 ;;
esac`

const PROGRAM = `exec '${process.execPath}' '${MAIN}' "$@"`

function writeScript(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${text}\n`)
  chmodSync(path, 0o755)
}

/**
 * Creates a machine with a checkout, sudo and systemctl. `run` executes lines in the checkout, with absolute paths
 * mapped into the machine.
 */
function machine(t: TestContext) {
  const root = temporaryDirectory(t)
  const checkout = join(root, 'checkout')
  for (const folder of ['usr/local/bin', 'etc/systemd/system', 'var/lib'])
    mkdirSync(join(root, folder), { recursive: true })
  cpSync(`${ROOT}examples`, join(checkout, 'examples'), { recursive: true })
  writeScript(join(checkout, 'dist/incmon'), PROGRAM)
  writeScript(join(root, 'bin/sudo'), 'exec "$@"')
  writeScript(join(root, 'bin/systemctl'), SYSTEMCTL)
  t.after(() => {
    if (existsSync(join(root, 'pid'))) kill(Number(readFileSync(join(root, 'pid'), 'utf8')))
  })
  const run = async (lines: readonly string[]) => {
    const script = lines.join('\n').replace(/ (?=\/(usr|etc|var)\/)/g, ` ${root}`)
    const path = `${root}/bin:${root}/usr/local/bin:${process.env.PATH}`
    const start = `set -e; export ROOT='${root}' PATH='${path}' INCMON_PORT=0; unset -f incmon`
    const { code, out, err } = await shell(checkout, `${start}\n${script}`)
    assert.equal(code, 0, `${script}\n${err}`)
    return out
  }
  return { root, run }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already exited.
  }
}

/** Returns the server's URL from the last line of a log that contains one. */
function addressIn(log: string): string {
  const found = [...log.matchAll(/incmon listens on (http\S+)/g)].at(-1)
  return found?.[1] ?? assert.fail(`no server listens: ${log}`)
}

/** Returns the status with which a webhook responds to this token. */
async function statusOf(url: string, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token.trim()}` }
  const response = await fetch(`${url}/api/webhooks/metrics`, { method: 'POST', headers, body: '{"alerts":[]}' })
  return response.status
}

test('the commands for systemd install a server, and its token is accepted', async (t) => {
  const { root, run } = machine(t)
  const token = await run(blockOf('docs/install.md', SYSTEMD))
  assert.equal(await statusOf(addressIn(readFileSync(join(root, 'log'), 'utf8')), token), 200)
})

test("the commands for a restore bring back the backup's records", async (t) => {
  const { root, run } = machine(t)
  const token = await run(blockOf('docs/install.md', SYSTEMD))
  const database = '--database /var/lib/incmon/incmon.db'
  await run([`incmon backup incmon-backup.db ${database}`])
  const later = await run([`incmon token create ${database}`])
  await run(blockOf('docs/operations.md', RESTORE))
  const url = addressIn(readFileSync(join(root, 'log'), 'utf8'))
  assert.deepEqual([await statusOf(url, token), await statusOf(url, later)], [200, 401])
})

test('the commands for Docker match the file, the volume and the port of the image', () => {
  const [, build = '', start = ''] = blockOf('docs/install.md', DOCKER)
  const [, file = '', name] = /^docker build -f (\S+) -t (\S+) \.$/.exec(build) ?? []
  assert.ok(existsSync(ROOT + file), file)
  const [, port, volume, image] = /-p 127\.0\.0\.1:\d+:(\d+) -v \w+:(\S+) (\S+)$/.exec(start) ?? []
  assert.deepEqual([image, volume, port], [name, instruction('VOLUME'), instruction('EXPOSE')])
  assert.deepEqual([port, `${volume}/incmon.db`], [String(DEFAULTS.port), instruction('ENV INCMON_DATABASE=')])
})

test('the command of the image serves, and the commands inside it find the server', async (t) => {
  const volume = temporaryDirectory(t)
  const env = { INCMON_DATABASE: join(volume, 'incmon.db') }
  const inside = async (command: readonly string[]) => {
    assert.equal(command[0], JSON.parse(instruction('ENTRYPOINT'))[0])
    const { code, out, err } = await incmon(volume, command.slice(1), { env })
    assert.equal(code, 0, err)
    return out
  }
  assert.deepEqual(JSON.parse(instruction('CMD')), ['serve'])
  const { url } = await incmonServe(t, volume, env)
  const [, , , exec = ''] = blockOf('docs/install.md', DOCKER)
  assert.equal(await statusOf(url, await inside(exec.replace('docker exec incmon ', '').split(' '))), 200)
  await inside(JSON.parse(/ CMD (.+)$/.exec(instruction('HEALTHCHECK'))?.[1] ?? ''))
})

test('the commands for Kubernetes match the manifest and run what the image contains', () => {
  const [create = '', apply = '', exec = ''] = blockOf('docs/install.md', KUBERNETES)
  const [, namespace] = /^kubectl create namespace (\S+)$/.exec(create) ?? []
  const [, where, file = ''] = /^kubectl apply -n (\S+) -f (\S+)$/.exec(apply) ?? []
  const [, within, deployment, program, ...rest] =
    /^kubectl exec -n (\S+) deploy\/(\S+) -- (\S+) (\w+) (\w+)$/.exec(exec) ?? []
  assert.deepEqual([where, within], [namespace, namespace])
  const objects = parseAllDocuments(readFileSync(ROOT + file, 'utf8')).map((one) => one.toJS())
  const named = (kind: string) => objects.find((one) => one.kind === kind)
  assert.equal(named('Deployment').metadata.name, deployment)
  assert.equal(program, JSON.parse(instruction('ENTRYPOINT'))[0])
  assert.ok(COMMANDS.has(rest.join(' ')), rest.join(' '))
  const { metadata, spec } = named('Service')
  const address = `http://${metadata.name}.${namespace}:${spec.ports[0].port}`
  assert.ok(pageAt('docs/install.md').text.includes(`\`${address}\``), address)
})
