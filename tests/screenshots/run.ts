/**
 * Takes screenshots of all pages of the demo: `npm run screenshots -- DIRECTORY`. Each page is shown in both themes at 360
 * and 1280 px, the overview also at 3840 px. `--readme` only updates the README's four pictures in `docs/pictures`.
 */
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { type Browser, type BrowserContext, chromium } from 'playwright-core'
import { startDemo } from '../../src/cli/demo/demo.ts'
import { readConfig } from '../../src/config.ts'
import { CHROMIUM } from '../helpers/browser.ts'

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--hide-scrollbars']
const SCREENS = [
  { width: 1280, height: 800 },
  { width: 360, height: 740 },
] as const
/** The overview is also made for televisions. */
const TELEVISION = { width: 3840, height: 2160 }
const THEMES = ['light', 'dark'] as const
/** The maximum size of a picture in the README in bytes, so that it loads quickly. */
const MAX_PICTURE = 200_000

/** The pages by name. A value that starts with `.` is a selector on the overview whose link leads to the page. */
const PAGES: Readonly<Record<string, string>> = {
  overview: '/?view=list',
  wall: '/?view=wall',
  incidents: '/incidents',
  incident: '/incidents/27',
  postmortem: '/incidents/23/postmortem',
  service: '.services tbody tr a',
  alerts: '/alerts',
  alert: '.groups a',
  settings: '/settings',
  sources: '/sources',
  reports: '/reports',
  channels: '/settings/notifications',
  'channel-new': '/settings/notifications/new?kind=slack',
  silences: '/settings/silences',
  'silence-new': '/settings/silences/new',
  tokens: '/settings/tokens',
  welcome: '/welcome',
  search: '/search?q=shop',
}

const { values, positionals } = parseArgs({ options: { readme: { type: 'boolean' } }, allowPositionals: true })
const folder = positionals[0] ?? 'screenshots'
if (!values.readme) mkdirSync(folder, { recursive: true })
const read = readConfig({ flags: {} })
if ('faults' in read) throw new Error(read.faults.join('\n'))
const now = Date.now()
const log = pino({ level: 'silent' })
console.log('making the demo')
const demo = await startDemo({ settings: { ...read.config, port: 0 }, log, now: () => now })
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
try {
  const state = await signedIn(browser)
  if (values.readme) await readmePictures(state)
  for (const [name, address] of Object.entries(values.readme ? {} : PAGES)) {
    const screens = name === 'overview' || name === 'wall' ? [...SCREENS, TELEVISION] : SCREENS
    for (const scheme of THEMES) for (const screen of screens) await shoot(state, { name, address, scheme, screen })
  }
} finally {
  await browser.close()
  await demo.close()
}

type State = Awaited<ReturnType<BrowserContext['storageState']>>
type Shot = {
  readonly name: string
  readonly address: string
  readonly scheme: (typeof THEMES)[number]
  readonly screen: { readonly width: number; readonly height: number }
}

/** Returns the cookies of a user who signed in with the setup link and can see every page. */
async function signedIn(browser: Browser): Promise<State> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(demo.link)
  await page.fill('#person', 'Ada')
  await page.click('main button[type=submit]')
  await page.waitForURL((url) => url.pathname !== '/setup')
  const state = await context.storageState()
  await context.close()
  return state
}

/** Takes a screenshot of a page. A page that does not exist is reported and skipped. */
async function shoot(state: State, { name, address, scheme, screen }: Shot): Promise<void> {
  const context = await browser.newContext({ storageState: state, viewport: screen, colorScheme: scheme })
  const page = await context.newPage()
  // The demo's clock stands still, so the clock of the page must stand still too.
  await page.clock.setFixedTime(now)
  const target = address.startsWith('/') ? address : await linked(page, address)
  const answer = await page.goto(`${demo.url}${target}`)
  if (answer?.status() === 200) {
    const file = join(folder, `${name}-${scheme}-${screen.width}.png`)
    await page.screenshot({ path: file, fullPage: true })
    console.log(file)
  } else console.log(`${name}: ${answer?.status()} at ${target}`)
  await context.close()
}

async function linked(page: import('playwright-core').Page, selector: string): Promise<string> {
  await page.goto(`${demo.url}${selector.startsWith('.groups') ? '/incidents/27' : '/'}`)
  return (await page.locator(selector).first().getAttribute('href')) ?? '/'
}

/** Takes pictures of the overview and the incident in both themes, small enough for the README. */
async function readmePictures(state: State): Promise<void> {
  const pictures = 'docs/pictures'
  mkdirSync(pictures, { recursive: true })
  for (const name of ['overview', 'incident']) {
    for (const scheme of THEMES) {
      const viewport = { width: 1280, height: name === 'overview' ? 860 : 980 }
      const context = await browser.newContext({ storageState: state, viewport, colorScheme: scheme })
      const page = await context.newPage()
      await page.clock.setFixedTime(now)
      await page.goto(`${demo.url}${PAGES[name]}`)
      // The word beside the clock changes when the page is connected.
      await page.getByText('Live', { exact: true }).waitFor()
      const path = join(pictures, `${name}-${scheme}.png`)
      await page.screenshot({ path })
      const { size } = statSync(path)
      if (size > MAX_PICTURE) throw new Error(`${path} has ${size} bytes; at most ${MAX_PICTURE} are allowed`)
      console.log(`${path}: ${size} bytes`)
      await context.close()
    }
  }
}
