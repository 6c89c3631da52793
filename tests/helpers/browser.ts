/** A real browser that records console messages and requests. */
import { type Browser, chromium, type Page } from 'playwright-core'

/** Debian's Chromium without windows, which needs about half the processor time. */
export const CHROMIUM = '/usr/bin/chromium-headless-shell'

/** Disables the browser's own background requests, so that only the page's requests are recorded. */
const FLAGS = [
  ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
]

/** For starting the browser and for each wait. */
const TIMEOUT_MS = 120_000

type Cleaner = { after: (work: () => void | Promise<void>) => void }
export type Screen = {
  readonly width: number
  readonly height: number
  readonly scheme: 'light' | 'dark'
  /** If false, scripts are disabled. */
  readonly javaScript?: boolean
}
export type Visit = {
  readonly page: Page
  readonly complaints: readonly string[]
  readonly requests: readonly string[]
}

/** Starts Debian's Chromium with an empty profile. It is closed after the test. */
export async function startBrowser(t: Cleaner) {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS, timeout: TIMEOUT_MS })
  t.after(() => browser.close())
  return { visit: (url: string, screen: Screen) => visit(browser, url, screen) }
}

/** Opens a page. `complaints` contains console messages, script errors and failed requests. */
async function visit(
  browser: Browser,
  url: string,
  { width, height, scheme, javaScript = true }: Screen,
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: scheme,
    javaScriptEnabled: javaScript,
  })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const complaints: string[] = []
  const requests: string[] = []
  page.on('console', (message) => complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('requestfailed', (request) => {
    // The next page aborts requests of this page, for example for its icon.
    if (request.failure()?.errorText !== 'net::ERR_ABORTED') complaints.push(request.url())
  })
  page.on('request', (request) => requests.push(request.url()))
  await page.goto(url, { waitUntil: 'load' })
  return { page, complaints, requests }
}
