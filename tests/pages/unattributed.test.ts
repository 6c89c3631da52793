/** The page of alerts that name no service explains the rule, and assigns a label to a service. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

async function start(t: TestContext) {
  const { request, app, acme, charlie } = makeWorld(t)
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
  return { request, token, send, labels, idOf, browser, outsider }
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
