/** incmon kubernetes: the manifest, and the check of the permissions. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { call, refusal } from '../helpers/cli.ts'
import { writeKubeconfig } from '../helpers/kubernetes/kubeconfig.ts'
import { startFakeCluster } from '../helpers/kubernetes/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const check = (t: { after: (work: () => void) => void }, ...args: string[]) =>
  call(temporaryDirectory(t), ['kubernetes', 'check', ...args])

test('the manifest allows to get, list and watch, and nothing else', async (t) => {
  const { out } = await call(temporaryDirectory(t), ['kubernetes', 'manifest', '--namespace', 'ops'])
  const objects = parseAllDocuments(out).map((one) => one.toJS())
  assert.deepEqual(
    objects.map(({ kind }) => kind),
    ['Namespace', 'ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Secret'],
  )
  const rules: { resources: string[]; verbs: string[] }[] = objects[2].rules
  assert.deepEqual(new Set(rules.flatMap(({ verbs }) => verbs)), new Set(['get', 'list', 'watch']))
  assert.ok(!rules.flatMap(({ resources }) => resources).some((one) => one === 'secrets' || one === 'configmaps'))
  assert.equal(objects[1].metadata.namespace, 'ops')
})

test('the check lists every permission, and says what is missing', async (t) => {
  const cluster = await startFakeCluster(t)
  const config = writeKubeconfig(t, cluster.url)
  const all = await check(t, '--kubernetes', config)
  assert.equal(all.code, 0, all.err)
  cluster.state.denied.add('list pods')
  const some = await check(t, '--kubernetes', `${config}#test`)
  assert.equal(some.code, 1)
  assert.match(some.out, /pods +no +crash loops/)
})

test('a kubeconfig that runs a program is refused, with what to do', async (t) => {
  const config = writeKubeconfig(t, 'https://127.0.0.1:1', { user: ['exec: {command: aws}'] })
  const { text } = await refusal(['kubernetes', 'check', '--kubernetes', config])
  assert.match(text, /signs in with "exec".*incmon kubernetes manifest/)
})

test('an unknown context, a missing file and a missing cluster are refused', async (t) => {
  const config = writeKubeconfig(t, 'https://127.0.0.1:1')
  const said = async (...args: string[]) => (await refusal(['kubernetes', 'check', ...args])).text
  assert.match(await said('--kubernetes', `${config}#other`), /has no context other; it has test/)
  assert.match(await said('--kubernetes', '/nowhere'), /^kubernetes: \/nowhere: cannot be read \(ENOENT\)/)
  assert.match(await said('--kubernetes', 'in-cluster'), /does not run in a pod/)
  assert.match(await said('--config', '/dev/null'), /no cluster is configured/)
})

test('a pod without the token of a service account is refused, with what to set', async (t) => {
  const env = { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: '1' }
  const { err } = await call(temporaryDirectory(t), ['kubernetes', 'check', '--kubernetes', 'in-cluster'], { env })
  assert.match(err, /ca\.crt: cannot be read \(ENOENT\); set serviceAccountName in the pod/)
})

test('check-config and doctor name settings whose files or partners are missing', async (t) => {
  const env = {
    INCMON_KUBERNETES: '/nowhere',
    INCMON_SMTP_PASSWORD_FILE: '/nobody',
    INCMON_USER_HEADER: 'Remote-User',
    INCMON_PORT: '0',
  }
  const cwd = temporaryDirectory(t)
  const [checked, examined] = await Promise.all([call(cwd, ['check-config'], { env }), call(cwd, ['doctor'], { env })])
  for (const fault of [
    'kubernetes: /nowhere: cannot be read (ENOENT)',
    'smtp-password-file: /nobody cannot be read',
    'user-header signs nobody in without trusted-proxies',
  ]) {
    assert.ok(checked.err.includes(`incmon: ${fault}`), checked.err)
    assert.ok(examined.out.includes(`fail  configuration  ${fault}`), examined.out)
  }
  assert.deepEqual([checked.code, examined.code], [1, 1])
})

test('a refused token and a server that does not answer are explained', async (t) => {
  const cluster = await startFakeCluster(t)
  const wrong = await check(t, '--kubernetes', writeKubeconfig(t, cluster.url, { user: ['token: wrong'] }))
  assert.match(wrong.err, /refused the token; create a new one/)
  const nobody = await check(t, '--kubernetes', writeKubeconfig(t, 'http://127.0.0.1:1'))
  assert.match(nobody.err, /ECONNREFUSED 127\.0\.0\.1:1; check that a program is listening/)
})

test('an empty path and a table with a misspelled key are refused', async (t) => {
  const file = join(temporaryDirectory(t), 'incmon.toml')
  writeFileSync(file, '[[kubernetes]]\nkubeconfg = "a"\n')
  assert.match((await refusal(['kubernetes', 'check', '--kubernetes', ' '])).text, /is not a list of in-cluster/)
  assert.match(
    (await refusal(['kubernetes', 'check', '--config', file])).text,
    /incmon.toml: kubernetes: .* with the keys/,
  )
})
