/** The lane picture: ordered positions, labels that do not overlap, and equivalent text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type LanePicture,
  markersOf,
  pictureRows,
  pictureText,
  placeLanes,
  ticksOf,
} from '../../../src/web/drawing/lane-model.ts'
import { Lanes } from '../../../src/web/drawing/lane-picture.tsx'
import { type LaneBar, type PlacedBar, placeLane } from '../../../src/web/drawing/lanes.ts'
import { position } from '../../../src/web/drawing/scale.ts'

const MINUTE = 60_000
const NOW = Date.parse('2026-11-19T03:14:00Z')
const SPAN = { from: NOW - 22 * MINUTE, to: NOW }
const WIDTHS = { wide: 840, narrow: 280 }
const ago = (minutes: number) => NOW - minutes * MINUTE

function bar(id: string, startsAt: number, endsAt: number | null, more: Partial<LaneBar> = {}): LaneBar {
  return {
    ...{ id, lane: 'alerts', startsAt, endsAt, level: 'warning', shape: 'bar', label: `label ${id}` },
    ...{ title: `title ${id}`, href: `/alerts/${id}`, events: [], ...more },
  }
}

const PICTURE: LanePicture = {
  ...{
    span: SPAN,
    now: NOW,
    zone: 'UTC',
    lanes: ['ci', 'rollouts', 'cluster', 'alerts'],
    moreHref: null,
    recoveredAt: null,
    fix: null,
  },
  bars: [
    bar('deploy', ago(15), ago(11), { lane: 'ci', level: 'change', label: '#4711 deployed' }),
    bar('rollout', ago(14), ago(14), { lane: 'rollouts', level: 'change', shape: 'diamond' }),
    bar('crash', ago(12), null, { lane: 'cluster', level: 'critical', label: 'CrashLoopBackOff' }),
  ],
  links: [{ change: 'deploy', condition: 'crash', score: 0.92, band: 'strong', verdict: null }],
  score: [
    { at: ago(60), status: 'healthy', score: 100 },
    { at: ago(12), status: 'critical', score: 8 },
  ],
  ...{ firstAlertAt: ago(12), acknowledgedAt: null, resolvedAt: null, lead: { from: ago(15), to: ago(12) } },
}
const drawn = (more: Partial<LanePicture> = {}) => String(Lanes({ picture: { ...PICTURE, ...more }, scores: true }))
const place = (bars: readonly LaneBar[]) => placeLane('alerts', bars, SPAN, NOW, WIDTHS)

/** Returns the space that a bar and its label occupy in a wide picture, in px. */
function extent({ x, width, place, label }: PlacedBar): readonly [number, number] {
  const [left, right] = [(x / 100) * WIDTHS.wide, ((x + width) / 100) * WIDTHS.wide]
  const text = label.length * 6.5 + 14
  return [place === 'left' ? left - text : left, place === 'right' ? right + text : right]
}

test('overlapping bars are in different rows, and a later bar uses the first free row', () => {
  const { bars, rows } = place([bar('a', ago(20), ago(12)), bar('b', ago(15), ago(7)), bar('c', ago(8), ago(1))])
  assert.deepEqual([rows, ...bars.map(({ id, row }) => `${id}${row}`).sort()], [2, 'a0', 'b1', 'c0'])
})

for (let seed = 1; seed <= 30; seed += 1) {
  test(`no label of random bars ${seed} overlaps a neighbor in its row`, () => {
    const number = (n: number, most: number) => ((seed * 7919 + n * 104_729) % 1009) % most
    const bars = Array.from({ length: 12 }, (_, n) => {
      const start = number(n, 21)
      return bar(`b${n}`, ago(21 - start), n % 3 === 0 ? null : ago(Math.max(0, 21 - start - number(n + 7, 6))))
    })
    for (const row of Map.groupBy(place(bars).bars, ({ row }) => row).values()) {
      const extents = row.map(extent).sort((a, b) => a[0] - b[0])
      for (const [index, [left]] of extents.entries()) assert.ok(index === 0 || left >= (extents[index - 1]?.[1] ?? 0))
    }
  })
}

test('a lane has at most four rows, filled with the most severe bars', () => {
  const bars = Array.from({ length: 9 }, (_, n) => bar(`b${n}`, ago(20), null, n === 8 ? { level: 'critical' } : {}))
  const { bars: shown, rows, hidden } = place(bars)
  assert.deepEqual([rows, hidden.length, shown.some(({ id }) => id === 'b8')], [4, 5, true])
})

test('a lane with one bar more has a fifth row, because a line that says so would need the same space', () => {
  const { rows, hidden } = place(Array.from({ length: 5 }, (_, n) => bar(`b${n}`, ago(20), null)))
  assert.deepEqual([rows, hidden], [5, []])
})

