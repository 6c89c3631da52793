/** Sixty hostile strings in every field that a sender or user can fill, on every page, in a real browser. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser } from '../helpers/browser.ts'
import { HOSTILE } from '../helpers/hostile-strings.ts'
import { alert, alertmanager, build, kubernetesEvent, pipeline } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'

const PHONE = { width: 360, height: 740, scheme: 'light' } as const

/** Paths, or names of pages whose path is known only after they are filled. */
const PAGES = [
  ...['/', '/?view=wall', '/incidents', '/alerts', '/sources', '/reports', '/welcome', '/keyboard'],
  ...[
    '/settings',
    '/settings/tokens',
    '/settings/sessions',
    '/settings/retention',
    '/settings/notifications',
    '/settings/notifications/new',
    '/search?q=%3Cscript%3E',
  ],
  ...['incident', 'incident with one title', 'postmortem', 'service', 'alert'],
]

describe('Hostile strings', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  let server: Awaited<ReturnType<typeof startServer>>
  let page: Page
  let reports: readonly string[]
  let paths: Readonly<Record<string, string>>

  before(async () => {
    const cleaner = { after: (work: () => void | Promise<void>) => void cleanings.unshift(work) }
    server = await startServer(cleaner)
    paths = await fill(server.request)
    const { visit } = await startBrowser(cleaner)
    const visited = await visit(`${server.url}/sign-in`, PHONE)
    page = visited.page
    reports = visited.complaints
    await page.fill('#token', server.token)
    await page.fill('#person', '"><img src=x onerror=window.attacked=1>')
    await page.click('button[type=submit].primary')
    await page.waitForSelector('header.bar')
  })
  after(async () => {
    for (const clean of cleanings) await clean()
  })

  test('are sixty in number', () => {
    assert.equal(new Set(HOSTILE).size, 60)
  })

  for (const name of PAGES) {
    test(`run nothing, link nowhere and keep the layout intact on the page ${name}`, async () => {
      const answer = await page.goto(server.url + (paths[name] ?? name))
      assert.equal(answer?.status(), 200)
      assert.deepEqual(await findings(page), { attacked: false, elements: [], links: [], width: PHONE.width })
      assert.deepEqual(
        reports.filter((line) => /Content.Security.Policy|Refused to|SyntaxError|evil\.example/i.test(line)),
        [],
      )
    })
  }

  test('are shown as text on the pages that they are meant to attack', async () => {
    for (const name of ['incident', 'postmortem', 'service', '/alerts', '/settings/tokens']) {
      await page.goto(server.url + (paths[name] ?? name))
      const shown = (await page.locator('main').innerText()).split('window.attacked=1').length - 1
      assert.ok(shown >= 5, `${name}: ${shown}`)
    }
  })

  test('are detected by the test on a page that outputs them without escaping', async () => {
    await page.goto('about:blank')
    await page.setContent(HOSTILE.join(' '))
    const { attacked, elements, links } = await findings(page)
    assert.ok(attacked && elements.length > 3 && links.length > 0)
  })
})

type Request = Awaited<ReturnType<typeof startServer>>['request']

