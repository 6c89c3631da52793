/** The overview, the list of incidents and the incident page, in a browser without JavaScript. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, makeAlert, makeChannel, makeIncident, makeService, makeToken, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

/** Reports through webhooks that cart is down and that a deploy failed shortly before. */
async function brokenCart(t: TestContext, { deploys = true } = {}) {
  const world = makeWorld(t)
  const token = world.acme.token
  const down = alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON - 2 * MINUTE })])
  await world.request('POST', '/api/webhooks/metrics', { token, body: down })
  const body = pipeline('failed', 'shop/cart', { at: NOON - MINUTE, jobs: [build('deploy', 'failed')] })
  if (deploys) await world.request('POST', '/api/webhooks/ci', { token, body })
  const { data } = (await world.request('GET', '/api/incidents', { token })).body
  const browser = makeBrowser(world.app)
  await browser.signIn(token, 'Ada')
  const path = `/incidents/${data[0].number}`
  const send = async (to: string, fields: Readonly<Record<string, string>>) =>
    browser.post(to, { csrf: await browser.csrf(path), ...fields })
  const { id } = data[0]
  const recover = (minute: number) => {
    world.clock.now = NOON + minute * MINUTE
    const over = { startsAt: NOON - 2 * MINUTE, endsAt: world.clock.now }
    return world.request('POST', '/api/webhooks/metrics', {
      token,
      body: alertmanager([alert('Down', { service: 'cart' }, over)]),
    })
  }
  return { ...world, token, browser, path, id: String(id), send, recover }
}

