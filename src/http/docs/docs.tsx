/** The API reference page, generated from the OpenAPI document. */
import { html, raw } from 'hono/html'
import type { FC } from 'hono/jsx'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../domain/pagination.ts'
import { capitalized } from '../../domain/text.ts'
import { type Entry, exampleOf, nameOf } from './curl.ts'
import type { OpenApiDocument } from './openapi-document.ts'
import { anchorOf, Code, Method, Operation } from './operation.tsx'
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

// The introduction to the API reference: authentication, lists, errors and webhooks.

/** The sections, in the order of the table of contents. */
const OVERVIEW = [
  { id: 'authentication', title: 'Authentication' },
  { id: 'lists', title: 'Lists' },
  { id: 'errors', title: 'Errors' },
  { id: 'sending', title: 'Sending events' },
] as const

type Props = { readonly url: string; readonly meanings: Readonly<Record<string, string>>; readonly version: string }

const Overview: FC<Props> = ({ url, meanings, version }) => (
  <>
    <p class="lead">
      The API at <code>{url}</code> accepts and returns JSON in UTF-8. This page and{' '}
      <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1, version {version}) are generated from the schemas that
      validate requests.
    </p>
    <p>
      IDs are UUIDs. Responses contain times in UTC, in ISO 8601 format. Requests may use any UTC offset; a date without
      a time means the whole day. A misspelled field or parameter is rejected with <code>400</code>. Other unknown
      fields and parameters are ignored. <code>HEAD</code> returns the headers of <code>GET</code>.
    </p>
    <Authentication url={url} />
    <Lists url={url} />
    <Errors meanings={meanings} />
    <Sending url={url} />
  </>
)

const Authentication: FC<{ url: string }> = ({ url }) => (
  <section id="authentication" aria-labelledby="authentication-title">
    <h2 id="authentication-title">Authentication</h2>
    <p>
      Every operation requires a token in the <code>Authorization: Bearer</code> header, except the operations of the
      server itself. The GitLab webhook requires the token in <code>X-Ci-Token</code> or <code>X-Gitlab-Token</code>.
      Create a token on the machine of the server:
    </p>
    <Code text={'incmon token create --name me --scopes read,write'} label="Create a token" />
    <p>Set the token in your shell. Then you can copy and run every command on this page:</p>
    <Code text="INCMON_TOKEN=incmon_…" label="Set the token" />
    <Code
      text={`curl "${url}/api/services" \\\n  -H "Authorization: Bearer $INCMON_TOKEN"`}
      label="First call"
      isShell
    />
    <p>
      A token belongs to one organization and cannot access any other. A token has one or more scopes:{' '}
      <code>ingest</code> sends events, <code>read</code> reads, <code>write</code> changes records, <code>admin</code>{' '}
      changes the organization and its tokens. Scopes do not include each other.
    </p>
  </section>
)

const Lists: FC<{ url: string }> = ({ url }) => (
  <section id="lists" aria-labelledby="lists-title">
    <h2 id="lists-title">Lists</h2>
    <p>
      All lists except services are objects with <code>data</code> and <code>pagination</code>, newest first. The list
      of services is an array. <code>page</code> starts at 1. <code>limit</code> is {DEFAULT_LIMIT} by default and at
      most {MAX_LIMIT}. A page after the last one is empty and still contains the correct total. The header{' '}
      <code>Link</code> contains the URLs of the first, previous, next and last page.
    </p>
    <Code
      text={`curl -i "${url}/api/alerts?status=firing&limit=10" \\\n  -H "Authorization: Bearer $INCMON_TOKEN"`}
      label="A page of a list"
      isShell
    />
  </section>
)

const Errors: FC<{ meanings: Props['meanings'] }> = ({ meanings }) => (
  <section id="errors" aria-labelledby="errors-title">
    <h2 id="errors-title">Errors</h2>
    <p>
      Every error is a <a href="#shape-Problem">Problem</a> of type <code>application/problem+json</code> (RFC 9457).{' '}
      <code>detail</code> says what is wrong and what to do. <code>errors</code> lists the invalid fields.
    </p>
    <table class="errors">
      <thead>
        <tr>
          <th scope="col">Code</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(meanings).map(([status, meaning]) => (
          <tr id={`error-${status}`}>
            <th scope="row">
              <code>{status}</code>
            </th>
            <td>{meaning}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

const Sending: FC<{ url: string }> = ({ url }) => (
  <section id="sending" aria-labelledby="sending-title">
    <h2 id="sending-title">Sending events</h2>
    <p>
      Four <a href="#webhooks">webhooks</a> accept requests from Kubernetes event exporters, Alertmanager, Grafana and
      GitLab. <code>200</code> means that the request is on disk. A request may contain valid and invalid items. Invalid
      items are stored separately and listed under <code>rejected</code>. The response is <code>400</code> only if all
      items are invalid. A webhook needs no Content-Type and never redirects. The tables list the fields that incmon
      uses. All other fields are stored with the event.
    </p>
    <p>
      With <code>?dryRun=1</code> nothing is stored. The response says what incmon would decide, and by which rule. A
      request with an <code>Idempotency-Key</code> can be repeated safely for 24 hours.
    </p>
    <Code
      text={`curl -X POST "${url}/api/webhooks/cluster?dryRun=1" \\\n  -H "Authorization: Bearer $INCMON_TOKEN" \\\n  -d '{ "namespace": "shop", "podName": "cart-1", "reason": "BackOff" }'`}
      label="A dry run"
      isShell
    />
  </section>
)
