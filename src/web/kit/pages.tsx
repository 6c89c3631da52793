/** Pagination links. */

import type { FC } from 'hono/jsx'
import { formatCount } from '../../domain/text.ts'

/** The number of page links before and after the current page. */
const AROUND = 2

type Props = {
  readonly page: number
  readonly pages: number
  readonly addressOf: (page: number) => string
}

/** Renders nothing if there is only one page. */
export const Pages: FC<Props> = ({ page, pages, addressOf }) => {
  if (pages <= 1) return null
  const numbers = Array.from({ length: pages }, (_, index) => index + 1).filter(
    (one) => one === 1 || one === pages || Math.abs(one - page) <= AROUND,
  )
  return (
    <nav class="row pages" aria-label="Pages">
      <span class="quiet">
        Page {formatCount(page)} of {formatCount(pages)}
      </span>
      <span class="end">
        {page > 1 ? (
          <a class="button small" href={addressOf(page - 1)} rel="prev">
            Previous
          </a>
        ) : null}
        {numbers.map((one) => (
          <a class="button small" href={addressOf(one)} aria-current={one === page ? 'page' : undefined}>
            {one}
          </a>
        ))}
        {page < pages ? (
          <a class="button small" href={addressOf(page + 1)} rel="next">
            Next
          </a>
        ) : null}
      </span>
    </nav>
  )
}
