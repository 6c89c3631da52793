/** Checks the page in a browser with axe-core: what people with a disability could not use. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

type Asked = { readonly violations: readonly (readonly [id: string, elements: string[]])[]; readonly passed: number }

/** Returns each violated rule with its elements, and the number of rules that applied and passed. */
export async function askAxe(page: Page, options: RunOptions = {}) {
  const asked = JSON.stringify({ resultTypes: ['violations'], ...options })
  // The results describe every element, so only what is needed leaves the browser.
  const brief = `({ violations, passes }) => ({
    violations: violations.map(({ id, nodes }) => [id, nodes.slice(0, 4).map(({ html }) => html.slice(0, 200))]),
    passed: passes.length,
  })`
  const { violations, passed } = (await page.evaluate(`${AXE}; axe.run(${asked}).then(${brief})`)) as Asked
  return { found: violations.map(([id, elements]) => `${id}: ${elements.join(' ')}`), passed }
}
