/** Error pages: what is wrong, what to do, and the text that was typed. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { makeBrowser } from '../helpers/site.ts'

async function start(t: TestContext) {
  const { app, acme, charlie, db } = makeWorld(t)
  const [browser, outsider] = [makeBrowser(app), makeBrowser(app)]
  await browser.signIn(acme.token, 'Ada')
  await outsider.signIn(charlie.token)
  return { browser, outsider, db }
}

test('an unknown address leads to the services and suggests nothing that would not help', async (t) => {
  const { browser, outsider } = await start(t)
  for (const visitor of [browser, outsider]) {
    const { status, html } = await visitor.get('/nowhere')
    assert.equal(status, 404)
    assert.match(html, /Error 404<[\s\S]*<a class="button primary" href="\/">/)
    assert.doesNotMatch(html, /Try again|Sign in as somebody else/)
  }
})

test('a bug is named as such, without terms of the API, and the page can be loaded again', async (t) => {
  const { browser, db } = await start(t)
  db.execute('ALTER TABLE silences RENAME TO gone')
  const { status, html } = await browser.get('/settings/silences')
  assert.equal(status, 500)
  assert.match(html, /This is a bug in incmon\. Try again\.[\s\S]*href="\/settings\/silences">\s*Try again/)
  assert.doesNotMatch(html, /GET \/readyz|send the request|no such table/)
})

test('a form that could not be saved is shown, but never sent again by a link', async (t) => {
  const { browser } = await start(t)
  const { status, html } = await browser.send('/incidents/99/notes', { text: 'Rolled back.' })
  assert.equal(status, 404)
  assert.match(html, /Copy anything that you need\.[\s\S]*<dt>Your text<\/dt>\s*<dd[^>]*>Rolled back\.</)
  assert.doesNotMatch(html, /Try again/)
})
