/** Many incidents at once: one card for what went first, the order of the list, the screen, and the search. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

const NAMES = ['cart', 'checkout', 'ledger', 'search', 'stock', 'users', 'wallet']

/** Ledger went first, and every other service, which calls it, followed a while after the one before. Ada is signed in. */
async function storm(t: TestContext, names: readonly string[] = NAMES, apart = MINUTE, calls = 'ledger') {
  const { request, app, acme, charlie, clock, deps } = makeWorld(t)
  const order = ['ledger', ...names.filter((name) => name !== 'ledger')]
  const alerts = order.map((service, index) =>
    alert(
      'Down',
      { service, severity: 'critical' },
      {
        startsAt: NOON - 20 * MINUTE - (order.length - index) * apart,
        summary: service === 'ledger' ? 'The disk is full' : `connection to ${calls}:5432 refused`,
      },
    ),
  )
  // The victims are reported first.
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(alerts.toReversed()) })
  const [browser, outsider] = [makeBrowser(app), makeBrowser(app)]
  await browser.signIn(acme.token, 'Ada')
  await outsider.signIn(charlie.token, 'Charlie')
  const text = async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  const statuses = async () => {
    const { body } = await request('GET', '/api/incidents', { token: acme.token })
    return body.data.map(({ status }: { status: string }) => status)
  }
  return { browser, outsider, text, statuses, clock, request, acme, deps }
}

test('a storm is one card, which says what went first and how many followed', async (t) => {
  const { text, browser } = await storm(t)
  assert.match(
    await text('/'),
    /ledger went first, 6 services followed .*Likely cause of 7 incidents: ledger ?\. 1 of 7 alerts is its own last incident began 21 min ago Acknowledge all 7/,
  )
  assert.equal([...(await browser.get('/')).html.matchAll(/<article/g)].length, 1)
})

test('the page of an incident shows the headline first, then a few suspects, and a link leads to all of them', async (t) => {
  const { browser, text } = await unrelated(t, 7)
  const suspects = async (path: string) => (await browser.get(path)).html.match(/class="item suspect/g)?.length
  assert.match(await text('/incidents/1'), /No suspect stands out\. .* Suspects .* 1 shop\/s\d the service itself /)
  assert.doesNotMatch(await text('/incidents/1'), /this is the service itself/i)
  const [address = ''] = /\/incidents\/1\?suspects=all/.exec((await browser.get('/incidents/1')).html) ?? []
  assert.deepEqual([await suspects('/incidents/1'), await suspects(address)], [6, 7])
})

test('the card of a storm names the change that probably caused its cause, and only the first button stands out', async (t) => {
  const { request, acme, text, browser } = await storm(t)
  const jobs = [build('deploy', 'success', { environment: { name: 'production' } })]
  const body = pipeline('success', 'shop/ledger', { at: NOON - 31 * MINUTE, jobs })
  await request('POST', '/api/webhooks/ci', { body, headers: { 'x-gitlab-token': acme.token } })
  assert.match(await text('/'), /6 services followed Likely cause: deploy ?shop\/ledger#\d+ ?, started \d min before/)
  assert.equal([...(await browser.get('/')).html.matchAll(/class="button primary"/g)].length, 1)
})

/** Ten services whose problems have nothing in common but the time. */
const unrelated = (t: TestContext, count = 10) => {
  const names = ['ledger', ...Array.from({ length: count - 1 }, (_, index) => `s${index}`)]
  return storm(t, names, MINUTE, '127.0.0.1')
}

test('nine incidents without a common cause are cards of their own', async (t) => {
  const { browser } = await unrelated(t, 9)
  const { html } = await browser.get('/')
  assert.equal([...html.matchAll(/<article/g)].length, 8)
  assert.match(html, /1 more incident/)
  assert.doesNotMatch(html, /began within/)
})

test('ten incidents without a common cause are counted, and nothing is said to follow from another', async (t) => {
  const { browser, text } = await unrelated(t)
  const words = await text('/')
  assert.match(
    words,
    /10 critical for up to \d+ min 10 incidents began within 9 min No common cause found\. First: ledger: Down ?, /,
  )
  assert.match(
    await text('/?view=wall&tv=1'),
    /10 critical for up to \d+ min 10 incidents began within 9 min No common cause found/,
  )
  const [, first = '', second = ''] = /ledger: Down incident (\d+) .* 9 more incidents (.*?) s\d: Down/.exec(
    await text('/incidents'),
  ) ?? ['']
  assert.equal(second, `began within 9 min of incident ${first}`)
  const other = first === '1' ? 2 : 1
  assert.match(
    await text(`/incidents/${other}`),
    new RegExp(`One of 10 incidents that began within 9 min; incident ${first} was the first\\.`),
  )
  assert.match(await text(`/incidents/${first}`), /that began within 9 min; this one was the first\./)
  for (const path of ['/', '/incidents', `/incidents/${first}`, `/incidents/${other}`, '/?view=wall&tv=1'])
    assert.doesNotMatch(
      await text(path),
      /went first|followed|(?<!No )[Ll]ikely cause|because of|of the same group/,
      path,
    )
  assert.doesNotMatch((await browser.get(`/incidents/${first}`)).html, /Acknowledge all/)
})

test('a single button acknowledges the storm, and the card counts who is on it', async (t) => {
  const { browser, text, statuses } = await storm(t)
  await browser.send('/incidents/1/status', { status: 'identified' })
  assert.match(await text('/'), /Acknowledge 6 .* 1 of 7 is acknowledged\./)
  await browser.send('/incidents/acknowledge', { incidents: '2,3,4,5,6,7,1', back: '/' })
  assert.deepEqual((await statuses()).toSorted(), ['identified', ...Array(6).fill('investigating')])
  assert.match(await text('/'), /All are acknowledged\./)
})

test('a storm that is over needs nobody, and is not said to be acknowledged', async (t) => {
  const { request, acme, clock, text, deps } = await storm(t)
  const ends = NAMES.map((service) => alert('Down', { service, severity: 'critical' }, { endsAt: clock.now }))
  await request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertmanager(ends) })
  clock.now += 3 * MINUTE
  await deps.engine.sweep()
  assert.doesNotMatch(await text('/'), /acknowledged/)
})

