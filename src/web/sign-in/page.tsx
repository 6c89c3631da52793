/** The sign-in pages. A form submitted after the session has ended is kept until the visitor signs in again. */
import type { FC } from 'hono/jsx'
import type { FieldError } from '../../domain/error.ts'
import { Action, Faults, Form, Hidden, Input, Submit } from '../kit/form.tsx'
import { Alone, Section } from '../kit/section.tsx'

/** A form that was submitted without a session and can be resubmitted. `action` is a URL on this server. */
type Interrupted = { readonly action: string; readonly fields: readonly (readonly [string, string])[] }

type SignInProps = {
  /** The command that started the program. */
  readonly program: string
  readonly faults: readonly FieldError[]
  readonly person: string
  /** The URL to open after signing in. */
  readonly to: string
  /** The encoded submitted form, or ''. */
  readonly waiting: string
}

const Person: FC<{ value: string }> = ({ value }) => (
  <Input
    id="person"
    label="Your name"
    hint="Timelines, postmortems and messages show this name next to your actions, for example: Ada resolved the incident."
    value={value}
    maxlength={100}
    autocomplete="name"
  />
)

const Stay: FC = () => (
  <label class="check">
    <input type="checkbox" name="stay" value="1" checked />
    Stay signed in on this device for 30 days
  </label>
)

export const SignInPage: FC<SignInProps> = ({ program, faults, person, to, waiting }) => (
  <Alone>
    <div class="card">
      <form class="body stack" method="post" action="/sign-in">
        <h1>Sign in</h1>
        <Faults faults={faults} />
        {waiting === '' ? null : <p>You were signed out. Nothing that you typed is lost.</p>}
        <Hidden fields={{ to, waiting }} />
        <Input
          id="token"
          label="Token"
          hint="Any token with the read scope."
          faults={faults}
          type="password"
          required
          placeholder="incmon_…"
          autocomplete="current-password"
          spellcheck={false}
        />
        <Person value={person} />
        <Stay />
        <Submit look="primary wide">Sign in</Submit>
      </form>
    </div>
    <p class="hint after">
      No token? Run on the server: <code>{program} setup-link</code>
    </p>
  </Alone>
)

/** The page for a setup link. Opening the page changes nothing; its button signs the visitor in. */
export const SetupPage: FC<{ secret: string }> = ({ secret }) => (
  <Alone>
    <div class="card">
      <form class="body stack" method="post" action="/setup">
        <h1>Set up incmon</h1>
        <p class="second">This link signs you in as administrator. It works once.</p>
        <Hidden fields={{ key: secret }} />
        <Person value="" />
        <Stay />
        <Submit look="primary wide">Continue</Submit>
      </form>
    </div>
  </Alone>
)

/** The page for a setup link that has been used or has expired. */
export const SpentLinkPage: FC<{ program: string }> = ({ program }) => (
  <Alone>
    <div class="card">
      <div class="body stack">
        <h1>This link no longer works</h1>
        <p>
          It has already been used or has expired. Run <code>{program} setup-link</code> on the server to create another
          link.
        </p>
        <p>
          <a href="/sign-in">Sign in with a token</a>
        </p>
      </div>
    </div>
  </Alone>
)

/** Shows a form that was submitted with an expired session, so that the visitor can check and resubmit it. */
export const SendAgainPage: FC<{ form: Interrupted; csrf: string }> = ({ form, csrf }) => (
  <div class="narrow">
    <h1>Send this again?</h1>
    <p class="second lead">You were signed out in the meantime. Nothing that you typed is lost.</p>
    <div class="card">
      <Form class="body stack" action={form.action} fields={{ csrf }}>
        <dl class="pairs">
          {/*
           * `seen` is the text before the edit. The form sends `seen` to detect conflicts, but the visitor did not type
           * it.
           */}
          {form.fields
            .filter(([name]) => name !== 'seen')
            .map(([name, value]) => (
              <>
                <dt>{fieldWords(name)}</dt>
                <dd class="typed">{value === '' ? 'empty' : value}</dd>
              </>
            ))}
        </dl>
        {form.fields.map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        <p class="row">
          <Submit look="primary">Send again</Submit>
          <a class="button" href="/">
            Discard
          </a>
        </p>
      </Form>
    </div>
  </div>
)

/** Returns the name of a field in words, for example `root cause` for `rootCause`. */
export function fieldWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll('-', ' ')
}

// The page for a person who is signed in to several organizations.

type Props = {
  readonly current: string
  /** The other organizations to which this browser is signed in. */
  readonly others: readonly { readonly id: string; readonly name: string }[]
}

export const OrganizationsPage: FC<Props> = ({ current, others }) => (
  <>
    <h1>Organizations</h1>
    <Section id="signed-in" title="You are signed in to" second={`this page shows ${current}`}>
      <ul class="card rows">
        <li class="row">
          <b class="break">{current}</b>
          <span class="end second">shown now</span>
        </li>
        {others.map(({ id, name }) => (
          <li class="row">
            <span class="break">{name}</span>
            <span class="end">
              <Action action="/organizations" fields={{ organization: id }} look="small">
                Switch to {name}
              </Action>
            </span>
          </li>
        ))}
      </ul>
    </Section>
    <p class="after-card">
      <a href="/sign-in">Sign in to another organization</a> with a token of that organization. You stay signed in to{' '}
      {current}.
    </p>
  </>
)
