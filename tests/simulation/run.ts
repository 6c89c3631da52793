/**
 * Runs many simulations: `npm run simulate -- --seeds 1000000`. Each seed produces a different history, and `--from 7` starts
 * with seed 7. A failing history is shrunk to a minimal one, printed as steps, and ends the run with exit code 1. To repeat
 * it, use the printed `--from` and `--path`.
 */
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { histories, type Step } from './steps.ts'
import { inMemory } from './stores.ts'
import { simulate } from './world.ts'

/** The number of histories per call of fast-check. Progress is printed between calls. */
const GROUP = 500

const { values } = parseArgs({
  options: { seeds: { type: 'string' }, from: { type: 'string' }, path: { type: 'string' } },
})
const [seeds, from] = [count(values.seeds ?? '10000', '--seeds'), count(values.from ?? '1', '--from')]
const began = performance.now()
let steps = 0
let done = 0
const property = fc.asyncProperty(histories(), async (history) => {
  steps += history.length
  await simulate(inMemory(), history)
})

for (let seed = from; done < seeds; seed += 1) {
  const numRuns = Math.min(GROUP, seeds - done)
  const result = await fc.check(property, { numRuns, seed, ...(values.path ? { path: values.path } : {}) })
  done += result.numRuns
  if (result.failed) fail(result)
  console.log(`${done} of ${seeds} histories, ${steps} steps, ${rate()} histories/s`)
}
console.log(`No history broke a rule: ${done} histories, ${steps} steps, ${Math.round(seconds())} s.`)

function fail(result: fc.RunDetails<[readonly Step[]]>): never {
  const { seed, counterexample, counterexamplePath, errorInstance } = result
  console.error(`A history breaks a rule. The shortest that was found, after ${result.numShrinks} reductions:`)
  for (const step of counterexample?.[0] ?? []) console.error(`  ${JSON.stringify(step)}`)
  console.error(errorInstance)
  console.error(`Repeat it: npm run simulate -- --from ${seed} --path ${counterexamplePath}`)
  process.exit(1)
}

function count(text: string, name: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number) && number > 0) return number
  console.error(`${name} must be a whole number above 0, not "${text}"`)
  process.exit(2)
}

function seconds(): number {
  return (performance.now() - began) / 1000
}

function rate(): number {
  return Math.round(done / seconds())
}
