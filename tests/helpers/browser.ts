/** A real browser, with what it was told on the console and what it asked of the network. */
import { type Browser, chromium, type Page } from 'playwright-core'

/** Without what a browser does on its own, so that all its requests are the page's. */
const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** For a start and for a page, in milliseconds. */
const PATIENCE = 120_000

type Cleaner = { after: (work: () => void | Promise<void>) => void }
export type Screen = { readonly width: number; readonly height: number; readonly scheme: 'light' | 'dark' }
export type Visit = {
  readonly page: Page
  readonly complaints: readonly string[]
  readonly requests: readonly string[]
}

/** Debian's Chromium, with an empty profile of its own; closed after the test. */
export async function startBrowser(t: Cleaner) {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS, timeout: PATIENCE })
  t.after(() => browser.close())
  return { visit: (url: string, screen: Screen) => visit(browser, url, screen) }
}

/** The page once it is loaded. `complaints`: what the console, a script or the security policy found wrong. */
async function visit(browser: Browser, url: string, { width, height, scheme }: Screen): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme })
  context.setDefaultTimeout(PATIENCE)
  const page = await context.newPage()
  const complaints: string[] = []
  const requests: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('requestfailed', (request) => complaints.push(request.url()))
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(url, { waitUntil: 'load' })
  return { page, complaints, requests }
}
