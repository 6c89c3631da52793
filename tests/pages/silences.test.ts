/** The silence pages without JavaScript: create, preview, change and end, and who is allowed to. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { BUDGETS } from '../../src/domain/budgets.ts'
import { quickEnd } from '../../src/web/silences/input.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeAlert, makeService, makeSilence, makeToken, NOON } from '../helpers/factory.ts'
import { makeBrowser } from '../helpers/site.ts'

const LIST = '/settings/silences'
const HOUR = 3_600_000
/** The form for a new silence after a service and a reason were entered. */
const FORM = {
  ...{ matchers: '2', 'name-0': 'service', 'op-0': '=', 'value-0': 'checkout', 'op-1': '=', revision: '', do: 'save' },
  ...{ startsAt: '', length: '2h', endsAt: '', zone: 'UTC', repeat: 'once', weekdays: 'saturday', from: '22:00' },
  ...{ to: '06:00', comment: 'Upgrade of the database' },
}

async function start(t: TestContext) {
  const world = makeWorld(t)
  const browser = makeBrowser(world.app)
  await browser.signIn(world.acme.token, 'Ada')
  const outsider = makeBrowser(world.app)
  await outsider.signIn(world.charlie.token)
  const silences = async () => (await world.request('GET', '/api/silences', { token: world.acme.token })).body.data
  const create = (more: Record<string, string> = {}) => browser.send(`${LIST}/new`, { ...FORM, ...more })
  return { ...world, browser, outsider, silences, create }
}

test('a silence is created by a person, for two hours', async (t) => {
  const { create, silences, browser } = await start(t)
  assert.equal((await create()).location, `${LIST}?done=silenced`)
  const [{ matchers, createdBy, endsAt, comment }] = await silences()
  assert.deepEqual(matchers, [{ name: 'service', op: '=', value: 'checkout' }])
  assert.deepEqual([createdBy, Date.parse(endsAt), comment], ['Ada', NOON + 2 * HOUR, 'Upgrade of the database'])
  assert.match((await browser.get(LIST)).html, /service = <b>checkout<\/b>/)
})

test('the page lists every silence that an organization can have at a time', async (t) => {
  const { db, acme, browser, outsider } = await start(t)
  for (let number = 1; number <= BUDGETS.silences.value; number += 1)
    makeSilence(db, acme, { comment: `Upgrade ${number}.`, ends_at: NOON + HOUR })
  const { html } = await browser.get(LIST)
  assert.equal(html.match(/Upgrade \d+\./g)?.length, BUDGETS.silences.value)
  assert.match(html, /Upgrade 1\./)
  assert.doesNotMatch((await outsider.get(LIST)).html, /Upgrade/)
})

test('a silence starts and ends at local times in a given time zone', async (t) => {
  const { create, silences } = await start(t)
  const times = { startsAt: '2036-07-01T22:00', length: 'until', endsAt: '2036-07-02T06:00', zone: 'Europe/Berlin' }
  await create(times)
  const [{ startsAt, endsAt, status }] = await silences()
  assert.deepEqual([startsAt, endsAt, status], ['2036-07-01T20:00:00.000Z', '2036-07-02T04:00:00.000Z', 'pending'])
})

test('a maintenance window repeats weekly in its time zone, and is listed as planned', async (t) => {
  const { create, silences, browser } = await start(t)
  await create({ repeat: 'weekly', length: 'until', endsAt: '2036-12-31T00:00', zone: 'Europe/Berlin' })
  const [{ schedule }] = await silences()
  assert.deepEqual(schedule, { weekdays: ['saturday'], from: '22:00', to: '06:00', timeZone: 'Europe/Berlin' })
  const { html } = await browser.get(LIST)
  assert.match(html, /Planned <span class="quiet">1<\/span>[\s\S]*every Saturday 22:00–06:00 Europe\/Berlin/)
})

test('a preview counts the matching alerts and creates nothing', async (t) => {
  const { create, silences, db, acme } = await start(t)
  const service = makeService(db, acme, 'checkout')
  makeAlert(db, acme, service, { status: 'firing', starts_at: NOON - HOUR })
  const ended = { status: 'resolved', ends_at: NOON - HOUR, resolution: 'reported' } as const
  makeAlert(db, acme, service, { ...ended, starts_at: NOON - 2 * HOUR })
  const { status, html } = await create({ do: 'preview' })
  assert.deepEqual([status, await silences()], [200, []])
  assert.match(html, /Matches <b>1 alert<\/b> that is firing now, and <b>2<\/b> in the last 30 days in total/)
})

test('a preview warns if nothing matches', async (t) => {
  const { create } = await start(t)
  assert.match(
    (await create({ do: 'preview', 'value-0': 'crat' })).html,
    /Warning: [\s\S]*matches no alert from the last 30 days/,
  )
})

