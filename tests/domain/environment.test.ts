/** Which environment a deploy and a service belong to. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Job } from '../../src/domain/event/event.ts'
import { reaches, shareEnvironment, tierOf, tierOfJob } from '../../src/domain/service/environment.ts'

const job = (more: Partial<Job>): Job => ({
  ...{ id: '1', name: 'deploy', stage: 'deploy', status: 'success', allowFailure: false, failureReason: null },
  ...{ startedAt: 1, finishedAt: 2, environment: null, ...more },
})
const deploy = (name: string, tier?: string) =>
  job({ environment: { name, action: 'start', ...(tier === undefined ? {} : { tier }) } })

describe('the tier in a name', () => {
  const cases: readonly (readonly [string, string | null])[] = [
    ['production', 'production'],
    ['prod-eu-1', 'production'],
    ['shop-live', 'production'],
    ['review/feature-x', 'development'],
    ['dev2', 'development'],
    ['qa', 'testing'],
    ['uat-2', 'testing'],
    ['shop_staging', 'staging'],
    ['pre-prod', 'staging'],
    ['non-production', 'staging'],
    ['shop', null],
    ['eu-west-1', null],
    ['latest', null],
    ['devices', null],
    ['', null],
  ]
  for (const [name, tier] of cases) test(`${name || 'nothing'}: ${tier}`, () => assert.equal(tierOf(name), tier))
})

describe('a deploy job', () => {
  test('is of the tier that GitLab says', () => assert.equal(tierOfJob(deploy('eu', 'staging')), 'staging'))
  test('is of its environment’s tier if GitLab says other', () =>
    assert.equal(tierOfJob(deploy('qa', 'other')), 'testing'))
  test('without an environment is of the tier in its name', () =>
    assert.equal(tierOfJob(job({ name: 'deploy_staging' })), 'staging'))
})

describe('a pipeline changed', () => {
  const shop = { namespace: 'shop', name: 'cart' }
  const staging = { namespace: 'shop-staging', name: 'cart' }
  const cases: readonly (readonly [
    string,
    readonly Job[],
    { namespace: string; name: string; cluster?: string },
    boolean,
  ])[] = [
    ['production by a deploy to production', [deploy('production')], shop, true],
    ['nothing in production by a review app', [deploy('review/x', 'development')], shop, false],
    ['nothing in production by a deploy to staging', [deploy('staging')], shop, false],
    ['staging by a deploy to staging', [deploy('staging')], staging, true],
    ['nothing in staging by a deploy to production', [deploy('production')], staging, false],
    [
      'the namespace that has the name of the environment',
      [deploy('review/x')],
      { namespace: 'review-x', name: 'cart' },
      true,
    ],
    ['a cluster for staging', [deploy('staging')], { ...shop, cluster: 'staging-eu' }, true],
    ['both by two deploys', [deploy('staging'), deploy('production')], shop, true],
    [
      'nothing by a deploy to production that waits',
      [deploy('staging'), { ...deploy('production'), status: 'manual', startedAt: null }],
      shop,
      false,
    ],
    ['production by an environment with an unknown name', [deploy('eu-west')], shop, true],
    ['anything if no job deploys', [job({ name: 'unit', stage: 'test' })], staging, true],
    [
      'its own group, even if that is named like an environment',
      [deploy('production')],
      { namespace: 'dev-tools', name: 'x' },
      true,
    ],
    [
      'nothing by a deploy to production if its own group is in a cluster for staging',
      [deploy('production')],
      { namespace: 'dev-tools', name: 'x', cluster: 'eu-staging' },
      false,
    ],
    [
      'its own group in a cluster for production',
      [deploy('production')],
      { namespace: 'dev-tools', name: 'x', cluster: 'eu-prod' },
      true,
    ],
    [
      'nothing in a cluster for development by a deploy to production',
      [deploy('production')],
      { ...shop, cluster: 'dev' },
      false,
    ],
  ]
  for (const [title, jobs, service, expected] of cases) {
    test(title, () => assert.equal(reaches({ project: 'dev-tools/cart', jobs }, service), expected))
  }
})

test('production and a namespace without an environment are one environment, staging is another', () => {
  const [shop, live, staging] = ['shop', 'shop-prod', 'shop-staging'].map((namespace) => ({ namespace, name: 'cart' }))
  assert.equal(shareEnvironment(shop!, live!), true)
  assert.equal(shareEnvironment(shop!, staging!), false)
})