test('a group of another service, whose incident was merged, names it and silences it', async (t) => {
  const { browser, request, token, send, clock } = await brokenCart(t)
  clock.now = NOON + MINUTE
  const body = alertmanager([alert('Down', { service: 'stock', namespace: 'depot' })])
  await request('POST', '/api/webhooks/metrics', { token, body })
  await send('/incidents/2/merge', { into: '1' })
  const alerts = /id="alerts".*?id="suspects"/s.exec((await browser.get('/incidents/1')).html)?.[0] ?? ''
  const silenced = [...alerts.matchAll(/\?matchers=([^"]*)"/g)].map(([, one]) => decodeURIComponent(one ?? ''))
  assert.deepEqual(
    silenced.map((one) => /service="(\w+)"/.exec(one)?.[1]),
    ['stock', 'cart', 'cart'],
  )
  assert.equal([...alerts.matchAll(/depot\/<\/span><wbr\/?><b>stock/g)].length, 1)
})

test('the overview says what is critical, since when, why, and that nobody has acknowledged it', async (t) => {
  const { browser } = await brokenCart(t)
  const { html, status } = await browser.get('/')
  assert.equal(status, 200)
  assert.match(html, /<title>\(1\) cart is critical · incmon<\/title>/)
  assert.match(html, /1 service is critical: cart\./)
  assert.match(
    html,
    /Critical for 2 min.*Likely cause: failed deploy.*shop\/cart#31.*Nobody has acknowledged it\.[^.]*add a channel/s,
  )
})

test('the overview names what became unhealthy after the first incident began, and when its newest alert started', async (t) => {
  const { browser, request, token } = await brokenCart(t)
  const send = (name: string, service: string, minutes: number) =>
    request('POST', '/api/webhooks/metrics', {
      token,
      body: alertmanager([alert(name, { service, severity: 'error' }, { startsAt: NOON - minutes * MINUTE })]),
    })
  await send('Errors', 'cart', 1)
  await send('Errors', 'storefront', 1)
  const { html } = await browser.get('/')
  assert.match(
    html,
    /#alerts">the newest alert started 1 min ago<\/a><\/li><li><a [^>]*href="#services">storefront was reported unhealthy later/,
  )
})

test('the overview does not call later what began before the first incident and was reported after its start', async (t) => {
  const { app, acme, request, clock } = makeWorld(t)
  const send = (name: string, service: string, more: object) =>
    request('POST', '/api/webhooks/metrics', {
      token: acme.token,
      body: alertmanager([alert(name, { service }, more)]),
    })
  const early = { startsAt: NOON - 5 * MINUTE }
  for (const times of [early, { ...early, endsAt: NOON - 4 * MINUTE }]) await send('Errors', 'checkout', times)
  await send('Down', 'cart', { startsAt: NOON - 2 * MINUTE })
  clock.now = NOON + 4 * MINUTE
  const browser = makeBrowser(app)
  await browser.signIn(acme.token, 'Ada')
  const { html } = await browser.get('/')
  assert.match(html, /cart: Down.*checkout: Errors/s)
  assert.doesNotMatch(html, /reported unhealthy later/)
})

test('the overview lists eight incidents and says how many more are not resolved', async (t) => {
  const { db, acme, browser } = await brokenCart(t)
  // Problems that begin more than ten minutes apart are no storm.
  for (let n = 0; n < 9; n += 1) {
    makeIncident(db, acme, makeService(db, acme, `down-${n}`), { started_at: NOON - (n + 2) * 11 * MINUTE })
  }
  assert.match((await browser.get('/')).html, /<a href="\/incidents">2 more incidents<\/a> are not resolved\./)
})

test('a name from right to left does not reorder the headline', async (t) => {
  const world = makeWorld(t)
  const { token } = world.acme
  const body = alertmanager([alert('Down', { service: 'خدمة' })])
  await world.request('POST', '/api/webhooks/metrics', { token, body })
  const browser = makeBrowser(world.app)
  await browser.signIn(token, 'Ada')
  assert.match((await browser.get('/')).html, /<h1>1 service is critical: \u2068خدمة\u2069\./)
})

test('healthy services with an unresolved incident do not look as if all were over', async (t) => {
  const world = makeWorld(t)
  makeIncident(world.db, world.acme, makeService(world.db, world.acme, 'calm'), {})
  const browser = makeBrowser(world.app)
  await browser.signIn(world.acme.token, 'Ada')
  assert.match((await browser.get('/')).html, /is healthy\. <span class="rest">1 incident is not resolved\./)
})

test('the page of an incident says what to look at first, and that no person has acted', async (t) => {
  const { browser, path, request, token, send } = await brokenCart(t)
  const crash = crashLoop('cart-5d9c7b6f4-x2kqp', { at: NOON - MINUTE })
  await request('POST', '/api/webhooks/cluster', { token, body: crash })
  const { html } = await browser.get(path)
  assert.match(html, /class="cause-sentence".*Read the log of the previous run.*What happened when/s)
  assert.match(html, /newest first; nobody has acted yet/)
  await send(`${path}/status`, { status: 'investigating' })
  assert.doesNotMatch((await browser.get(path)).html, /nobody has acted/)
})

test('the page of an incident has its cause, picture, suspects, alerts and timeline', async (t) => {
  const { browser, path } = await brokenCart(t)
  const { html, status } = await browser.get(path)
  assert.equal(status, 200)
  for (const part of ['Likely cause', 'What happened when', 'Suspects', 'Alerts', 'Timeline', 'Acknowledge'])
    assert.ok(html.includes(part), part)
  assert.match(html, /aria-label="What happened from 11:4\d to 12:00: 1 pipeline and 1 alert\./)
})

test('the cause, the service and the postmortem link to the pipeline in GitLab', async (t) => {
  const { browser, path, send } = await brokenCart(t)
  const link = /<a href="https:\/\/gitlab\.example\/shop\/cart\/-\/pipelines\/31" rel="noreferrer"[^>]*>/
  const { html } = await browser.get(path)
  assert.match(html, new RegExp(`${link.source}Open #31 in GitLab`))
  const service = /href="(\/services\/[^"]+)"/.exec(html)?.[1] ?? ''
  assert.match((await browser.get(service)).html, new RegExp(`${link.source}#31`))
  await send(`${path}/status`, { status: 'resolved' })
  assert.match((await browser.get(`${path}/postmortem`)).html, new RegExp(`${link.source}GitLab`))
})

test('what the cause already shows is not repeated, and the timeline has no row for each link', async (t) => {
  const { browser, path, request, token } = await brokenCart(t)
  const crash = crashLoop('cart-5d9c7b6f4-x2kqp', { at: NOON - MINUTE })
  await request('POST', '/api/webhooks/cluster', { token, body: crash })
  const { html } = await browser.get(path)
  for (const once of ['Open #31 in GitLab', 'Read the log of the previous run', 'value="confirmed"'])
    assert.equal(html.split(once).length, 2, once)
  assert.doesNotMatch(html, /linked to/)
})

test('the command names the pod of the newest event, like the summary', async (t) => {
  const { browser, path, request, token } = await brokenCart(t)
  for (const [pod, minutes] of [
    ['cart-5d9c7b6f4-x2kqp', 2],
    ['cart-5d9c7b6f4-g5q7t', 1],
  ] as const)
    await request('POST', '/api/webhooks/cluster', { token, body: crashLoop(pod, { at: NOON - minutes * MINUTE }) })
  const { html } = await browser.get(path)
  assert.match(html.replaceAll(/<[^>]+>/g, ''), /kubectl logs -n shop cart-5d9c7b6f4-g5q7t --previous/)
})

test('a warning that counts as critical has the mark of its penalty, and says how it was sent', async (t) => {
  const { browser, path, request, token } = await brokenCart(t, { deploys: false })
  const pod = 'cart-5d9c7b6f4-x2kqp'
  const labels = { service: 'cart', pod, severity: 'warning' }
  const looping = alertmanager([alert('KubePodCrashLooping', labels, { startsAt: NOON - MINUTE })])
  await request('POST', '/api/webhooks/cluster', { token, body: crashLoop(pod, { at: NOON - MINUTE }) })
  await request('POST', '/api/webhooks/metrics', { token, body: looping })
  const { html } = await browser.get(path)
  const service = await browser.get(/href="(\/services\/[^"]+)"/.exec(html)?.[1] ?? '')
  assert.match(service.html, /−40<[\s\S]*critical: an event and an alert agree/)
  const list = await browser.get('/alerts?severity=warning')
  assert.match(list.html, /sent as warning/)
  for (const page of [html, service.html]) assert.match(page, /Sent as warning, counts as critical\./)
  const found = await browser.get('/search?q=looping')
  assert.match(found.html, /Kube<wbr\/>Pod<wbr\/>Crash<wbr\/>Looping/)
  for (const page of [html, service.html, list.html, found.html]) {
    assert.doesNotMatch(page, /<svg class="mark level-warning"[^>]*aria-label/)
  }
})

