/**
 * Measures how well incmon's decisions match recorded incidents with a known cause: `npm run truth -- DIRECTORY`.
 *
 *   --arrival live       each request arrives at its own time; by default, all arrive at the time of capture. The truth is
 *                        the state at the capture, so only incidents with an alert firing then are judged.
 *   --wrong              also lists wrong predictions
 *   --field DIR          also runs the field cases of this folder against dist/incmon, and prints the totals by kind
 *   --predictions DIR    writes the predictions of each data set to DIR/<data set>.jsonl
 */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { quietWeek } from '../helpers/quiet-week.ts'
import { readDataSets } from './cases.ts'
import { endsFigure } from './ends.ts'
import { type Arrival, type Prediction, predict } from './replay.ts'
import { type Figure, figuresOf } from './score.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    arrival: { type: 'string' },
    wrong: { type: 'boolean' },
    predictions: { type: 'string' },
    field: { type: 'string' },
  },
})
const directory = positionals[0]
const arrival = values.arrival ?? 'captured'
if (directory === undefined || !['captured', 'live'].includes(arrival)) {
  console.error(
    'usage: npm run truth -- DIRECTORY [--arrival captured|live] [--wrong] [--field DIR] [--predictions DIR]',
  )
  process.exit(2)
}

for (const [path, cases] of readDataSets(directory)) {
  const name = basename(path)
  const began = performance.now()
  const judged: Parameters<typeof figuresOf>[0][number][] = []
  for (const truth of cases) judged.push({ truth, prediction: await predict(truth, arrival as Arrival) })
  const seconds = ((performance.now() - began) / 1000).toFixed(0)
  console.log(`${name}: ${cases.length} cases in ${seconds} s`)
  for (const figure of figuresOf(judged)) print(figure)
  const predictions = judged.map(({ prediction }) => prediction)
  const recovered = predictions.reduce((sum, one) => sum + one.recovered, 0)
  if (recovered > 0) console.log(`  ${recovered} open incidents had recovered before the capture, and are not judged`)
  if (values.predictions) write(join(values.predictions, `${name}.jsonl`), predictions)
}
print(await endsFigure())
const opened = await incidentsOfQuietWeek()
console.log(`a quiet week of forty services: ${opened} incidents  target 0 ${opened === 0 ? 'met' : 'MISSED'}`)

if (values.field) printField(values.field)

/** Runs the field cases with their own runner, and prints how many of each kind are right. */
function printField(directory: string): void {
  const args = [join(directory, 'run.mjs'), '--bin', 'dist/incmon', '--json']
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  const { right, wrong, kinds } = JSON.parse(stdout)
  console.log(`field cases: ${right} of ${right + wrong} right`)
  for (const [kind, of] of Object.entries<{ right: number; wrong: number }>(kinds))
    console.log(`  ${kind.padEnd(50)} ${of.right}/${of.right + of.wrong}`)
}

function print({ name, right, total, target, wrong }: Figure): void {
  const value = right / total
  const verdict = target === null ? '' : `  target ${target.toFixed(2)} ${value >= target ? 'met' : 'MISSED'}`
  console.log(`  ${name.padEnd(62)} ${value.toFixed(3)}  ${`${right}/${total}`.padStart(7)}${verdict}`)
  if (values.wrong) for (const one of wrong) console.log(`      ${one}`)
}

function write(file: string, predictions: readonly Prediction[]): void {
  writeFileSync(file, predictions.map((one) => `${JSON.stringify(one)}\n`).join(''))
}

/** Returns the number of incidents opened by a healthy cluster's week, which should be zero. */
async function incidentsOfQuietWeek(): Promise<number> {
  const endings: (() => unknown)[] = []
  const flow = makeFlow({ after: (end) => void endings.push(end as () => unknown) })
  for (const { at, source, body } of quietWeek(NOON)) {
    await flow.sweepUntil(at - 1, 5 * MINUTE)
    await flow.send(source, body, { at })
  }
  const { length } = flow.incidents()
  for (const end of endings) await end()
  return length
}
