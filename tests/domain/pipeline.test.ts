/** Which jobs are deploys, which branches matter, and which failures are caused by the CI system. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isDefaultBranch, isDeploy, isOwnTrouble } from '../../src/domain/event/pipeline.ts'
import { job } from './service-cases.ts'

describe('a job deploys', () => {
  const environments: [string | null, boolean][] = [
    [null, true],
    ['', true],
    ['start', true],
    ['stop', false],
    ['prepare', false],
    ['verify', false],
    ['access', false],
  ]
  for (const [action, deploys] of environments)
    it(`with an environment and action ${action}: ${deploys}`, () =>
      assert.equal(isDeploy(job({ name: 'deploy', environment: { name: 'production', action } })), deploys))

  const names: [string, string, boolean][] = [
    ['deploy', 'test', true],
    ['deploy-prod', 'deploy', true],
    ['deploy:staging', 'x', true],
    ['Deploy to Production', 'x', true],
    ['auto_deploy:start', 'coordinated:tag', true],
    ['production', 'deploy', true],
    ['run', 'deploy', true],
    ['rollout 50%', 'x', true],
    ['helm-upgrade', 'x', true],
    ['release', 'x', true],
    ['rollback', 'x', true],
    ['canary', 'x', true],
    ['promote', 'x', true],
    ['x', 'Production', true],
    ['test-image', 'test', false],
    ['lint', 'test', false],
    ['unit', 'verify', false],
    ['deployable', 'x', false],
    ['employee-tests', 'test', false],
    ['reproduction', 'x', false],
    ['helm-lint', 'test', false],
    ['helm template', 'deploy', false],
    ['release-notes', 'release', false],
    ['build-release', 'build', false],
    ['deploy:dry-run', 'deploy', false],
    ['stop_review', 'deploy', false],
    ['undeploy', 'deploy', false],
    ['', '', false],
  ]
  for (const [name, stage, deploys] of names)
    it(`called ${name || 'nothing'} in ${stage || 'no stage'}: ${deploys}`, () =>
      assert.equal(isDeploy(job({ name, stage })), deploys))
})

describe('a branch is the default', () => {
  const table: [string | null, string, boolean][] = [
    ['develop', 'develop', true],
    ['develop', 'main', false],
    ['main', 'refs/heads/main', true],
    ['main', 'Main', false],
    [null, 'main', true],
    [null, 'master', true],
    [null, 'trunk', true],
    [null, 'production', true],
    [null, 'release', true],
    [null, 'release/2.1', true],
    [null, 'releases/2.1', true],
    [null, 'release-2.1', true],
    [null, 'released', false],
    [null, 'develop', false],
    [null, 'feature/main', false],
    [null, 'refs/merge-requests/7/head', false],
    [null, '', false],
    ['', 'main', true],
  ]
  for (const [defaultBranch, ref, expected] of table)
    it(`${ref || 'nothing'} if the project says ${defaultBranch}: ${expected}`, () =>
      assert.equal(isDefaultBranch({ path: 'team/web', name: 'Web', defaultBranch }, ref), expected))
})

describe('a failure of the CI system', () => {
  const own = ['runner_system_failure', 'stuck_or_timeout_failure', 'runner_unsupported', 'no_matching_runner']
  const others = ['scheduler_failure', 'ci_quota_exceeded', 'api_failure', 'data_integrity_failure']
  const newer = ['stuck_pending_no_matching_runners', 'no_updates_running', 'runner_interrupted']
  for (const reason of [...own, ...others, ...newer]) it(reason, () => assert.equal(isOwnTrouble(reason), true))
  for (const reason of [
    'script_failure',
    'job_execution_timeout',
    'server_timeout_running',
    'unknown_failure',
    '',
    null,
  ])
    it(`not ${reason || 'nothing'}`, () => assert.equal(isOwnTrouble(reason), false))
})
