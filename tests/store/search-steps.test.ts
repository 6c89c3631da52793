/** A search in chunks finds the same rows as a search of all rows at once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pageInChunks, type SearchSource } from '../../src/store/history/alert-search.ts'

type Row = { readonly time: number; readonly id: number; readonly matches: boolean }

/** Returns the rows in SQL's order, newest first. */
function searched(rows: readonly Row[], asked: number[] = []): SearchSource<Row> {
  const newest = rows.toSorted((a, b) => b.time - a.time || b.id - a.id)
  const matching = (from: number, before: number) =>
    newest.filter(({ time, matches }) => matches && from <= time && time < before)
  return {
    timeBehind: (before, newer) => newest.filter(({ time }) => time < before)[newer]?.time,
    count: (from, before) => asked.push(before) && matching(from, before).length,
    rows: (from, before, limit, skip) => matching(from, before).slice(skip, skip + limit),
  }
}

const row = fc.record({ time: fc.nat(6), id: fc.nat(), matches: fc.boolean() })
const bound = fc.option(fc.nat(7), { nil: undefined })

test('every page of every span is correct, with blocks of any length', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(row, { maxLength: 30, selector: ({ id }) => id }),
      fc.record({ from: bound, to: bound }),
      fc.record({ page: fc.integer({ min: 1, max: 6 }), limit: fc.integer({ min: 1, max: 5 }) }),
      fc.integer({ min: 1, max: 8 }),
      fc.boolean(),
      (rows, span, page, chunkSize, isKnown) => {
        const all = searched(rows).rows(span.from ?? 0, span.to ?? 9, 99, 0)
        const items = all.slice((page.page - 1) * page.limit, page.page * page.limit)
        const one = { ...searched(rows), total: isKnown ? all.length : undefined }
        assert.deepEqual(pageInChunks(one, span, page, chunkSize), { items, total: all.length })
      },
    ),
  )
})

test('a block contains all rows of its last time', () => {
  const asked: number[] = []
  const rows = [9, 8, 7, 7, 7, 6].map((time, id) => ({ time, id, matches: true }))
  pageInChunks(searched(rows, asked), {}, { page: 1, limit: 1 }, 2)
  assert.deepEqual(asked, [Number.MAX_SAFE_INTEGER, 7])
})

test('with a known total, no row after the page is read', () => {
  const asked: number[] = []
  const rows = [9, 8, 7, 6].map((time, id) => ({ time, id, matches: true }))
  const { total } = pageInChunks({ ...searched(rows, asked), total: 4 }, {}, { page: 1, limit: 1 }, 1)
  assert.deepEqual([total, asked], [4, [Number.MAX_SAFE_INTEGER]])
})

test('an empty span runs no query', () => {
  const asked: number[] = []
  const found = pageInChunks(
    searched([{ time: 3, id: 1, matches: true }], asked),
    { from: 3, to: 3 },
    { page: 1, limit: 1 },
  )
  assert.deepEqual([found, asked], [{ items: [], total: 0 }, []])
})
