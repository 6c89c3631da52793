/** The token settings, and the list of the browsers that are signed in. */
import type { FC } from 'hono/jsx'
import type { TokenFact } from '../../domain/doctor/facts.ts'
import type { Session } from '../../domain/request/session.ts'
import { SCOPES, type Scope } from '../../domain/request/token.ts'
import { formatAgo, formatMoment, type Reader } from '../../domain/shown-time.ts'
import { fieldsOf } from '../kit/choice.tsx'
import { type Fault, Form, faultOf, Input, NewSecret, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Card, Head, Table } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'

type TokenView = Pick<TokenFact, 'id' | 'name' | 'scopes' | 'cluster' | 'lastUsedAt' | 'expiresAt'>

export type TokenForm = { readonly name: string; readonly cluster: string; readonly scopes: readonly string[] }

type Props = {
  readonly tokens: readonly TokenView[]
  readonly form: TokenForm
  readonly faults: readonly Fault[]
  /** The token created by this request, which is shown only once. */
  readonly created: { readonly name: string; readonly secret: string } | null
}

const MEANINGS: Readonly<Record<Scope, string>> = {
  ingest: 'send events to the webhooks',
  read: 'see everything',
  write: 'change incidents, alerts, services and silences',
  admin: 'manage tokens, channels and settings',
}
const SOON = 14 * 86_400_000

export const TokenSettings: FC<Props> = ({ tokens, form, faults, created }) => (
  <>
    <Head title="Tokens" second="who can send, read and change data" />
    {created ? <NewSecret text={created.secret} about={`Token “${created.name}” was created.`} /> : null}
    <div class="card after-card">
      {tokens.length === 0 ? (
        <p class="empty">There is no token. Create one below for your first sender.</p>
      ) : (
        <Table names={['Name', 'Scopes', 'Cluster', 'Last used', 'Expires']} action="Revoke">
          {tokens.map((token) => (
            <TokenRow token={token} />
          ))}
        </Table>
      )}
    </div>
    <div class="card after-card">
      <Form class="body stack" action="/settings/tokens" faults={faults}>
        <h3>New token</h3>
        <div class="fields">
          <Input
            {...fieldsOf(form, faults)('name')}
            label="Name"
            hint="Timelines show this name next to the actions of the token."
            placeholder="alertmanager"
            required
            maxlength={100}
          />
          <Input
            id="cluster"
            label="Cluster"
            hint="Everything sent with this token belongs to this cluster. Empty: the labels determine the cluster."
            value={form.cluster}
            placeholder="production"
            maxlength={253}
          />
        </div>
        <fieldset id="scopes">
          <legend>Scopes</legend>
          {faultOf('scopes', faults) ? <p class="fault">{faultOf('scopes', faults)}</p> : null}
          <div class="fields scopes">
            {SCOPES.map((scope) => (
              <label class="check">
                <input type="checkbox" name="scope" value={scope} checked={form.scopes.includes(scope)} />
                <span>
                  <b>{scope}</b> <span class="quiet">{MEANINGS[scope]}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <p>
          <Submit look="primary">Create token</Submit>
        </p>
      </Form>
    </div>
  </>
)

const TokenRow: FC<{ token: TokenView }> = ({ token }) => {
  const reader = getFrame()
  return (
    <tr>
      <td class="break">
        <b>{token.name}</b>
      </td>
      <td data-label="Scopes">
        <span class="row">
          {token.scopes.map((scope) => (
            <span class="chip">{scope}</span>
          ))}
        </span>
      </td>
      <td data-label="Cluster" class={token.cluster === '' ? 'quiet' : 'break'}>
        {token.cluster === '' ? 'any' : token.cluster}
      </td>
      <td data-label="Last used" class="nowrap">
        {token.lastUsedAt === null ? 'never' : <Time at={token.lastUsedAt} />}
      </td>
      <td data-label="Expires" class={isSoon(token, reader) ? 'nowrap soon' : 'nowrap'}>
        {token.expiresAt === null ? 'never' : formatMoment(token.expiresAt, reader)}
      </td>
      <td class="shrink">
        <details class="confirm">
          <summary class="button small">Revoke…</summary>
          <Form action={`/settings/tokens/${token.id}/revoke`}>
            <p>
              Revoke {token.name}? {useOf(token, reader)}
            </p>
            <Submit look="small">Revoke {token.name}</Submit>
          </Form>
        </details>
      </td>
    </tr>
  )
}

function useOf({ lastUsedAt }: TokenView, reader: Reader): string {
  return lastUsedAt === null ? 'It was never used.' : `It was last used ${formatAgo(lastUsedAt, reader)}.`
}

function isSoon({ expiresAt }: TokenView, { now }: Reader): boolean {
  return expiresAt !== null && expiresAt - now < SOON
}

type SessionView = Session & { readonly isOwn: boolean }

export const SessionSettings: FC<{ sessions: readonly SessionView[] }> = (props) => (
  <>
    <Head title="Sessions" second="browsers that are signed in" />
    <Card empty={props.sessions.length === 0 ? 'Nobody is signed in with a session.' : null}>
      <Table names={['Person', 'Signed in with', 'Browser', 'Since', 'Last used']} action="End">
        {props.sessions.map((session) => (
          <tr>
            <td class="break">
              <b>{session.person === '' ? (session.tokenName ?? 'no name') : session.person}</b>
              {session.isOwn ? <span class="chip this">this browser</span> : null}
            </td>
            <td data-label="Signed in with" class="break">
              {session.tokenName === null ? 'a setup link' : `token ${session.tokenName}`}
            </td>
            <td data-label="Browser">{session.agent}</td>
            <td data-label="Since">
              <Time at={session.createdAt} style="moment" />
            </td>
            <td data-label="Last used">
              <Time at={session.lastUsedAt} />
            </td>
            <td class="shrink">
              <Form action={`/settings/sessions/${session.id}/end`}>
                <Submit look="small">End session</Submit>
              </Form>
            </td>
          </tr>
        ))}
      </Table>
    </Card>
  </>
)