test('numbers that are none, or of no incident, acknowledge nothing', async (t) => {
  const { browser, statuses } = await storm(t)
  for (const incidents of ['', 'x', '99', '-1', '1e3', ' ']) await browser.send('/incidents/acknowledge', { incidents })
  assert.deepEqual(await statuses(), Array(7).fill('open'))
})

test("Charlie cannot acknowledge Acme's storm", async (t) => {
  const { outsider, statuses } = await storm(t)
  await outsider.send('/incidents/acknowledge', { incidents: '1,2,3' })
  assert.deepEqual(await statuses(), Array(7).fill('open'))
})

test('the list shows the origin first, then its victims by age, and resolved incidents last', async (t) => {
  const { browser, text } = await storm(t)
  await browser.send('/incidents/2/status', { status: 'resolved' })
  const found = [...(await text('/incidents')).matchAll(/(\w+): Down/g)].map(([, name]) => name)
  assert.equal(found[0], 'ledger')
  const [resolved] = [...(await text('/incidents?status=resolved')).matchAll(/(\w+): Down/g)].map(([, name]) => name)
  assert.equal(found.at(-1), resolved)
})

test('the filters of the list count the incidents of each status, whatever is selected', async (t) => {
  const { browser, text } = await storm(t)
  await browser.send('/incidents/1/status', { status: 'investigating' })
  await browser.send('/incidents/2/status', { status: 'resolved' })
  for (const path of ['/incidents', '/incidents?status=open', '/incidents?page=9']) {
    assert.match(await text(path), /All 7 Open 5 Investigating 1 Identified 0 Monitoring 0 Resolved 1/, path)
  }
})

test('the list names who acknowledged an incident', async (t) => {
  const { browser, text } = await storm(t)
  await browser.send('/incidents/1/status', { status: 'investigating' })
  assert.match(await text('/incidents?status=investigating'), /Investigating Ada/)
})

test('a page of the list can end the unresolved incidents and begin the resolved ones', async (t) => {
  const names = Array.from({ length: 60 }, (_, index) => `s${index}`)
  const { browser, text } = await storm(t, names, 11 * MINUTE, '127.0.0.1')
  for (const number of [1, 2, 3, 4, 5]) await browser.send(`/incidents/${number}/status`, { status: 'resolved' })
  const numbersOn = async (page: number) =>
    [...(await text(`/incidents?page=${page}`)).matchAll(/incident (\d+)/g)].map(([, number]) => Number(number))
  const [first, second, third] = [await numbersOn(1), await numbersOn(2), await numbersOn(3)]
  assert.deepEqual([first.length, second.length, third.length], [50, 11, 0])
  assert.deepEqual(second.slice(-5).toSorted(), [1, 2, 3, 4, 5])
  assert.equal(new Set([...first, ...second]).size, 61)
})