/** Writes each string into each field through the webhooks and the API. Returns the paths of pages that show them. */
async function fill(request: Request): Promise<Readonly<Record<string, string>>> {
  const post = async (path: string, body: unknown, method = 'POST') => {
    const headers = { 'Content-Type': 'application/json', ...(path.endsWith('/ci') ? { 'X-Ci-Token': '' } : {}) }
    const answer = await request(method, path, JSON.stringify(body), headers)
    assert.ok(answer.status < 400, `${method} ${path}: ${JSON.stringify(answer.body)}`)
    return answer
  }
  const fields = (text: string) => ({ [text.slice(0, 60)]: text, pod: text, container: text })
  const alerts = HOSTILE.map((text) => ({
    ...alert(text, { ...fields(text), service: 'cart' }, { summary: text }),
    annotations: { summary: text, description: text, runbook_url: text, dashboard_url: text },
    generatorURL: text,
  }))
  await post('/api/webhooks/metrics', alertmanager(alerts, { externalURL: 'javascript:window.attacked=1' }))
  const elsewhere = HOSTILE.map((text) => alert('Down', { service: text, namespace: text, cluster: text }))
  await post('/api/webhooks/metrics', alertmanager(elsewhere))
  for (const text of HOSTILE) await post('/api/webhooks/cluster', kubernetesEvent(text, text, { message: text }))
  await fillPipelines(request)
  const { body: found } = await request('GET', '/api/alerts?q=script&limit=100')
  const attack = found.data.find(({ labels, name }: { labels: { service: string }; name: string }) => {
    return labels.service === 'cart' && name.startsWith('<script>')
  })
  for (const text of HOSTILE) {
    await post('/api/services', { name: text.slice(0, 253), namespace: text.slice(0, 253), aliases: [] })
    await post('/api/tokens', { name: text.slice(0, 100), scopes: ['read'] })
    const matchers = [{ name: 'alertname', op: '=', value: text }]
    await post('/api/silences', {
      matchers,
      startsAt: '2098-01-01T00:00:00Z',
      endsAt: '2099-01-01T00:00:00Z',
      comment: text,
    })
    await post('/api/channels', { name: text.slice(0, 100), kind: 'ntfy', url: 'https://ntfy.example.com/topic' })
  }
  const { body: open } = await request('GET', '/api/incidents')
  const { id, number } = open.data[0]
  for (const text of HOSTILE) await post(`/api/incidents/${id}/notes`, { text })
  for (const text of HOSTILE)
    await post('/api/incidents', { title: text.slice(0, 200), serviceId: attack.serviceId, severity: 'critical' })
  await post('/api/organization', { name: HOSTILE[0] }, 'PATCH')
  const { body: all } = await request('GET', '/api/incidents?limit=100')
  const titled = all.data.find(({ title }: { title: string }) => title.includes('<script>'))
  await post(`/api/incidents/${id}`, { status: 'resolved' }, 'PATCH')
  const everything = HOSTILE.join('\n\n')
  const edits = {
    ...{ summary: everything, rootCause: everything, impact: { customers: everything } },
    ...{
      lessons: { wentWell: everything },
      actions: HOSTILE.map((text, index) => ({ id: `own-${index}`, text, owner: text.slice(0, 100) })),
    },
  }
  await post(`/api/incidents/${id}/postmortem`, edits, 'PATCH')
  return {
    incident: `/incidents/${number}`,
    'incident with one title': `/incidents/${titled.number}`,
    postmortem: `/incidents/${number}/postmortem`,
    service: `/services/${attack.serviceId}`,
    alert: `/alerts/${attack.id}`,
  }
}

/** Pipelines whose branch, job, commit, author and failure reason are hostile. */
async function fillPipelines(request: Request): Promise<void> {
  const { body: token } = await request('POST', '/api/tokens', JSON.stringify({ name: 'ci', scopes: ['ingest'] }), {
    'Content-Type': 'application/json',
  })
  for (const [index, text] of HOSTILE.entries()) {
    const jobs = [build(`deploy ${text}`, 'failed', { stage: text, failure_reason: text, environment: { name: text } })]
    const hook = pipeline('failed', 'shop/cart', { id: index + 1, ref: text, jobs })
    const commit = { id: text, title: text, message: text, url: text, author: { name: text, email: text } }
    const body = JSON.stringify({ ...hook, commit, user: { name: text, username: text } })
    await request('POST', '/api/webhooks/ci', body, { 'X-Ci-Token': token.token })
  }
}

type Findings = {
  /** Whether a script in one of the strings ran. */
  readonly attacked: boolean
  /** Elements that do not occur on any page of incmon. */
  readonly elements: readonly string[]
  /** Links to anything other than a web page. A web address that a person wrote into a note is a link. */
  readonly links: readonly string[]
  readonly width: number
}

function findings(page: Page): Promise<Findings> {
  return page.evaluate(`({
    attacked: 'attacked' in window,
    elements: [...document.querySelectorAll('iframe, object, embed, base, math, body img, video, svg script, meta[http-equiv=refresh]')]
      .map((found) => found.outerHTML.slice(0, 120)),
    links: [...document.querySelectorAll('[href], [src], [action], [formaction]')]
      .filter((found) => !found.matches('.entry-note a[href^="https:"]'))
      .flatMap((found) => ['href', 'src', 'action', 'formaction'].map((name) => found.getAttribute(name) ?? ''))
      .filter((address) => /^\\s*(?!https?:|mailto:)[a-z][\\w+.-]*:/i.test(address) || /^(https?:)?\\/\\/evil/.test(address)),
    width: document.documentElement.scrollWidth,
  })`)
}
