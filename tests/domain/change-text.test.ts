/** How a deploy is told while it runs, and after its end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../src/domain/correlation/change.ts'
import { changeSentences, deployText } from '../../src/domain/incident/change-text.ts'
import type { ChangeFact } from '../../src/domain/incident/facts.ts'
import { NOON } from '../helpers/factory.ts'

const told = (outcome: Outcome, failedJobs: ChangeFact['failedJobs'] = []): ChangeFact => ({
  ...{ kind: 'pipeline', ref: 'shop/checkout#7', eventId: 'e', outcome, branch: 'main', sha: '9b1c3d5e' },
  ...{ startsAt: NOON, endsAt: outcome === 'deploying' ? NOON : NOON + 60_000, commit: null, url: null, failedJobs },
  ...{ service: { namespace: 'shop', name: 'checkout' }, isRollback: false },
})

const DEPLOY = 'deploy of pipeline shop/checkout#7 on main (9b1c3d5e) began'
test('a deploy that runs has neither succeeded nor failed', () => {
  assert.equal(deployText(told('deploying')), DEPLOY)
  assert.match(
    changeSentences(told('deploying')),
    /whose deploy began at [-\d]+ [:\d]+ UTC; no end of it is recorded\.$/,
  )
})

test('a deploy that ended says how', () => {
  assert.equal(deployText(told('deployed')), `${DEPLOY}; it succeeded`)
  const failed = told('deploy failed', [{ name: 'production', reason: 'script_failure' }])
  assert.equal(deployText(failed), `${DEPLOY}; it failed (production: script_failure)`)
  assert.match(changeSentences(told('deployed')), /whose deploy ran from .+ and succeeded\.$/)
})
