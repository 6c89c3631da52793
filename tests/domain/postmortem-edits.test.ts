/** Edits of postmortems: what people wrote is applied to every revision. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { IncmonError } from '../../src/domain/error.ts'
import { applyEdits, type Edits, merge } from '../../src/domain/postmortem/edits.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'
import { factsOf, GOLDENS } from './postmortem-goldens.ts'

const IMAGE = factsOf('bad-image-tag')

test('edits by people survive every revision', () => {
  const text = fc.string({ minLength: 1 }).filter((one) => one.trim() !== '')
  const drawn = fc.record({ summary: text, rootCause: text, customers: text, wentWell: text, own: text })
  const property = fc.property(drawn, fc.constantFrom(...GOLDENS), ({ own, customers, wentWell, ...texts }, golden) => {
    const edits = applyEdits(
      {},
      {
        ...texts,
        impact: { customers },
        lessons: { wentWell },
        actions: [
          { id: 'own', text: own },
          { id: 'memory-limits', owner: 'anna' },
        ],
      },
    )
    const merged = merge(generate(golden.facts), edits)
    assert.deepEqual(
      [merged.summary.addition, merged.rootCause.text, merged.impact.customers, merged.lessons.wentWell],
      [texts.summary, texts.rootCause, customers, wentWell],
    )
    assert.equal(merged.actions.find(({ id }) => id === 'own')?.text, own)
    assert.equal(merged.actions.find(({ id }) => id === 'memory-limits')?.owner, 'anna')
    assert.deepEqual(merge(merged, {}), merged)
  })
  fc.assert(property, { numRuns: 50 })
})

test('an edited action that is no longer suggested keeps its text', () => {
  const kept = merge(generate(IMAGE), { actions: [{ id: 'probe-tuning', state: 'done' }] }).actions.at(-1)
  assert.deepEqual([kept?.state, kept?.because, kept?.text.startsWith('Tune the probe')], ['done', null, true])
})

test('the state of the revision applies to the draft', () => {
  const final = merge(generate(IMAGE), {}, 'final')
  assert.equal(final.header.state, 'final')
  assert.match(markdown(final), /\*Nothing was written\.\*/)
  assert.doesNotMatch(markdown(final), /To be filled in/)
})

const CHANGES: readonly (readonly [string, Edits, Partial<Edits>, Edits])[] = [
  ['nothing changes nothing', { summary: 'a' }, {}, { summary: 'a' }],
  ['undefined changes nothing', { summary: 'a' }, { summary: undefined }, { summary: 'a' }],
  ['null takes back', { summary: 'a', rootCause: 'b' }, { summary: null }, { rootCause: 'b' }],
  ['blank takes back', { impact: { customers: 'a' } }, { impact: { customers: ' \n' } }, {}],
  [
    'lessons change one by one',
    { lessons: { wentWell: 'a' } },
    { lessons: { lucky: 'b' } },
    { lessons: { wentWell: 'a', lucky: 'b' } },
  ],
  [
    'actions change by id',
    { actions: [{ id: 'x', text: 'a' }] },
    { actions: [{ id: 'x', owner: 'b' }] },
    { actions: [{ id: 'x', text: 'a', owner: 'b' }] },
  ],
  [
    'an owner is taken back',
    { actions: [{ id: 'paging', owner: 'b' }] },
    { actions: [{ id: 'paging', owner: null, state: 'open' }] },
    { actions: [{ id: 'paging', state: 'open' }] },
  ],
  [
    'own actions are added',
    { actions: [{ id: 'x', text: 'a' }] },
    { actions: [{ id: 'y', text: 'b' }] },
    {
      actions: [
        { id: 'x', text: 'a' },
        { id: 'y', text: 'b' },
      ],
    },
  ],
]
for (const [name, before, change, after] of CHANGES) {
  test(`edits: ${name}`, () => assert.deepEqual(applyEdits(before, change), after))
}

for (const [name, change, path] of [
  ['an own action without a text', { actions: [{ id: 'x' }] }, 'actions[0].text'],
  ['an own action with a blank text', { actions: [{ id: 'x', text: ' ' }] }, 'actions[0].text'],
  ['an action without a name', { actions: [{ id: 'paging' }, { id: '', text: 'a' }] }, 'actions[1].id'],
  ['a day that no calendar has', { actions: [{ id: 'paging', due: '2026-02-30' }] }, 'actions[0].due'],
  ['a date that is none', { actions: [{ id: 'paging', due: 'soon' }] }, 'actions[0].due'],
  ['a time for a date', { actions: [{ id: 'paging', due: '2026-03-31T00:00:00Z' }] }, 'actions[0].due'],
] as readonly (readonly [string, Edits, string])[]) {
  test(`edits: ${name} is rejected`, () => {
    assert.throws(
      () => applyEdits({}, change),
      (error) => error instanceof IncmonError && error.code === 'invalid' && error.fields[0]?.path === path,
    )
  })
}