test("a service's button fills in the matchers", async (t) => {
  const { browser, db, acme } = await start(t)
  const { id } = makeService(db, acme, 'check"out', { namespace: 'shop' })
  const [, href = ''] =
    /href="(\/settings\/silences\/new[^"]*)"/.exec((await browser.get(`/services/${id}`)).html) ?? []
  const { html } = await browser.get(href.replaceAll('&amp;', '&'))
  assert.match(html, /value="service"[\s\S]*value="check&quot;out"[\s\S]*value="namespace"[\s\S]*value="shop"/)
})

test('invalid matchers in the URL result in an empty form', async (t) => {
  const { browser } = await start(t)
  assert.equal((await browser.get(`${LIST}/new?matchers=%7B%7B`)).status, 200)
})

for (const [more, message] of [
  [{ comment: '' }, 'Why: Empty; write at least one character.'],
  [
    { 'name-0': '', 'value-0': '' },
    'Which alerts: At least one matcher is required, such as service=&quot;checkout&quot;.',
  ],
  [{ 'name-0': '' }, 'Line 1, field or label: Empty; write at least one character.'],
  [{ 'op-0': '=~', 'value-0': '(' }, 'Which alerts: The value is not a valid RE2 regular expression'],
  [{ length: 'until', endsAt: '' }, 'Ends: Write the date and the time as 2026-11-23 14:30.'],
  [{ length: 'until', endsAt: '2020-01-01T00:00' }, 'Ends: Is in the past; send a later time.'],
  [{ startsAt: 'tomorrow' }, 'Begins: Write the date and the time as 2026-11-23 14:30.'],
  [{ zone: 'Nowhere' }, 'Time zone: Expected a time zone such as Europe/Berlin.'],
  [{ repeat: 'weekly', from: '25:00' }, 'From: Expected a clock time such as 22:00.'],
] as const) {
  test(`${JSON.stringify(more)} is refused with the label of the field, and typed text is kept`, async (t) => {
    const { create, silences } = await start(t)
    const { status, html } = await create(more)
    const zone = 'zone' in more ? more.zone : 'UTC'
    assert.deepEqual([status, html.includes(message), html.includes(`value="${zone}"`)], [400, true, true])
    assert.deepEqual(await silences(), [])
  })
}

test('submitting the stored times keeps them to the millisecond', async (t) => {
  const { create, silences, browser, clock } = await start(t)
  clock.now = NOON + 12_345
  await create()
  const [{ id, startsAt, endsAt, revision }] = await silences()
  const { html } = await browser.get(`${LIST}/${id}`)
  const [, shown = ''] = /id="endsAt"[^>]*value="([^"]+)"/.exec(html) ?? []
  const times = { startsAt: '', length: 'until', endsAt: shown, revision: String(revision), comment: 'longer' }
  await browser.send(`${LIST}/${id}`, { ...FORM, ...times })
  const [after] = await silences()
  assert.deepEqual([after.startsAt, after.endsAt, after.comment], [startsAt, endsAt, 'longer'])
})

test('if two people edit one silence, the second sees what the first saved, and typed text is kept', async (t) => {
  const { create, silences, browser } = await start(t)
  await create()
  const [{ id }] = await silences()
  const change = { ...FORM, revision: '1' }
  await browser.send(`${LIST}/${id}`, { ...change, comment: 'first' })
  const second = await browser.send(`${LIST}/${id}`, { ...change, comment: 'second' })
  assert.equal(second.status, 400)
  assert.match(
    second.html,
    /The version that somebody else saved[\s\S]*first[\s\S]*name="revision" value="2"[\s\S]*value="second"/,
  )
  await browser.send(`${LIST}/${id}`, { ...change, comment: 'second', revision: '2' })
  assert.equal((await silences())[0].comment, 'second')
})

test('an ended silence stays in the list and can no longer be changed', async (t) => {
  const { create, silences, browser, clock } = await start(t)
  await create()
  const [{ id }] = await silences()
  clock.now = NOON + HOUR
  assert.equal((await browser.send(`${LIST}/${id}`, { do: 'end' })).location, `${LIST}?done=silence-ended`)
  assert.match((await browser.get(LIST)).html, /Nothing is silenced now[\s\S]*Ended[\s\S]*Upgrade of the database/)
  const late = await browser.send(`${LIST}/${id}`, { ...FORM, revision: '2' })
  assert.deepEqual([late.status, /This silence has expired: create a new one/.test(late.html)], [400, true])
})

test("Charlie can neither see, change nor end Acme's silence", async (t) => {
  const { create, silences, outsider } = await start(t)
  await create()
  const path = `${LIST}/${(await silences())[0].id}`
  assert.doesNotMatch((await outsider.get(LIST)).html, /Upgrade of the database/)
  const answers = [await outsider.get(path), await outsider.send(path, FORM), await outsider.send(path, { do: 'end' })]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [404, 404, 404],
  )
  assert.equal((await silences())[0].status, 'active')
})

