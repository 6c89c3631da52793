/** Alerts that Prometheus sends itself, without an Alertmanager: it repeats them before they expire. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

const labels = { alertname: 'CartDown', namespace: 'shop', service: 'cart', severity: 'critical' }
const at = (minutes: number) => new Date(NOON + minutes * MINUTE).toISOString()

/** Returns what the page of the incident says when its alert, which expires after 30 minutes, was sent at noon. */
async function pageAfter(t: TestContext, minutes: number, more: object = {}) {
  const { request, clock, app, acme } = makeWorld(t)
  const body = [{ labels, startsAt: at(-5), endsAt: at(30), ...more }]
  const headers = { 'Content-Type': 'application/json' }
  await request('POST', '/alertmanager/api/v2/alerts', { token: acme.token, body, headers })
  clock.now = NOON + minutes * MINUTE
  const browser = makeBrowser(app)
  await browser.signIn(acme.token)
  const text = (await browser.get('/incidents/1')).html.replaceAll(/<[^>]*>/g, '')
  assert.match(text, /CartDown/)
  return text
}

test('the page says since when such an alert was not heard of', async (t) => {
  assert.match(await pageAfter(t, 25), /Not heard since 12:00/)
})

test('the page does not say so while repeats may still come', async (t) => {
  assert.doesNotMatch(await pageAfter(t, 3), /Not heard since|Not repeated since/)
})
