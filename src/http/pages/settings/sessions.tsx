/** Lists the browsers that are signed in. */
import type { FC } from 'hono/jsx'
import type { Reader } from '../../../domain/shown-time.ts'
import { Hidden, Submit } from '../kit/form.tsx'
import { Card, Columns, Head } from '../kit/section.tsx'
import { Time } from '../kit/time.tsx'

export type SessionView = {
  readonly id: string
  readonly person: string
  readonly tokenName: string | null
  readonly agent: string
  readonly createdAt: number
  readonly lastUsedAt: number
  readonly isOwn: boolean
}

export const SessionSettings: FC<{ csrf: string; reader: Reader; sessions: readonly SessionView[] }> = (props) => (
  <>
    <Head title="Sessions" second="browsers that are signed in" />
    <Card empty={props.sessions.length === 0 ? 'Nobody is signed in with a session.' : null}>
      <table class="cards">
        <Columns names={['Person', 'Signed in with', 'Browser', 'Since', 'Last used']} action="End" />
        <tbody>
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
                <Time at={session.createdAt} reader={props.reader} style="moment" />
              </td>
              <td data-label="Last used">
                <Time at={session.lastUsedAt} reader={props.reader} />
              </td>
              <td class="shrink">
                <form method="post" action={`/settings/sessions/${session.id}/end`}>
                  <Hidden fields={{ csrf: props.csrf }} />
                  <Submit look="small">End session</Submit>
                </form>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  </>
)
