/** What holds for every operation: the token, lists, errors, and the webhooks as senders see them. */
import type { FC } from 'hono/jsx'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../../domain/pagination.ts'
import { Code } from './operation.tsx'

/** The sections, in order, for the contents. */
export const OVERVIEW = [
  { id: 'authentication', title: 'Authentication' },
  { id: 'lists', title: 'Lists' },
  { id: 'errors', title: 'Errors' },
  { id: 'sending', title: 'Sending events' },
] as const

type Props = { readonly url: string; readonly meanings: Readonly<Record<string, string>>; readonly version: string }

export const Overview: FC<Props> = ({ url, meanings, version }) => (
  <>
    <p class="lead">
      JSON in and out, UTF-8, at <code>{url}</code>. This page and <a href="/openapi.json">openapi.json</a> (OpenAPI
      3.1, version {version}) are made from the schemas that validate.
    </p>
    <p>
      Ids are UUIDs. Times go out as ISO 8601 in UTC; they come in with any offset, and a date alone is the whole day.
      Fields and parameters that are not known are ignored. <code>HEAD</code> answers as <code>GET</code> without the
      body.
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
      Every operation but those of the server itself wants a token in the header <code>Authorization: Bearer</code>; the
      webhook of GitLab wants it bare in <code>X-Ci-Token</code> or <code>X-Gitlab-Token</code>. Whoever runs the server
      makes one on its machine:
    </p>
    <Code text={'incmon token create --name me --scopes read,write'} label="Make a token" />
    <p>The lines on this page run as they stand in a shell that knows the token:</p>
    <Code text="TOKEN=incmon_…" label="Name the token" />
    <Code text={`curl "${url}/api/services" \\\n  -H "Authorization: Bearer $TOKEN"`} label="First call" isShell />
    <p>
      A token belongs to one organization and sees nothing of any other. It has one scope or several:{' '}
      <code>ingest</code> sends events, <code>read</code> reads, <code>write</code> changes records, <code>admin</code>{' '}
      changes the organization and its tokens. Scopes do not include each other.
    </p>
  </section>
)

const Lists: FC<{ url: string }> = ({ url }) => (
  <section id="lists" aria-labelledby="lists-title">
    <h2 id="lists-title">Lists</h2>
    <p>
      Lists are objects of <code>data</code> and <code>pagination</code>, newest first; the one of services is a bare
      array. <code>page</code> counts from 1, <code>limit</code> is {DEFAULT_LIMIT} unless you say otherwise and at most{' '}
      {MAX_LIMIT}. A page past the end is empty and still bears the true total. The header <code>Link</code> leads to
      the first, previous, next and last page.
    </p>
    <Code
      text={`curl -i "${url}/api/alerts?status=firing&limit=10" \\\n  -H "Authorization: Bearer $TOKEN"`}
      label="A page of a list"
      isShell
    />
  </section>
)

const Errors: FC<{ meanings: Props['meanings'] }> = ({ meanings }) => (
  <section id="errors" aria-labelledby="errors-title">
    <h2 id="errors-title">Errors</h2>
    <p>
      Every refusal is a <a href="#shape-Problem">Problem</a> of type <code>application/problem+json</code> (RFC 9457).{' '}
      <code>detail</code> says what is wrong and what to do; <code>errors</code> names the faulty fields.
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
      Four <a href="#webhooks">webhooks</a> take what Kubernetes exporters, Alertmanager, Grafana and GitLab send,
      without a change at the sender. A <code>200</code> means that it is committed to disk. Items are taken one by one:
      a bad one costs only itself, is kept aside, and is named under <code>rejected</code>; only where nothing can be
      used the answer is <code>400</code>. A webhook needs no Content-Type and never answers with a redirect. The tables
      list the fields that matter; further ones are kept with the event.
    </p>
    <p>
      With <code>?dryRun=1</code> nothing is stored, and the answer says what would happen and which rule decided. An{' '}
      <code>Idempotency-Key</code> makes a delivery safe to repeat for 24 hours.
    </p>
    <Code
      text={`curl -X POST "${url}/api/webhooks/cluster?dryRun=1" \\\n  -H "Authorization: Bearer $TOKEN" \\\n  -d '{ "namespace": "shop", "podName": "cart-1", "reason": "BackOff" }'`}
      label="A dry run"
      isShell
    />
  </section>
)