test('the list folds a storm below what went first, and a filter unfolds it', async (t) => {
  const { browser, text } = await storm(t)
  const { html } = await browser.get('/incidents')
  assert.equal([...html.matchAll(/data-label="Service"/g)].length, 1)
  assert.match(await text('/incidents'), /ledger: Down .* 6 more incidents, after incident \d went first cart: Down/)
  const { html: open } = await browser.get('/incidents?status=open')
  assert.equal([...open.matchAll(/data-label="Service"/g)].length, 7)
})

test('the page of an incident in a storm says which incident went first', async (t) => {
  const { text } = await storm(t)
  const [, first] = /ledger: Down incident (\d)/.exec(await text('/incidents')) ?? []
  assert.match(
    await text(`/incidents/${first}`),
    /One of 7 incidents ?, probably because of ledger ?: this one went first/,
  )
  const other = new RegExp(`One of 7 incidents ?, probably because of ledger ?: incident ${first} went first`)
  assert.match(await text(`/incidents/${first === '1' ? 2 : 1}`), other)
})

test('the page of what went first acknowledges the whole storm and links to its incidents', async (t) => {
  const { browser, text, statuses } = await storm(t)
  const [, number = ''] = /ledger: Down incident (\d)/.exec(await text('/incidents')) ?? []
  const path = `/incidents/${number}`
  const { html } = await browser.get(path)
  assert.match(html, new RegExp(`One of <a href="/incidents#followers-${number}">7 incidents</a>`))
  assert.match((await browser.get('/incidents')).html, new RegExp(`id="followers-${number}"`))
  assert.doesNotMatch(await text(`/incidents/${number === '1' ? 2 : 1}`), /Acknowledge all/)
  const [, incidents = ''] = /name="incidents" value="([\d,]+)"/.exec(html) ?? []
  const answer = await browser.send('/incidents/acknowledge', { incidents, back: path })
  assert.ok(answer.location?.startsWith(`${path}?undo=`), answer.location ?? '')
  assert.deepEqual(new Set(await statuses()), new Set(['investigating']))
  assert.doesNotMatch(await text(path), /Acknowledge all/)
})

test('once somebody is on what went first, the button for the others stands out on its page, like on the overview', async (t) => {
  const { browser, text } = await storm(t)
  const [, number = ''] = /ledger: Down incident (\d)/.exec(await text('/incidents')) ?? []
  await browser.send(`/incidents/${number}/status`, { status: 'investigating' })
  for (const path of ['/', `/incidents/${number}`])
    assert.match((await browser.get(path)).html, /button primary[^>]*>\s*Acknowledge the other 6/, path)
})

test('the bars of a storm mark no period without a new incident', async (t) => {
  const { browser } = await storm(t)
  const [, path = ''] = /storm-bars.*?<path d="([^"]+)"/s.exec((await browser.get('/')).html) ?? []
  assert.match(path, /^M0 40v-40/)
  assert.doesNotMatch(path, /v-1(?!\d)/)
})

test('affected services share one row if they share the reason, and each has its time', async (t) => {
  const { text } = await storm(t)
  const [, number] = /ledger: Down incident (\d)/.exec(await text('/incidents')) ?? []
  const [, affected = ''] = /Affected (.*) Timeline/.exec(await text(`/incidents/${number}`)) ?? []
  assert.match(affected, /^7 services shop\/ ledger since \d\d:\d\d 6 services named .* in an alert shop\/ cart since/)
  assert.equal(affected.split('named the incident').length, 2)
  assert.equal(affected.match(/since \d\d:\d\d/g)?.length, 7)
  const { text: two } = await storm(t, ['cart'])
  const [, first] = /ledger: Down incident (\d)/.exec(await two('/incidents')) ?? []
  assert.match(await two(`/incidents/${first}`), /Affected 2 services shop\/ ledger since .* shop\/ cart named the/)
})

test('the button of a storm leads back to pages of incmon only', async (t) => {
  const { browser } = await storm(t)
  for (const back of ['//evil.example', '/incidents/1/../..', 'https://evil.example/incidents/1', '/incidents/1#x']) {
    const { location } = await browser.send('/incidents/acknowledge', { incidents: '1', back })
    assert.ok(location?.startsWith('/incidents?undo='), `${back}: ${location}`)
  }
})

test('a resolved incident, and a few incidents, are no storm', async (t) => {
  const { browser, text } = await unrelated(t, 11)
  await browser.send('/incidents/1/status', { status: 'resolved' })
  assert.doesNotMatch(await text('/incidents/1'), /began within/)
  assert.match(await text('/incidents/2'), /One of 10 incidents/)
  await browser.send('/incidents/2/status', { status: 'resolved' })
  assert.doesNotMatch(await text('/incidents/3'), /began within/)
})

