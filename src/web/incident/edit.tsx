/** Forms about an incident: declare it, change its title and severity, merge it, and its action items. */
import type { FC } from 'hono/jsx'
import type { Action } from '../../domain/postmortem/document.ts'
import { SEVERITIES, type Severity } from '../../domain/severity.ts'
import { capitalized } from '../../domain/text.ts'
import { Action as ActionButton, Hidden, Input, Submit } from '../kit/form.tsx'
import { Card, Section } from '../kit/section.tsx'
import type { IncidentView } from './view.ts'

const MAX_TITLE = 200

const SeverityField: FC<{ id: string; value: Severity }> = ({ id, value }) => (
  <div class="field">
    <label for={id}>Severity</label>
    <select id={id} name="severity">
      {SEVERITIES.map((one) => (
        <option value={one} selected={one === value}>
          {capitalized(one)}
        </option>
      ))}
    </select>
  </div>
)

/** The form that opens an incident. */
export const Declare: FC<{ csrf: string }> = ({ csrf }) => (
  <details class="confirm">
    <summary class="button">Declare incident…</summary>
    <form method="post" action="/incidents" class="stack">
      <Hidden fields={{ csrf }} />
      <Input id="title" label="What is wrong" maxlength={MAX_TITLE} required autocomplete="off" />
      <Input id="service" label="Service" hint="Its name, or namespace/name." required spellcheck={false} />
      <SeverityField id="severity" value="critical" />
      <Submit look="primary">Declare incident</Submit>
    </form>
  </details>
)

/** The forms that change an incident, or merge it into another one. */
export const EditIncident: FC<Pick<IncidentView, 'incident' | 'csrf'>> = ({ incident, csrf }) => (
  <details class="confirm">
    <summary class="button bare">Edit…</summary>
    <div class="stack">
      <form method="post" action={`${incident.href}/edit`} class="stack">
        <Hidden fields={{ csrf }} />
        <Input id="title" label="Title" value={incident.title} maxlength={MAX_TITLE} required autocomplete="off" />
        <SeverityField id="severity" value={incident.severity} />
        <Submit>Save</Submit>
      </form>
      <form method="post" action={`${incident.href}/merge`} class="stack">
        <Hidden fields={{ csrf }} />
        <Input
          id="into"
          label="Merge into incident"
          hint="The number of an unresolved incident. It gets the alerts and the timeline; this incident is resolved."
          inputmode="numeric"
          required
        />
        <Submit>Merge</Submit>
      </form>
    </div>
  </details>
)

type ItemsProps = Pick<IncidentView, 'incident' | 'csrf' | 'canWrite'> & { readonly items: readonly Action[] }

/** The action items, with a form for another one. */
export const ActionItems: FC<ItemsProps> = ({ items, incident, csrf, canWrite }) => (
  <Section id="actions" title="Action items">
    <Card empty={items.length === 0 && !canWrite ? 'There are no action items.' : null}>
      {items.map((item) => (
        <Item {...{ item, incident, csrf, canWrite }} />
      ))}
      {canWrite ? (
        <details class="more add-item">
          <summary>Add an action item</summary>
          <form method="post" action={`${incident.href}/actions`} class="body row">
            <Hidden fields={{ csrf }} />
            <input
              type="text"
              name="text"
              class="grow"
              aria-label="Action item"
              placeholder="What has to be done?"
              required
            />
            <input type="text" name="owner" aria-label="Owner" placeholder="Owner" maxlength={200} />
            <input type="date" name="due" aria-label="Due" />
            <Submit>Add</Submit>
          </form>
        </details>
      ) : null}
    </Card>
  </Section>
)

const Item: FC<Omit<ItemsProps, 'items'> & { item: Action }> = ({ item, incident, csrf, canWrite }) => {
  const { id, text, owner, due, state } = item
  const isOpen = state === 'open' || state === 'proposed'
  return (
    <div class="body row">
      <p class="grow break">
        {text}
        <span class="quiet">
          {' '}
          {[state, owner ?? 'no owner', due === null ? '' : `due ${due}`].filter(Boolean).join(', ')}
        </span>
      </p>
      {canWrite ? (
        <>
          <form method="post" action={`${incident.href}/action`} class="row">
            <Hidden fields={{ csrf, item: id }} />
            <input type="text" name="owner" aria-label={`Owner of ${text}`} value={owner ?? ''} maxlength={200} />
            <Submit look="small">Assign</Submit>
          </form>
          <ActionButton
            action={`${incident.href}/action`}
            csrf={csrf}
            fields={{ item: id, state: isOpen ? 'done' : 'open' }}
            look="small"
          >
            {isOpen ? 'Done' : 'Open again'}
          </ActionButton>
        </>
      ) : null}
    </div>
  )
}