test('an empty lane still has one row', () => assert.deepEqual([place([]).rows, place([]).bars], [1, []]))

test('what ended before the span or starts after it is not drawn', () => {
  assert.deepEqual(place([bar('old', ago(99), ago(50)), bar('new', NOW + MINUTE, null)]).bars, [])
})

test('the label of a short ongoing bar is to the right of the present', () => {
  assert.equal(place([bar('late', ago(1), null)]).bars[0]?.place, 'gutter')
})

test('beside labels to the right of the present, phones show a late label of another lane on the right, too', () => {
  const deploy = bar('deploy', ago(4), ago(2), { lane: 'ci', label: '#4711 deployed' })
  const [lane] = placeLanes({ ...PICTURE, bars: [deploy, bar('late', ago(1), null)] }, WIDTHS)
  assert.deepEqual([lane?.bars[0]?.place, lane?.bars[0]?.narrowPlace], ['left', 'right'])
})

test('a label stands on the left if on the right it would stand on the line of the first alert', () => {
  const deploy = bar('deploy', ago(15), ago(13), { lane: 'ci', label: '#31 deployed' })
  const placeOf = (firstAlertAt: number, narrow = 240, label = deploy.label) => {
    const widths = { ...WIDTHS, narrow }
    const [lane] = placeLanes({ ...PICTURE, firstAlertAt, bars: [{ ...deploy, label }] }, widths)
    return [lane?.bars[0]?.place, lane?.bars[0]?.narrowPlace]
  }
  assert.deepEqual(placeOf(ago(12)), ['left', 'right'])
  assert.deepEqual(placeOf(ago(12), 600), ['left', 'left'])
  assert.deepEqual(placeOf(ago(2)), ['right', 'right'])
  // There is no space on the left.
  assert.deepEqual(placeOf(ago(12), 240, 'x'.repeat(48)), ['right', 'none'])
})

test('a label does not stand on the link that leads to its bar from the left', () => {
  const bars = [
    bar('deploy', ago(15), ago(14), { lane: 'ci', level: 'change' }),
    bar('crash', ago(12), ago(11.9), { lane: 'cluster', label: 'CrashLoopBackOff' }),
  ]
  const placeOf = (links: LanePicture['links']) =>
    placeLanes({ ...PICTURE, bars, links, acknowledgedAt: ago(10) }, WIDTHS).flatMap((lane) => lane.bars)[1]?.place
  assert.deepEqual([placeOf([]), placeOf(PICTURE.links)], ['left', 'right'])
})

test('a short dimension line has its text on the left, if there is space', () => {
  const span = (minutes: number) => ({ from: ago(15 + minutes), to: ago(15 + minutes) + 300 * MINUTE })
  const [near, far] = [span(1), span(60)].map((one) => drawn({ span: one, now: one.to }))
  assert.match(near ?? '', /<text class="halo only-wide" x="[\d.]+%" dx="-6" y="19" text-anchor="end">3 min</)
  assert.match(far ?? '', /<text class="halo" x="[\d.]+%" dx="-6" y="19" text-anchor="end">3 min</)
})

test('a long label without space on the left begins after the line that would cross it', () => {
  const early = bar('deploy', ago(22), ago(21), { lane: 'ci', label: 'recommendation-engine-eu1#31 deployed' })
  const besideOf = (firstAlertAt: number) =>
    placeLanes({ ...PICTURE, firstAlertAt, bars: [early] }, WIDTHS)[0]?.bars[0]?.beside
  assert.equal(besideOf(ago(19)), position(ago(19), SPAN))
  assert.equal(besideOf(ago(2)), undefined)
})

test('a label in a narrow picture begins after the first line if fewer lines cross it there', () => {
  const deploy = bar('deploy', ago(20), ago(15), { lane: 'ci', label: '#31 deployed' })
  const besideOf = (moments: Partial<LanePicture>) => {
    const [lane] = placeLanes({ ...PICTURE, bars: [deploy], ...moments }, { ...WIDTHS, narrow: 240 })
    return [lane?.bars[0]?.narrowPlace, lane?.bars[0]?.narrowBeside]
  }
  assert.deepEqual(besideOf({ firstAlertAt: ago(14), resolvedAt: ago(8) }), ['right', position(ago(14), SPAN)])
  assert.deepEqual(besideOf({ firstAlertAt: ago(22) }), ['right', undefined])
})

test('a name of 253 characters is cut off at the end of its own bar', () => {
  assert.equal(place([bar('long', ago(20), ago(1), { label: 'x'.repeat(253) })]).bars[0]?.place, 'inside')
})

