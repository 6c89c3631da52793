/** A real Alertmanager on a free port. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventually } from './server.ts'

const PROGRAM = 'prometheus-alertmanager'
const isMissing = spawnSync(PROGRAM, ['--version']).error !== undefined

/** Why tests with Alertmanager are skipped, or false. CI installs the package, so there a missing package is a failure. */
export const withoutAlertmanager =
  isMissing && !process.env.CI ? `${PROGRAM} is not installed: apt-get install ${PROGRAM}` : false

type Cleaner = { after: (work: () => void | Promise<void>) => void }

/** Starts Alertmanager in a directory. Returns its URL and its process. Stops it after the test. */
export async function startAlertmanager(t: Cleaner, directory: string, config: string) {
  writeFileSync(join(directory, 'alertmanager.yml'), config)
  const program = spawn(PROGRAM, [
    `--config.file=${join(directory, 'alertmanager.yml')}`,
    `--storage.path=${join(directory, 'data')}`,
    '--web.listen-address=127.0.0.1:0',
    '--cluster.listen-address=',
  ])
  t.after(async () => {
    program.kill('SIGKILL')
    await once(program, 'exit')
  })
  let said = ''
  program.stderr.on('data', (chunk) => {
    said += chunk
  })
  const addressIn = (log: string) => /"?Listening on"? address=(\S+)\n/.exec(log)?.[1]
  const log = await eventually(
    async () => said,
    (text) => addressIn(text) !== undefined,
  )
  const url = `http://${addressIn(log)}`
  await eventually(async () => (await fetch(`${url}/api/v2/alerts`)).ok, Boolean)
  return { url, pid: program.pid ?? 0 }
}