test('a pipeline whose sender provides no web address has no link', async (t) => {
  const { browser, path, request, token } = await brokenCart(t, { deploys: false })
  const body = pipeline('failed', 'shop/cart', { at: NOON - MINUTE, jobs: [build('deploy', 'failed')] })
  Object.assign(body, { project: { path_with_namespace: 'shop/cart', web_url: 'javascript:alert(1)' } })
  await request('POST', '/api/webhooks/ci', { token, body })
  const { html } = await browser.get(path)
  assert.match(html, /shop\/cart#31/)
  assert.doesNotMatch(html, /in GitLab|javascript:/)
})

test('a person acknowledges, adds a note and resolves without JavaScript', async (t) => {
  const { browser, path, id, request, token, send } = await brokenCart(t)
  const sent = await send(`${path}/status`, { status: 'investigating' })
  assert.deepEqual([sent.status, sent.location], [303, `${path}?undo=1&done=acknowledged`])
  await send(`${path}/notes`, { text: 'rolling back' })
  const { html } = await browser.get(path)
  assert.match(html, /Investigating.*step-detail[^>]*>\u2068Ada/s)
  assert.match(html, /rolling back.* · by .*Ada/s)
  await send(`${path}/status`, { status: 'resolved' })
  assert.equal((await request('GET', `/api/incidents/${id}`, { token })).body.status, 'resolved')
  assert.match((await browser.get(path)).html, /Reopen/)
})

test('the list says when an incident was resolved later than its problem ended', async (t) => {
  const { browser, path, recover, clock, send } = await brokenCart(t)
  await recover(8)
  clock.now = NOON + 14 * MINUTE
  await send(`${path}/status`, { status: 'resolved' })
  assert.match(
    (await browser.get('/incidents')).html,
    /data-label="Lasted"><span><span class="nowrap">10 min<\/span>, resolved after 16 min</,
  )
})

test('the duration stops when the last alert ends, and the list and the overview agree', async (t) => {
  const { browser, path, recover, clock } = await brokenCart(t)
  assert.match((await browser.get(path)).html, /Critical for 2 min.*since 11:58/s)
  await recover(8)
  clock.now = NOON + 90 * MINUTE
  const { html } = await browser.get(path)
  assert.match(html, /Was critical for.*10 min.*from 11:58 to 12:08/s)
  assert.match(html, /<title>Recovered: cart: Down · incmon/)
  assert.match((await browser.get('/incidents')).html, /data-label="Lasted"><span><span class="nowrap">10 min<\/span></)
  assert.match((await browser.get('/')).html, /Was critical for 10 min/)
})

test('a status step names the person who set it', async (t) => {
  const { browser, path, recover, deps, clock, send } = await brokenCart(t, { deploys: false })
  await send(`${path}/status`, { status: 'investigating' })
  await recover(8)
  clock.now = NOON + 39 * MINUTE
  while (await deps.engine.sweep());
  const { html } = await browser.get(path)
  assert.match(html, /Monitoring.*step-detail[^>]*>incmon, 0 s/s)
  assert.match((await browser.get('/')).html, /Was critical for [^<]* until 12:08, \w+ now\. .*Ada/s)
})

test('resolving while alerts are firing is not hidden', async (t) => {
  const { browser, path, send } = await brokenCart(t)
  const { html: before } = await browser.get(path)
  assert.match(
    before,
    /1 alert is still firing, not counting 1 failed pipeline\. It opens no new incident until it has ended\.</,
  )
  assert.match(before, /firing for 2 min/)
  assert.match(before, /2 alerts \(1 failed pipeline\) in 2 groups, 1 still firing/)
  assert.equal(before.match(/firing for \d/g)?.length, 1)
  assert.match(before, /failed \d+ min ago/)
  assert.equal((await send(`${path}/status`, { status: 'resolved' })).location, `${path}?done=resolved-early`)
  const { html } = await browser.get(path)
  assert.match(
    html,
    /1 alert is still firing, though this incident is resolved\. .* until\s*it ends\. Until then, it opens/s,
  )
  assert.match(html, /Critical for.*since 11:58/s)
  assert.match(html, /Resolved, while \w+ was still firing/)
})

test('the resolve box promises reminders if there is a channel', async (t) => {
  const { browser, path, db, acme } = await brokenCart(t)
  makeChannel(db, acme)
  assert.match((await browser.get(path)).html, /has ended\. Your channels will get a reminder after 30 minutes\./)
})

test('resolving after all alerts have ended needs no warning', async (t) => {
  const { browser, path, send, recover } = await brokenCart(t)
  await recover(8)
  assert.match((await browser.get(path)).html, /All its alerts have ended, not counting 1 failed pipeline\./)
  assert.equal((await send(`${path}/status`, { status: 'resolved' })).location, `${path}?done=resolved`)
  assert.doesNotMatch((await browser.get(path)).html, /still firing/)
})

test('a verdict confirms the suspect, moves it to the top, and can be undone', async (t) => {
  const { browser, path, send } = await brokenCart(t)
  const suspect = { ref: 'shop/cart#31', kind: 'pipeline' }
  await send(`${path}/verdict`, { ...suspect, verdict: 'confirmed' })
  assert.match((await browser.get(path)).html, /Confirmed cause.*Confirmed by (?!a user)[\w ]+\./s)
  await send(`${path}/verdict`, { ...suspect, verdict: 'rejected' })
  const { html } = await browser.get(path)
  assert.match(html, /No (other )?likely cause found/)
  assert.doesNotMatch(html, /may explain this problem/)
  await send(`${path}/verdict`, { ...suspect, verdict: '' })
  assert.match((await browser.get(path)).html, /Likely cause/)
})

test('a pipeline and the rollout that it caused are one suspect, with one verdict', async (t) => {
  const { browser, path, request, token, send, db } = await brokenCart(t)
  const message = 'Scaled up replica set cart-7c9f6d5b8 to 1'
  const scaled = kubernetesEvent('ScalingReplicaSet', 'cart', { kind: 'Deployment', message, at: NOON - 3 * MINUTE })
  await request('POST', '/api/webhooks/cluster', { token, body: scaled })
  const { html } = await browser.get(path)
  assert.match(html.replaceAll('<wbr/>', ''), /shop\/cart#31.*→ rollout.*shop\/cart@7c9f6d5b8/s)
  assert.equal(html.match(/class="suspect-rank/g)?.length, 2)
  await send(`${path}/verdict`, { ref: 'shop/cart#31', kind: 'pipeline', verdict: 'rejected' })
  const links = db.all(db.sql.selectFrom('correlations').select(['change_kind', 'verdict']).orderBy('change_kind'))
  assert.deepEqual(
    links.map(({ change_kind, verdict }) => [change_kind, verdict]),
    [
      ['pipeline', 'rejected'],
      ['rollout', 'rejected'],
    ],
  )
})

test('the page lists the affected services since when, also a connected one, but none that was ill before', async (t) => {
  const { browser, path, request, token } = await brokenCart(t)
  const failing = (service: string, minutes: number) =>
    alert(
      'Errors',
      { service, severity: 'error' },
      { startsAt: NOON - minutes * MINUTE, summary: 'lookup cart: no such host' },
    )
  const alerts = [failing('storefront', 1), failing('ledger', 9), alert('Slow', { service: 'search' })]
  await request('POST', '/api/webhooks/metrics', { token, body: alertmanager(alerts) })
  await request('POST', '/api/webhooks/cluster', { token, body: crashLoop('cart-5d9c7b6f4-x2kqp', { at: NOON }) })
  const affected = async () =>
    /id="affected".*?<\/section>/s
      .exec((await browser.get(path)).html)?.[0]
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
  assert.match(
    (await affected()) ?? '',
    /2 services shop\/ cart Pod: cart-5d9c7b6f4-x2kqp since 11:58 shop\/ storefront/,
  )
  assert.doesNotMatch((await affected()) ?? '', /ledger|search/)
})

test('a verdict on a suspect without a link says what to do', async (t) => {
  const { path, send } = await brokenCart(t)
  const { status, html } = await send(`${path}/verdict`, { ref: 'x', kind: 'pipeline', verdict: 'confirmed' })
  assert.deepEqual([status, html.includes('Reload the incident')], [409, true])
})

test('an empty note and an unknown status change nothing', async (t) => {
  const { path, id, request, token, send } = await brokenCart(t)
  assert.equal((await send(`${path}/notes`, { text: '  ' })).status, 303)
  assert.equal((await send(`${path}/status`, { status: 'exploded' })).status, 303)
  const { body } = await request('GET', `/api/incidents/${id}`, { token })
  assert.deepEqual([body.status, body.timeline.some((one: { kind: string }) => one.kind === 'note')], ['open', false])
})

test('Charlie sees neither the incident nor its service, and cannot change it', async (t) => {
  const { app, db, charlie, path, id, request, token } = await brokenCart(t)
  const browser = makeBrowser(app)
  await browser.signIn(charlie.token)
  assert.deepEqual([(await browser.get(path)).status, (await browser.get(`/incidents/${id}`)).status], [404, 404])
  assert.doesNotMatch((await browser.get('/')).html, /cart/)
  assert.match((await browser.get('/incidents')).html, /There has been no incident yet\./)
  const own = makeIncident(db, charlie, makeService(db, charlie, 'own'))
  const csrf = await browser.csrf(`/incidents/${own.id}`)
  for (const act of ['status', 'notes', 'verdict'])
    assert.equal((await browser.post(`/incidents/${id}/${act}`, { csrf, status: 'resolved', text: 'x' })).status, 404)
  assert.equal((await request('GET', `/api/incidents/${id}`, { token })).body.status, 'open')
})

test('a person with read access sees no buttons, and is refused', async (t) => {
  const { app, db, acme, path } = await brokenCart(t)
  const browser = makeBrowser(app)
  await browser.signIn(makeToken(db, acme, ['read']))
  assert.doesNotMatch((await browser.get(path)).html, /Acknowledge|Add note|Resolve…/)
  assert.equal((await browser.post(`${path}/status`, { status: 'resolved' })).status, 403)
})

test('a URL without an existing incident gets 404', async (t) => {
  const { browser } = await brokenCart(t)
  assert.deepEqual(
    [(await browser.get('/incidents/x')).status, (await browser.get('/incidents/999')).status],
    [404, 404],
  )
})

test('the list shows unresolved incidents first, and ignores unknown parameters', async (t) => {
  const { browser, db, acme } = await brokenCart(t)
  const service = makeService(db, acme, 'mailer')
  makeIncident(db, acme, service, { title: 'mailer: done', status: 'resolved', resolved_at: NOON })
  const { html } = await browser.get('/incidents?status=exploded&page=-7')
  assert.ok(html.indexOf('cart: Down') < html.indexOf('mailer: done'))
  assert.match(html, /<h1>1 unresolved incident</)
  assert.doesNotMatch((await browser.get('/incidents?status=resolved')).html, /cart: Down/)
})

test('41 services are shown as a wall unless the URL says otherwise', async (t) => {
  const { browser, db, acme } = await brokenCart(t)
  for (let n = 0; n < 41; n += 1) makeService(db, acme, `service-${n}`)
  assert.match((await browser.get('/')).html, /class="cell-critical"/)
  assert.match((await browser.get('/?view=list')).html, /<table class="services/)
})

test('a filter shows its services, or says that there are none', async (t) => {
  const { browser } = await brokenCart(t)
  assert.match((await browser.get('/?status=degraded')).html, /No service is degraded\..*Show all services/s)
  assert.match((await browser.get('/?q=%3Cscript%3E')).html, /No service matches “&lt;script&gt;”\./)
})

test('a storm of 10,000 similar alerts is one group, one timeline row, and a page below 60 kB', async (t) => {
  const { browser, db, acme, path, request, token, id } = await brokenCart(t)
  const service = makeService(db, acme, 'storm')
  const incident = db.first(db.sql.selectFrom('incidents').select('id').where('number', '=', 1))
  db.transaction(() => {
    for (let n = 0; n < 10_000; n += 1) {
      const labels = JSON.stringify({ alertname: 'Slow', route: `/${n % 11}`, pod: `cart-${n}` })
      makeAlert(db, acme, service, { name: 'Slow', labels, incident_id: incident?.id ?? 0, starts_at: NOON - n })
    }
  })
  const { html } = await browser.get(path)
  assert.match(html, /<b class="break">Slow<\/b>.*×10,000.*11 routes on 10,000 pods/s)
  assert.ok(html.length < 60_000, `${html.length}`)
  const { timeline } = (await request('GET', `/api/incidents/${id}`, { token })).body
  const rows = timeline.filter(({ text }: { text: string }) => text.startsWith('Slow'))
  assert.deepEqual([rows.length, rows[0]?.count], [1, 10_000])
})

test('150 alerts with different names are 100 groups and one row that links to the list of alerts', async (t) => {
  const { browser, db, acme, path } = await brokenCart(t)
  const service = makeService(db, acme, 'storm')
  const incident = db.first(db.sql.selectFrom('incidents').select('id').where('number', '=', 1))
  const common = { incident_id: incident?.id ?? 0, severity: 'info' } as const
  for (let n = 0; n < 150; n += 1) makeAlert(db, acme, service, { ...common, name: `Check${n}`, starts_at: NOON + n })
  const { html } = await browser.get(path)
  const [, others = ''] =
    /<p class="row group-name"><a class="ink" href="([^"]+)"><b class="break">Other/.exec(html) ?? []
  assert.match(others, /^\/alerts\?service=[^&]+&amp;severity=info$/)
  assert.match(html, /152 alerts \(1 failed pipeline\): 100 groups and 52 more/)
  assert.match(html, /aria-label="Other alerts/)
  assert.doesNotMatch(html, /Silence<span class="hidden-text"> Other/)
  assert.equal((await browser.get(others.replace('&amp;', '&'))).status, 200)
})

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "javascript:alert('x')",
  '\u202Egnp.exe',
  '{{7*7}}',
  '</title><b>',
]

for (const text of HOSTILE) {
  test(`${JSON.stringify(text)} in every field is shown as text`, async (t) => {
    const { browser, db, acme, send } = await brokenCart(t)
    const service = makeService(db, acme, text, { namespace: text, status: 'critical', score: 8 })
    const incident = makeIncident(db, acme, service, { title: text })
    makeAlert(db, acme, service, {
      name: text,
      summary: text,
      labels: JSON.stringify({ [text]: text }),
      incident_id: incident.key,
    })
    await send(`/incidents/${incident.id}/notes`, { text })
    for (const path of ['/', '/incidents', `/incidents/${incident.id}`]) {
      const { html, status } = await browser.get(path)
      assert.equal(status, 200)
      assert.doesNotMatch(html, /<script>alert|<img|href="javascript:|<\/title><b>/)
    }
  })
}
