/** Writes kubeconfig files and runs kubectl with them. */
import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../store.ts'

type Cleaner = Parameters<typeof temporaryDirectory>[0]

/** Writes a kubeconfig with one context called `test` and returns its path. `user` and `cluster`: further YAML lines. */
export function writeKubeconfig(
  t: Cleaner,
  url: string,
  { user = ['token: secret'], cluster = [] as string[] } = {},
): string {
  const path = join(temporaryDirectory(t), 'kubeconfig')
  const lines = [
    ...['apiVersion: v1', 'kind: Config', 'current-context: test'],
    ...['clusters:', '- name: test', '  cluster:', `    server: ${url}`, ...cluster.map((line) => `    ${line}`)],
    ...['users:', '- name: test', '  user:', ...user.map((line) => `    ${line}`)],
    ...['contexts:', '- name: test', '  context: {cluster: test, user: test, namespace: shop}', ''],
  ]
  writeFileSync(path, lines.join('\n'))
  return path
}

/** Runs kubectl. Returns its output, also if it fails. */
export async function kubectl(kubeconfig: string, ...args: string[]): Promise<string> {
  const command = promisify(execFile)('kubectl', [
    '--kubeconfig',
    kubeconfig,
    `--cache-dir=${kubeconfig}.cache`,
    ...args,
  ])
  const { stdout, stderr } = await command.catch((error) => error)
  return stdout + stderr
}

/** Runs kubectl until its output contains all texts. */
export async function kubectlUntil(
  kubeconfig: string,
  args: readonly string[],
  wanted: readonly string[],
  act: () => void,
): Promise<string> {
  const child = spawn('kubectl', ['--kubeconfig', kubeconfig, `--cache-dir=${kubeconfig}.cache`, ...args])
  let said = ''
  let acted = false
  return new Promise((resolve, reject) => {
    child.once('close', (code) => reject(new Error(`kubectl ended with ${code}: ${said}`)))
    child.stderr.on('data', (chunk) => {
      said += chunk
    })
    child.stdout.on('data', (chunk) => {
      said += chunk
      if (!acted) act()
      acted = true
      if (!wanted.every((text) => said.includes(text))) return
      child.removeAllListeners('close')
      child.kill()
      resolve(said)
    })
  })
}
