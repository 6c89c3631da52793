/** Strips, bills, histograms and charts: what is drawn, and the equivalent text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bill } from '../../../src/web/drawing/bill.tsx'
import { Histogram, type HistogramBin } from '../../../src/web/drawing/histogram.tsx'
import { type ReportWeek, ResolutionChart, stack, WeekChart } from '../../../src/web/drawing/report.tsx'
import { countTicks, durationAxis, position, timeTicks } from '../../../src/web/drawing/scale.ts'
import { Meter, Sparkbars, Strip } from '../../../src/web/drawing/strip.tsx'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const NOW = Date.parse('2026-11-19T03:14:00Z')

for (const [length, width, zone, labels] of [
  [22 * MINUTE, 420, 'UTC', ['02:55', '03:00', '03:05', '03:10']],
  [2 * HOUR, 280, 'UTC', ['02:00', '03:00']],
  [DAY, 420, 'UTC', ['06:00', '12:00', '18:00', 'Thu 19']],
  [DAY, 420, 'America/New_York', ['Wed 18', '06:00', '12:00', '18:00']],
  [DAY, 420, 'Asia/Kolkata', ['12:00', '18:00', 'Thu 19', '06:00']],
  [7 * DAY, 840, 'UTC', ['Fri 13', 'Sat 14', 'Sun 15', 'Mon 16', 'Tue 17', 'Wed 18']],
] as const) {
  test(`${length / MINUTE} min on ${width} px in ${zone} have the ticks ${labels.join(' ')}`, () => {
    const ticks = timeTicks({ from: NOW - length, to: NOW }, width, zone)
    assert.deepEqual(
      ticks.map(({ label }) => label),
      labels,
    )
  })
}

for (const [from, to] of [
  [NOW, NOW],
  [NOW, NOW - 1],
  [Number.NaN, NOW],
] as const) {
  test(`a span from ${from} to ${to} has no ticks, and every position is 0`, () => {
    assert.deepEqual([timeTicks({ from, to }, 800, 'UTC'), position(NOW, { from, to })], [[], 0])
  })
}

test('a span of centuries has few ticks', () => {
  assert.ok(timeTicks({ from: -2e13, to: 2e13 }, 840, 'UTC').length < 20)
})

test('a strip describes its totals and draws one path for each state', () => {
  const healthy = { status: 'healthy', lost: 0 } as const
  const bins = [{ status: 'unknown', lost: 0 } as const, healthy, { status: 'critical', lost: 92 } as const, healthy]
  const html = String(Strip({ bins, label: 'Last 24 hours: critical for 20 min' }))
  assert.match(html, /role="img" aria-label="Last 24 hours: critical for 20 min"/)
  assert.deepEqual(html.match(/ d="[^"]*"/g), [' d="M0 23.5H1"', ' d="M1 22H2M3 22H4"', ' d="M2.35 24v-22"'])
})

test('the height of small bars matches their counts, and an empty bin is a short line', () => {
  const html = String(Sparkbars({ counts: [0, 5, 10], level: 'critical', label: '15 events' }))
  assert.match(html, / d="M0.35 20v-1m1 1v-10m1 10v-20"/)
})

for (const [part, width] of [
  [0.5, '24'],
  [0.01, '3'],
  [7, '48'],
] as const) {
  test(`a meter of ${part} is filled to ${width} of 48 px`, () => {
    assert.match(String(Meter({ part, level: 'change' })), new RegExp(`<rect width="${width}"`))
  })
}

test('a bill divides 100 points and is cut off at 100', () => {
  const lines = [40, 40, 40, 12].map((penalty) => ({ name: 'x', penalty, severity: 'critical' as const }))
  const html = String(Bill({ score: 0, lines }))
  const parts = [...html.matchAll(/class="bar-fill" x="([\d.]+)%" width="([\d.]+)%"/g)].map(([, x, w]) => `${x}+${w}`)
  assert.deepEqual(parts, ['0+40', '40+40', '80+20'])
  assert.match(html, /aria-label="Score 0: x costs 40, x costs 40, x costs 40, x costs 12"/)
})

const bin = (n: number, counts: Partial<HistogramBin['counts']>): HistogramBin => ({
  ...{ from: NOW + n * HOUR, to: NOW + (n + 1) * HOUR, href: `/alerts?from=${n}` },
  counts: { critical: 0, error: 0, warning: 0, info: 0, ...counts },
})
const histogram = (bins: readonly HistogramBin[]) =>
  String(Histogram({ bins, span: { from: NOW, to: NOW + bins.length * HOUR }, zone: 'UTC' }))

test('each non-empty bin of a histogram is a link that describes what it counts', () => {
  const html = histogram([bin(0, { warning: 3, critical: 1 }), bin(1, {})])
  assert.match(html, /href="\/alerts\?from=0" aria-label="03:14 to 04:14: 1 critical, 3 warning"/)
  assert.doesNotMatch(html, /from=1/)
  assert.match(html, /aria-label="Alerts from 03:14 to 05:14: 4, at most 4 from 03:14 to 04:14"/)
})

test('a histogram without alerts says so', () => {
  assert.match(histogram([bin(0, {})]), /aria-label="Alerts from 03:14 to 04:14: none"/)
  assert.doesNotMatch(histogram([bin(0, {})]), /NaN/)
})

const week = (count: number): ReportWeek => ({
  label: '2 Nov',
  counts: [
    { severity: 'critical' as const, count: Math.min(1, count) },
    { severity: 'warning' as const, count: Math.max(0, count - 1) },
  ].filter(({ count }) => count > 0),
  marks: Array.from({ length: count }, (_, n) => {
    const severity = n === 0 ? ('critical' as const) : ('warning' as const)
    return { severity, title: `incident ${n}`, href: `/incidents/${n}` }
  }),
  isRecorded: true,
})

test('a week before the organization existed has no number, because no incident could be recorded', () => {
  const [recorded, before] = [week(0), { ...week(0), isRecorded: false }]
  assert.match(String(WeekChart({ weeks: [recorded] })), />0</)
  assert.doesNotMatch(String(WeekChart({ weeks: [before] })), />0</)
})

test('up to eight incidents in a week are one mark each, the worst on top', () => {
  const html = String(WeekChart({ weeks: [week(8)] }))
  assert.equal(html.match(/<a href="\/incidents\//g)?.length, 8)
  assert.equal([...html.matchAll(/aria-label="(incident \d)"/g)].at(-1)?.[1], 'incident 0')
})

test('a week with nine incidents has bars and a number', () => {
  const html = String(WeekChart({ weeks: [week(9), week(0)] }))
  assert.doesNotMatch(html, /<a /)
  assert.match(html, /fill-level level-critical.*chart-count[^>]*>9</s)
})

test('weeks that lack marks have bars, whose number counts all incidents', () => {
  const html = String(WeekChart({ weeks: [{ ...week(7), marks: [] }, week(0)] }))
  assert.doesNotMatch(html, /<a /)
  assert.match(html, /aria-label="Incidents by week: 7 in 2 weeks, at most 7 in one week".*chart-count[^>]*>7</s)
})

test('resolution times without marks are bars, the highest for most incidents', () => {
  const durations = [5, 5, 5, 60].map((minutes) => minutes * MINUTE)
  const html = String(ResolutionChart({ marks: [], durations, median: 5 * MINUTE }))
  assert.match(html, /aria-label="Time to resolve of 4 incidents: median 5 min"/)
  const heights = [...html.matchAll(/class="chart-bar"[^>]* height="([\d.]+)"/g)].map(([, height]) => Number(height))
  assert.equal(heights[0], 134)
  assert.ok(Math.abs((heights[1] ?? 0) - 134 / 3) < 0.01)
})

test('the axis of durations is logarithmic and contains all of them', () => {
  const { place, ticks } = durationAxis([5 * MINUTE, 41 * MINUTE, 12 * HOUR])
  assert.ok(place(5 * MINUTE) > 0 && place(12 * HOUR) < 100)
  assert.ok(Math.abs(place(HOUR) - place(15 * MINUTE) - (place(4 * HOUR) - place(HOUR))) < 0.1)
  assert.deepEqual(
    ticks.map(({ label }) => label),
    ['5 min', '15 min', '1 h', '4 h', '12 h'],
  )
})

test('durations of 0 and no durations also have an axis', () => {
  assert.ok([durationAxis([]), durationAxis([0])].every(({ place, ticks }) => ticks.length > 0 && place(0) === 0))
})

test('the median is a line that states its value', () => {
  const mark = { severity: 'error' as const, title: 'x', href: '/incidents/1', resolveMs: 41 * MINUTE }
  assert.match(
    String(ResolutionChart({ marks: [mark], durations: [mark.resolveMs], median: 41 * MINUTE })),
    />median 41 min/,
  )
  assert.doesNotMatch(String(ResolutionChart({ marks: [], durations: [], median: null })), /median \d|NaN/)
})

test('marks at the same position are stacked', () => {
  const marks = [1, 1.5, 2, 50].map((x) => ({ mark: x, x }))
  assert.deepEqual(
    stack(marks).map(({ row }) => row),
    [0, 1, 2, 0],
  )
})

for (const [most, ticks] of [
  [1, [1]],
  [3, [2, 4]],
  [8, [5, 10]],
  [440, [500]],
] as const) {
  test(`a count of ${most} has lines at ${ticks.join(' and ')}`, () => assert.deepEqual(countTicks(most), ticks))
}