test('the screen has large names and no navigation, and says what went first and who is on it', async (t) => {
  const { browser, text } = await storm(t)
  const { html } = await browser.get('/?view=wall&tv=1')
  assert.match(html, /class="tv-tiles tv-large"/)
  assert.doesNotMatch(html, /<header class="bar">|<form class="search"/)
  assert.match(html, /id="live-word"[\s\S]*<time id="clock"/)
  const words = /Critical for 27 min .*ledger went first, 6 services followed .* Nobody has acknowledged them\./
  assert.match(await text('/?view=wall&tv=1'), words)
})

test('the screen shows a single incident with its likely cause and its owner', async (t) => {
  const { browser, text } = await storm(t, ['ledger'])
  await browser.send('/incidents/1/status', { status: 'investigating' })
  assert.match(
    await text('/?view=wall&tv=1'),
    /ledger: Down No likely cause found outside the service\. .?Ada.? is investigating, 0 s\./,
  )
})

test('results while typing list the incident with the number instead of opening it', async (t) => {
  const { browser, text } = await storm(t)
  assert.equal((await browser.get('/search?q=3')).location, '/incidents/3')
  assert.match(await text('/search?q=3&list=1'), /Incidents .* \w+: Down incident 3/)
})

test('every row of an unresolved incident says its likely cause, or where to find it', async (t) => {
  const names = Array.from({ length: 24 }, (_, index) => `s${index}`)
  const { browser } = await storm(t, names, MINUTE, 'nowhere')
  const { html } = await browser.get('/incidents?status=open')
  const rows = html.match(/<tr>.*?<\/tr>/gs)?.slice(1) ?? []
  assert.equal(rows.length, 25)
  const without = rows.filter((row) => !/cause-line|probably because of|The likely cause is on its page/.test(row))
  assert.deepEqual(without, [])
})

test('the picture and the timeline say that somebody took an acknowledgement back', async (t) => {
  const { browser } = await storm(t, ['ledger'])
  await browser.send('/incidents/1/status', { status: 'investigating' })
  await browser.send('/incidents/unacknowledge', { incidents: '1' })
  const { html } = await browser.get('/incidents/1')
  assert.match(html, /Ada[^<]*: acknowledgement taken back/)
  assert.match(html, /Acknowledgement taken back/)
  assert.doesNotMatch(html, /Ada[^<]*: open|Status changed to open/)
})

test('the number of an incident leads to it, however it is written', async (t) => {
  const { browser, text } = await storm(t)
  for (const q of ['3', '%233', 'incident+3', 'Incident+%233']) {
    assert.equal((await browser.get(`/search?q=${q}`)).location, '/incidents/3')
  }
  assert.match(await text('/search?q=incident+99'), /No service, recent incident, firing alert or page matches/)
})

test('the search lists the service with exactly this name first', async (t) => {
  const { text } = await storm(t, ['ledger', 'a-cart-1', 'cart-1'])
  assert.match(await text('/search?q=cart-1'), /Services shop\/ cart-1 critical.* a-cart-1 critical/)
})

test('the search finds an incident by its service and by its notes, but not that of an outsider', async (t) => {
  const { text, browser, outsider } = await storm(t)
  await browser.send('/incidents/1/edit', { title: 'Payments are slow', severity: 'critical' })
  await browser.send('/incidents/1/notes', { text: 'The Volume of the primary is full' })
  assert.match(await text('/search?q=volume+of'), /Incidents .* incident 1, in a note/)
  assert.doesNotMatch(await text('/search?q=volumes'), /in a note/)
  assert.doesNotMatch((await outsider.get('/search?q=volume')).html, /incident 1/)
})

test('the search finds services, incidents, firing alerts and pages, and offers older alerts', async (t) => {
  const { text } = await storm(t)
  assert.match(await text('/search?q=ledger'), /Services .*ledger.* Incidents .*ledger: Down/)
  assert.match(await text('/search?q=down'), /Incidents .* Firing alerts .* Down shop\/ ledger The disk is full/)
  assert.match(await text('/search?q=severity'), /No service, recent incident, firing alert or page matches/)
  assert.match(await text('/search?q=down+critical'), /Firing alerts .* Down/)
  assert.doesNotMatch(await text('/search?q=down+%25'), /Firing alerts/)
  assert.match(await text('/search?q=Silen'), /Pages Silences/)
  assert.match(await text('/search?q=nothing-like-this'), /Search the alerts of the last 30 days/)
})
