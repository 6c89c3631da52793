/** Executes every shell block in the documentation, unless it requires another system. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { systemClock } from '../../src/deps.ts'
import { CACHED, call, incmonServe, MAIN } from '../helpers/cli.ts'
import { unstarved } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { PAGES, type Page, ROOT, shellBlocks } from './pages.ts'

/** Blocks with a line that starts like this are not executed here, for the given reason. */
const ELSEWHERE = [
  [/^npm (ci|start|run build)\b/, 'it installs or builds; CI runs it'],
  [/^npm (test|run bench)\b/, 'it runs tests'],
  [
    /^(sudo|docker|kubectl|amtool) /,
    'it needs another program; systems.test.ts and tests/alertmanager.test.ts execute it',
  ],
  [/^GITLAB_URL=/, 'it needs GitLab; tests/examples.test.ts runs the script'],
  [/^incmon serve\b/, 'it does not end; every page here runs against a server'],
] as const

/** The API list that contains the record for a placeholder such as ALERT_ID. */
const LISTS: Readonly<Record<string, string>> = {
  INCIDENT_ID: 'incidents',
  SERVICE_ID: 'services',
  ALERT_ID: 'alerts',
  TOKEN_ID: 'tokens',
  CHANNEL_ID: 'channels',
}
const SCOPES = 'ingest,read,write,admin'

suite('the commands in the documentation', { concurrency: 2 }, () => {
  for (const page of PAGES.filter((one) => shellBlocks(one).some(isExecuted))) {
    test(`the commands of ${page.path} succeed`, (t) => execute(t, page))
  }
})

test('every reason not to execute a block is used', () => {
  const lines = PAGES.flatMap(shellBlocks).flatMap((block) => block.split('\n'))
  for (const [start, reason] of ELSEWHERE)
    assert.ok(
      lines.some((line) => start.test(line)),
      reason,
    )
})

function isExecuted(block: string): boolean {
  return !block.split('\n').some((line) => ELSEWHERE.some(([start]) => start.test(line)))
}

async function execute(t: TestContext, page: Page): Promise<void> {
  const cwd = temporaryDirectory(t)
  for (const name of ['examples', 'src', 'sql', 'tests', 'node_modules', 'node.sh', 'package.json', 'tsconfig.json'])
    symlinkSync(ROOT + name, join(cwd, name))
  // While a server is running, only alerts from the last hour can be imported.
  const alerts = readFileSync(`${ROOT}tests/fixtures/alertmanager-alerts.json`, 'utf8')
  const now = new Date(systemClock()).toISOString()
  writeFileSync(join(cwd, 'alerts.json'), alerts.replace(/2026-03-14T[\d:.]+Z/g, now))
  const shim = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`
  writeFileSync(join(cwd, 'incmon'), shim, { mode: 0o755 })
  const { url } = await incmonServe(t, cwd)
  const token = (await call(cwd, ['token', 'create', '--scopes', SCOPES])).out.trim()
  // Readers of the README start with an empty server.
  if (page.path !== 'README.md') await fill(cwd, url, token)
  const env = { INCMON_PORT: new URL(url).port, INCMON_TOKEN: token }
  for (const block of shellBlocks(page).filter(isExecuted)) {
    const script = (await filledIn(block, url, token)).replaceAll('http://127.0.0.1:8080', url)
    // Only `doctor` and `health` report a busy machine, and they can be repeated.
    const { code, text } = await unstarved(() => bash(cwd, script, env))
    assert.equal(code, 0, `${block}\n${text}`)
  }
}

/** Creates two services, an incident, and a token that no command here uses. */
async function fill(cwd: string, url: string, token: string): Promise<void> {
  const alerts = ['checkout', 'checkout-old'].map((service) => ({
    labels: { alertname: 'Down', namespace: 'shop', service, severity: 'critical' },
  }))
  const headers = { Authorization: `Bearer ${token}` }
  const body = JSON.stringify({ alerts })
  const response = await fetch(`${url}/api/webhooks/metrics`, { method: 'POST', headers, body })
  assert.equal(response.status, 200)
  await call(cwd, ['token', 'create', '--name', 'unused'])
}

/** Replaces placeholders with the id of the newest such record. */
async function filledIn(block: string, url: string, token: string): Promise<string> {
  let text = block
  for (const [placeholder, list] of Object.entries(LISTS)) {
    if (!text.includes(placeholder)) continue
    const response = await fetch(`${url}/api/${list}`, { headers: { Authorization: `Bearer ${token}` } })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into what they were answered
    const body: any = await response.json()
    const [record] = Array.isArray(body) ? body : body.data
    assert.ok(record, `${placeholder}: there is no record in ${list}`)
    text = text.replaceAll(placeholder, record.id)
  }
  return text
}

/** Runs a block as if in one terminal: variables and aliases are kept for the next block. */
async function bash(cwd: string, script: string, env: Record<string, string>) {
  const start = 'set -euo pipefail; shopt -s expand_aliases; if [ -e .state ]; then . ./.state; fi'
  const lines = [start, script, '{ export -p; alias -p; } > .state']
  // By default, curl exits with 0 after an error response.
  const fail = 'curl() { command curl -sS --fail-with-body "$@"; }'
  writeFileSync(join(cwd, 'block.sh'), [fail, ...lines, ''].join('\n'))
  const child = spawn('bash', ['block.sh'], {
    cwd,
    env: { PATH: `${cwd}:${process.env.PATH}`, HOME: cwd, ...CACHED, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => (text += chunk))
  child.stderr.on('data', (chunk) => (text += chunk))
  const [code] = await once(child, 'close')
  return { code, text }
}