test('a person with read access sees silences but cannot change them', async (t) => {
  const { app, db, acme, create, silences } = await start(t)
  await create()
  const reader = makeBrowser(app)
  await reader.signIn(makeToken(db, acme, ['read']))
  const { status, html } = await reader.get(LIST)
  assert.deepEqual([status, /Upgrade/.test(html), /New silence|End now/.test(html)], [200, true, false])
  const path = `${LIST}/${(await silences())[0].id}`
  const answers = [
    await reader.get(`${LIST}/new`),
    await reader.send(`${LIST}/new`, FORM),
    await reader.send(path, { do: 'end' }),
  ]
  assert.deepEqual(
    answers.map((answer) => answer.status),
    [403, 403, 403],
  )
})

test('a form for a silence that no longer exists loses no typed text', async (t) => {
  const { create, browser, silences } = await start(t)
  await create()
  const [{ id }] = await silences()
  const { status, html } = await browser.send(`${LIST}/${id.replace(/^.{8}/, '00000000')}`, {
    ...FORM,
    comment: 'Typed for long',
  })
  assert.equal(status, 404)
  assert.match(html, /Your changes were not saved\. Copy anything that you need\.[\s\S]*Typed for long/)
})

test('times are text in the same format in every browser', async (t) => {
  const { create, browser, silences } = await start(t)
  await create({ startsAt: '2036-07-01 22:00' })
  const [{ id, startsAt }] = await silences()
  assert.equal(startsAt, '2036-07-01T22:00:00.000Z')
  const { html } = await browser.get(`${LIST}/${id}`)
  assert.match(html, /value="2036-07-01 22:00"/)
  assert.doesNotMatch(html, /type="(?:datetime-local|time)"/)
})

test('the menu of a service says how many alerts it silences, and leads back to the page', async (t) => {
  const { browser, silences, db, acme } = await start(t)
  const service = makeService(db, acme, 'checkout', { namespace: 'shop' })
  makeAlert(db, acme, service, { status: 'firing', starts_at: NOON - HOUR })
  makeAlert(db, acme, makeService(db, acme, 'cart', { namespace: 'shop' }), { status: 'firing' })
  const page = `/services/${service.id}`
  const { html } = await browser.get(page)
  assert.match(html, /Silence…[\s\S]*Silences 1 alert now, and further ones of/)
  assert.match(html, /value="30m"[\s\S]*value="2h"[\s\S]*value="8h"[\s\S]*until tomorrow 08:00/)
  const matchers = 'service="checkout", namespace="shop"'
  const { location } = await browser.send(`${LIST}/quick`, { matchers, back: page, length: '8h' })
  const [silence] = await silences()
  assert.equal(location, `${page}?done=silenced`)
  assert.deepEqual([Date.parse(silence.endsAt), silence.createdBy, silence.matching], [NOON + 8 * HOUR, 'Ada', 1])
  assert.match(silence.comment, /^8 h, from the page \/services\//)
})

test('until tomorrow 08:00 is a local time', async (t) => {
  const { browser, silences } = await start(t)
  const quick = { matchers: 'service="checkout"', back: '/', length: 'tomorrow' }
  await browser.send(`${LIST}/quick`, quick)
  assert.equal((await silences())[0].endsAt, '2026-03-15T08:00:00.000Z')
  assert.equal(quickEnd('tomorrow', Date.UTC(2026, 2, 28, 22), 'Europe/Berlin'), Date.UTC(2026, 2, 29, 6))
  assert.equal(quickEnd('tomorrow', Date.UTC(2026, 2, 28, 23), 'Europe/Berlin'), Date.UTC(2026, 2, 30, 6))
  assert.equal(quickEnd('30m', NOON, 'UTC'), NOON + HOUR / 2)
})

test('a menu without matchers shows the form with the reason, and leads to no other site', async (t) => {
  const { browser, silences } = await start(t)
  const { status, html } = await browser.send(`${LIST}/quick`, { matchers: '', back: '/', length: '2h' })
  assert.deepEqual([status, await silences()], [400, []])
  assert.match(html, /role="alert"[\s\S]*Which alerts/)
  const quick = { matchers: 'service="checkout"', back: '//evil.example', length: '2h' }
  assert.equal((await browser.send(`${LIST}/quick`, quick)).location, '/?done=silenced')
})

test("Charlie's menu does not silence Acme's alerts, and a reader has no menu", async (t) => {
  const { outsider, silences, db, acme, app } = await start(t)
  const service = makeService(db, acme, 'checkout')
  const quick = { matchers: 'service="checkout"', back: `/services/${service.id}`, length: '2h' }
  await outsider.send(`${LIST}/quick`, quick)
  assert.deepEqual(await silences(), [])
  const reader = makeBrowser(app)
  await reader.signIn(makeToken(db, acme, ['read']))
  assert.doesNotMatch((await reader.get(`/services/${service.id}`)).html, /Silence…/)
  assert.equal((await reader.send(`${LIST}/quick`, quick)).status, 403)
})
