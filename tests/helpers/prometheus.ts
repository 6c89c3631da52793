/**
 * A strict parser for the Prometheus text format 0.0.4: checks every line, the grouping of metric families, and
 * histograms.
 */
import assert from 'node:assert/strict'

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\n"])*"'
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (\\S+)$`)
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
  counter: [''],
  gauge: [''],
}

/** Returns every sample by its name and labels. Throws at the first error, with the line. */
export function readExposition(text: string): Map<string, number> {
  assert.ok(text.endsWith('\n'), 'the last line must end')
  const samples = new Map<string, number>()
  const types = new Map<string, string>()
  let family = ''
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, keyword, name = '', rest = ''] = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`).exec(line) ?? []
    if (keyword === 'TYPE') {
      assert.ok(rest in SUFFIXES && !types.has(name), `a type that is unknown or comes twice: ${line}`)
      types.set(name, rest)
      family = name
    } else if (keyword !== 'HELP') {
      addSample(samples, line, family, types.get(family) ?? '')
    }
  }
  assertWhole(samples, types)
  return samples
}

function addSample(samples: Map<string, number>, line: string, family: string, type: string): void {
  const [, name = '', labels, value = ''] = SAMPLE.exec(line) ?? assert.fail(`not a sample: ${line}`)
  const isOfFamily = (SUFFIXES[type] ?? []).some((suffix) => name === family + suffix)
  assert.ok(isOfFamily, `outside its family ${family}: ${line}`)
  assert.match(value, /^(?:[+-]Inf|NaN|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i, line)
  const key = labels === undefined ? name : `${name}{${labels}}`
  assert.ok(!samples.has(key), `twice: ${line}`)
  samples.set(key, Number(value.replace('Inf', 'Infinity')))
}

/** Checks that each histogram's buckets are increasing and that the last one contains everything. */
function assertWhole(samples: ReadonlyMap<string, number>, types: ReadonlyMap<string, string>): void {
  for (const [family] of [...types].filter(([, type]) => type === 'histogram')) {
    const rows = new Map<string, number[]>()
    for (const [key, value] of samples) {
      if (!key.startsWith(`${family}_bucket{`)) continue
      const others = key
        .slice(`${family}_bucket`.length)
        .replace(/le="[^"]*",?/, '')
        .replace(/,\}$/, '}')
      rows.set(others, [...(rows.get(others) ?? []), value])
    }
    for (const [labels, buckets] of rows) {
      assert.deepEqual(
        buckets,
        buckets.toSorted((a, b) => a - b),
        `${family}${labels}: buckets that fall`,
      )
      assert.equal(buckets.at(-1), samples.get(`${family}_count${labels === '{}' ? '' : labels}`), `${family}${labels}`)
    }
  }
}
