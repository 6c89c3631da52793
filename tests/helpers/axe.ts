/** Checks the page in a browser with axe-core: what people with a disability could not use. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Returns each violated rule with its elements, and the number of rules that applied and passed. */
export async function askAxe(page: Page, options: RunOptions = {}) {
  const asked = JSON.stringify({ resultTypes: ['violations'], ...options })
  const { violations, passes } = (await page.evaluate(`${AXE}; axe.run(${asked})`)) as AxeResults
  const found = violations.map(({ id, nodes }) => {
    const elements = nodes.slice(0, 4).map(({ html }) => html.slice(0, 200))
    return `${id}: ${elements.join(' ')}`
  })
  return { found, passed: passes.length }
}
