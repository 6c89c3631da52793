/** A client that is generated from /openapi.json of a running server compiles, and its calls work. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { incmon, incmonServe } from '../helpers/cli.ts'
import { ROOT } from '../helpers/executable.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const MODULES = join(ROOT, 'node_modules')

/** A program that uses the types of the client. */
const PROGRAM = `import * as api from './client.ts'
const [, , baseUrl = '', token = ''] = process.argv
Object.assign(api.defaults, { baseUrl, headers: { authorization: 'Bearer ' + token } })
const service = await api.createService({ name: 'cart', namespace: 'shop' })
if (service.status !== 201) throw new Error(String(service.status))
const { id }: api.Service = service.data
const made = await api.createIncident({ title: 'Slow', serviceId: id, severity: 'critical' })
if (made.status !== 201) throw new Error(String(made.status))
const incident: api.Incident = made.data
const listed = await api.listIncidents({ severity: 'critical', limit: 1 })
if (listed.status !== 200) throw new Error(String(listed.status))
const [first]: api.Incident[] = listed.data.data
const none = await api.listIncidents({ severity: 'info' })
const total: number = none.status === 200 ? none.data.pagination.total : -1
const wrong = await api.createIncident({ title: '', serviceId: id, severity: 'critical' })
if (wrong.status !== 400) throw new Error(String(wrong.status))
const problem: api.Problem = wrong.data
const channel = await api.createChannel({ name: 'phone', kind: 'ntfy', url: 'https://ntfy.sh/x' })
const key = channel.status === 201 ? (channel.data satisfies api.CreatedChannel).secret : undefined
console.log(JSON.stringify([incident.title, first?.id === incident.id, total, problem.errors?.[0]?.path, key]))
`

const OPTIONS = ['--strict', '--noEmit', '--target', 'es2024', '--module', 'nodenext', '--types', 'node']

test('a generated client compiles and works', async (t) => {
  const run = async (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: folder })
  const folder = temporaryDirectory(t)
  const { url } = await incmonServe(t, folder)
  const { token } = JSON.parse(
    (await incmon(folder, ['token', 'create', '--scopes', 'read,write,admin', '--json'])).out,
  )
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${url}/openapi.json`)).text())
  await symlink(MODULES, join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await writeFile(join(folder, 'use.ts'), PROGRAM)
  await run(join(MODULES, 'oazapfts/dist/cli.js'), 'openapi.json', 'client.ts')
  const compile = () =>
    run(join(MODULES, 'typescript/lib/tsc.js'), ...OPTIONS, '--allowImportingTsExtensions', 'use.ts')
  await compile()
  const { stdout } = await run('use.ts', url, token)
  assert.deepEqual(JSON.parse(stdout), ['Slow', true, 0, 'title', null])
  for (const [right, mistyped] of [
    ["severity: 'info'", "severity: 'worst'"],
    ['problem.errors?.[0]?.path', 'problem.faults'],
    ["name: 'phone', kind", "name: 'phone', sort"],
  ] as const) {
    assert.ok(PROGRAM.includes(right))
    await writeFile(join(folder, 'use.ts'), PROGRAM.replace(right, mistyped))
    await assert.rejects(compile(), /use\.ts/, mistyped)
  }
})
