/** Page components: breadcrumbs, sections with headings, cards with an empty state, and table headers. */
import type { Child, FC } from 'hono/jsx'
import { formatCount } from '../../domain/text.ts'
import { Icon } from './mark.tsx'

/** Breadcrumbs: links to the parent pages. The entry without a URL is the current page. */
export const Crumbs: FC<{ path: readonly (readonly [name: string | number, href?: string])[] }> = ({ path }) => (
  <ul class="crumbs">
    {path.map(([name, href]) => (
      <li>{href === undefined ? name : <a href={href}>{name}</a>}</li>
    ))}
  </ul>
)

type HeadProps = { readonly title: string; readonly id?: string; readonly second?: Child; readonly children?: Child }

/** A heading, with text next to it and a link at the end of the line. */
export const Head: FC<HeadProps> = ({ title, id, second = null, children }) => (
  <div class="head">
    <h2 id={id}>{title}</h2>
    {second === null ? null : <span class="second">{second}</span>}
    {children}
  </div>
)

/** `end`: a link at the end of the heading line. */
type SectionProps = HeadProps & { readonly id: string; readonly end?: readonly [href: string, text: string] }

export const Section: FC<SectionProps> = ({ end, children, ...head }) => (
  <section aria-labelledby={head.id}>
    <Head {...head}>
      {end ? (
        <a class="end plain" href={end[0]}>
          {end[1]}
        </a>
      ) : null}
    </Head>
    {children}
  </section>
)

/** A card with its children, or with a sentence if there is nothing to show. */
export const Card: FC<{ empty: string | null; children?: Child }> = ({ empty, children }) => (
  <div class="card">{empty === null ? children : <p class="empty">{empty}</p>}</div>
)

/** A column of a table: its name, or its name with the attributes of its header. */
type Column = string | { readonly name: string; readonly class?: string; readonly title?: string }

type TableProps = {
  readonly names: readonly Column[]
  /** Describes the buttons in the last column for screen readers. */
  readonly action?: string
  readonly class?: string
  readonly children?: Child
}

/** A table with a header, and with the rows in `children`. By default, each row is a card on a phone. */
export const Table: FC<TableProps> = ({ names, action, class: look = 'cards', children }) => (
  <table class={look}>
    <thead>
      <tr>
        {names.map((column) => {
          const { name, ...attributes } = typeof column === 'string' ? { name: column } : column
          return (
            <th scope="col" {...attributes}>
              {name}
            </th>
          )
        })}
        {action ? (
          <th class="shrink">
            <span class="hidden-text">{action}</span>
          </th>
        ) : null}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)

/** The content of a page that has no navigation. The name of the program is above the content. */
export const Alone: FC<{ children?: Child }> = ({ children }) => (
  <div class="alone">
    <p class="brand">
      <Icon name="pulse" />
      incmon
    </p>
    {children}
  </div>
)

// Pagination links.

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