test('a bar is as far from the left as its start is from the start of the span', () => {
  const { bars } = place([bar('half', ago(11), null), bar('before', ago(40), ago(11))])
  assert.deepEqual(bars.map(({ id, x, width }) => [id, x, width]).sort(), [
    ['before', 0, 50],
    ['half', 50, 50],
  ])
})

test('every bar is a link named by its label and its sentence, and a rejected link is not drawn', () => {
  assert.match(drawn(), /<a href="\/alerts\/crash" class="dims[^"]*"><title>CrashLoopBackOff\. title crash<\/title>/)
  assert.match(drawn(), /link-strong/)
  const rejected = PICTURE.links.map((link) => ({ ...link, verdict: 'rejected' as const }))
  assert.doesNotMatch(drawn({ links: rejected }), /link-(?:strong|end|score)/)
})

test('a confirmed link has a check mark next to its score', () => {
  const links = PICTURE.links.map((link) => ({ ...link, verdict: 'confirmed' as const }))
  assert.match(drawn({ links }), /0\.92 ✓/)
})

test('at most three changes have a trunk', () => {
  const changes = Array.from({ length: 6 }, (_, n) =>
    bar(`c${n}`, ago(20 - n), ago(20 - n), { lane: n % 2 ? 'ci' : 'rollouts', level: 'change', shape: 'diamond' }),
  )
  const one = { condition: 'crash', score: 0.5, band: 'probable', verdict: null } as const
  const html = drawn({ bars: [...changes, ...PICTURE.bars], links: changes.map(({ id }) => ({ ...one, change: id })) })
  assert.equal(html.match(/link-end/g)?.length, 3)
})

test('the text contains the span, the counts, the score, the first alert and the lead', () => {
  assert.equal(
    pictureText(PICTURE),
    'What happened from 02:52 to 03:14: 1 pipeline, 1 rollout and 1 cluster condition. ' +
      'Score 100 at the start, 8 at the lowest point, 8 at the end. First alert 03:02. Best suspect 3 min before the first alert.',
  )
})

test('the table lists every bar in chronological order', () => {
  assert.deepEqual(
    pictureRows(PICTURE).map(({ lane, from, until }) => [lane, from, until]),
    [
      ['ci', '02:59', '03:03'],
      ['rollouts', '03:00', ''],
      ['cluster', '03:02', 'now'],
    ],
  )
})

test('the label of a moment is omitted if it would overlap another one', () => {
  const crowded = { ...PICTURE, acknowledgedAt: ago(11), resolvedAt: ago(10.5) }
  const sides = markersOf(crowded, { wide: 300, narrow: 300 }).map(({ kind, side }) => [kind, side])
  assert.deepEqual(sides, [
    ['first-alert', 'right'],
    ['resolved', 'none'],
    ['acknowledged', 'none'],
  ])
})

test('a tick close to a moment is omitted', () => {
  assert.ok(!ticksOf(PICTURE, WIDTHS).some(({ label }) => label === '03:02'))
  assert.ok(ticksOf({ ...PICTURE, firstAlertAt: null }, WIDTHS).some(({ label }) => label === '03:02'))
})

for (const year of ['1969-07-20', '2126-01-01']) {
  test(`a picture of ${year} is drawn like any other`, () => {
    const to = Date.parse(`${year}T12:00:00Z`)
    const shift = to - NOW
    const bars = PICTURE.bars.map((one) => ({
      ...one,
      startsAt: one.startsAt + shift,
      endsAt: one.endsAt && one.endsAt + shift,
    }))
    const span = { from: SPAN.from + shift, to }
    const html = drawn({ span, bars, now: to, firstAlertAt: null, lead: null, score: [] })
    assert.doesNotMatch(html, /NaN|Infinity|undefined/)
    assert.match(html, /CrashLoopBackOff/)
  })
}

test('a label from a sender is escaped', () => {
  const hostile = { label: '<script>alert(1)</script>', title: '"><img src=x>' }
  assert.doesNotMatch(drawn({ bars: [bar('x', ago(20), null, hostile)] }), /<script|<img/)
})

test('without data empty lanes are drawn', () => {
  const html = drawn({ bars: [], links: [], score: [], firstAlertAt: null, lead: null })
  assert.match(html, /aria-label="What happened from 02:52 to 03:14: nothing\."/)
})

test("no marker line crosses another marker's label", () => {
  const html = drawn({ acknowledgedAt: ago(8), resolvedAt: ago(2) })
  const marks = [...html.matchAll(/<g class="lanes-marker level-(?!change)[^"]*"><(line|text)/g)].map(
    ([, element]) => element,
  )
  assert.ok(marks.includes('text'))
  assert.ok(marks.lastIndexOf('line') < marks.indexOf('text'))
})
