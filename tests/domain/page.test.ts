/** Pagination: offsets, page counts and links. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { offsetOf, pageLinks, totalPages } from '../../src/domain/pagination.ts'

for (const [page, limit, offset] of [
  [1, 50, 0],
  [2, 50, 50],
  [1_000_000_000, 500, 499_999_999_500],
] as const) {
  test(`page ${page} of ${limit} starts after ${offset} items`, () => assert.equal(offsetOf({ page, limit }), offset))
}

for (const [total, limit, pages] of [
  [0, 50, 0],
  [50, 50, 1],
  [51, 50, 2],
] as const) {
  test(`${total} items in pages of ${limit} are ${pages} pages`, () =>
    assert.equal(totalPages(total, { page: 1, limit }), pages))
}

for (const [page, total, links] of [
  [1, 0, 'first 1, last 1'],
  [1, 30, 'first 1, next 2, last 3'],
  [2, 30, 'first 1, prev 1, next 3, last 3'],
  [3, 30, 'first 1, prev 2, last 3'],
  [9, 30, 'first 1, prev 3, last 3'],
] as const) {
  test(`page ${page} of ${total} items in tens links to ${links}`, () => {
    const header = pageLinks('/x', '', { page, limit: 10 }, total)
    assert.equal(header.replace(/<\/x\?page=(\d+)&limit=10>; rel="(\w+)"/g, '$2 $1'), links)
  })
}

test('other parameters are kept and cannot break out of the header', () => {
  const header = pageLinks('/x', 'q=%3E%22%0d%0a&page=7', { page: 1, limit: 10 }, 5)
  assert.equal(header.split(', ')[0], '</x?q=%3E%22%0D%0A&page=1&limit=10>; rel="first"')
})
