/** The page of alerts that name no service explains the rule, and assigns a label to a service. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

async function start(t: TestContext) {
  const { request, app, acme, charlie, clock } = makeWorld(t)
  const { token } = acme
  const labels = { severity: 'critical', team: 'ops', region: 'north' }
  const send = (name: string, more: Readonly<Record<string, string>>) =>
    request('POST', '/api/webhooks/metrics', { token, body: alertmanager([alert(name, more)]) })
  await send('Down', { service: 'mailer' })
  await send('CertificateExpired', labels)
  const services: { id: string; name: string }[] = (await request('GET', '/api/services', { token })).body
  const idOf = (name: string) => services.find((one) => one.name === name)?.id ?? ''
  const [browser, outsider] = [makeBrowser(app), makeBrowser(app)]
  await browser.signIn(token, 'Ada')
  await outsider.signIn(charlie.token, 'Charlie')
  return { clock, request, token, send, labels, idOf, browser, outsider }
}

test('the page explains the rule and offers the labels of its alerts, but not their name or severity', async (t) => {
  const { browser, idOf } = await start(t)
  const { html } = await browser.get(`/services/${idOf('unattributed')}`)
  assert.match(html, /Why these alerts are here/)
  assert.deepEqual(
    [...html.matchAll(/<option value="([^"]+)"/g)].map(([, label]) => label),
    ['region=north', 'team=ops'],
  )
  assert.doesNotMatch((await browser.get(`/services/${idOf('mailer')}`)).html, /Why these alerts are here/)
})

test('all pages say for how long alerts without a service have made it degraded', async (t) => {
  const { browser, clock, request, token, idOf } = await start(t)
  const old = alert('BackupFailed', { severity: 'critical' }, { startsAt: NOON - 15 * MINUTE })
  await request('POST', '/api/webhooks/metrics', { token, body: alertmanager([old]) })
  clock.now += MINUTE
  const textOf = async (path: string) =>
    (await browser.get(path)).html.replace(/<time.*?>|<[^>]*>/g, ' ').replace(/\s+/g, ' ')
  assert.match((await browser.get('/')).html, /Last 24 hours: degraded for 16 min/)
  assert.match(await textOf(`/services/${idOf('unattributed')}`), /Degraded for 16 min/)
  assert.match(await textOf('/reports'), /unattributed .* 16 min/)
})

test('later alerts with an assigned label belong to the service', async (t) => {
  const { browser, idOf, send, labels, request, token } = await start(t)
  const { location } = await browser.send('/services/alias', { label: 'team=ops', service: 'mailer' })
  assert.equal(location, `/services/${idOf('mailer')}?done=saved`)
  await send('DiskFull', labels)
  const { data } = (await request('GET', `/api/alerts?serviceId=${idOf('mailer')}`, { token })).body
  assert.ok(data.some(({ name }: { name: string }) => name === 'DiskFull'))
})

test('a service that does not exist and a text that is no label are refused', async (t) => {
  const { browser } = await start(t)
  for (const fields of [
    { label: 'team=ops', service: 'nobody' },
    { label: 'team', service: 'mailer' },
    { label: '=', service: 'mailer' },
    { label: 'team=ops', service: '' },
  ]) {
    assert.equal((await browser.send('/services/alias', fields)).status, 400, JSON.stringify(fields))
  }
})

test("Charlie cannot assign a label to Acme's service", async (t) => {
  const { outsider, idOf } = await start(t)
  const fields = { label: 'team=ops', service: idOf('mailer') }
  assert.equal((await outsider.send('/services/alias', fields)).status, 400)
})
