/** The API reference page, generated from the OpenAPI document. */
import { html, raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { capitalized } from '../../domain/text.ts'
import { type Entry, exampleOf, nameOf } from './curl.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { anchorOf, Code, Method, Operation } from './operation.tsx'
import { OVERVIEW, Overview } from './overview.tsx'
import { FieldTable } from './schema.tsx'
import { STYLE } from './style.ts'

/** `meanings` describes when the server returns each error status. */
type DocsProps = {
  readonly document: OpenApiDocument
  /** The URL at which the reader reaches the server, without a trailing slash. */
  readonly url: string
  readonly meanings: Readonly<Record<string, string>>
}

type Group = { readonly name: string; readonly description: string; readonly entries: readonly Entry[] }

/**
 * Returns the page as HTML. The page has no script and loads nothing. The style is inline, so the
 * Content-Security-Policy must allow the style's hash.
 */
export function docsPage(props: DocsProps): string {
  return html`<!doctype html>${<Page {...props} />}`.toString()
}

const Page: FC<DocsProps> = ({ document, url, meanings }) => {
  const groups = groupsOf(document)
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>incmon API</title>
        <style>{raw(STYLE)}</style>
      </head>
      <body>
        <a class="skip" href="#content">
          Skip to the content
        </a>
        <Contents groups={groups} document={document} />
        <main id="content" tabindex={-1}>
          <h1>incmon API</h1>
          <Overview url={url} meanings={meanings} version={document.info.version} />
          {groups.map(({ name, description, entries }) => (
            <section id={name} aria-labelledby={`${name}-title`}>
              <h2 id={`${name}-title`}>{capitalized(name)}</h2>
              <p>{description}</p>
              {entries.map((entry) => (
                <Operation entry={entry} document={document} url={url} />
              ))}
            </section>
          ))}
          <Messages document={document} />
          <Shapes document={document} />
        </main>
      </body>
    </html>
  )
}

/** Groups the operations by tag, in document order. */
function groupsOf({ tags, paths }: OpenApiDocument): Group[] {
  const entries = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  return tags.map((tag) => ({ ...tag, entries: entries.filter(({ operation }) => operation.tags.includes(tag.name)) }))
}

const Contents: FC<{ groups: readonly Group[]; document: OpenApiDocument }> = ({ groups, document }) => (
  <nav aria-label="Contents">
    <p class="brand">
      <a href="#content">incmon</a> <span>API {document.info.version}</span>
    </p>
    <ul>
      {OVERVIEW.map(({ id, title }) => (
        <li>
          <a href={`#${id}`}>{title}</a>
        </li>
      ))}
      {groups.map(({ name, entries }) => (
        <li>
          <a href={`#${name}`}>{capitalized(name)}</a>
          <ul>
            {entries.map((entry) => (
              <li>
                <a href={`#${anchorOf(entry)}`}>
                  <Method name={entry.method} /> {entry.path.replace(/^\/api\/[\w-]+(?=\/)/, '…').replace('/api', '')}
                </a>
              </li>
            ))}
          </ul>
        </li>
      ))}
      <li>
        <a href="#messages">Outgoing webhooks</a>
      </li>
      <li>
        <a href="#shapes">Shapes</a>
      </li>
    </ul>
  </nav>
)

const Messages: FC<{ document: OpenApiDocument }> = ({ document }) => (
  <section id="messages" aria-labelledby="messages-title">
    <h2 id="messages-title">Outgoing webhooks</h2>
    <p>
      A channel of the kind <code>webhook</code> receives these messages with <code>POST</code>. Verify{' '}
      <code>webhook-id</code>, <code>webhook-timestamp</code> and <code>webhook-signature</code> with a library of
      Standard Webhooks. Any 2xx status means that the message was received.
    </p>
    <ul>
      {Object.values(document.webhooks).map(({ post }) => {
        const name = nameOf(post?.requestBody?.content['application/json']?.schema.$ref ?? '')
        return (
          <li>
            <a href={`#shape-${name}`}>{name}</a>: {post?.summary}
          </li>
        )
      })}
    </ul>
  </section>
)

const Shapes: FC<{ document: OpenApiDocument }> = ({ document }) => (
  <section id="shapes" aria-labelledby="shapes-title">
    <h2 id="shapes-title">Shapes</h2>
    <p>Objects that are shared by several responses. IDs are UUIDs. Times are in UTC, in ISO 8601 format.</p>
    {Object.entries(document.components.schemas).map(([name, schema]) => (
      <article id={`shape-${name}`} aria-labelledby={`shape-${name}-title`}>
        <h3 id={`shape-${name}-title`}>{name}</h3>
        <FieldTable schema={schema} label={`Fields of ${name}`} />
        <Code text={JSON.stringify(exampleOf(schema, document), null, 2)} label={`Example of ${name}`} />
      </article>
    ))}
  </section>
)
