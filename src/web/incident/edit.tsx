/** Forms about an incident: declare it, change its title and severity, merge it, and its action items. */
import type { FC } from 'hono/jsx'
import type { Action } from '../../domain/postmortem/document.ts'
import { SEVERITIES } from '../../domain/severity.ts'
import { capitalized } from '../../domain/text.ts'
import { fieldsOf, Select } from '../kit/choice.tsx'
import { Action as ActionButton, Faults, Form, Input, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Card, Section } from '../kit/section.tsx'
import { type IncidentView, type Typed, typedInto } from './view.ts'

const MAX_TITLE = 200

const SEVERITY_OPTIONS = SEVERITIES.map((one) => [one, capitalized(one)] as const)

/** The form that opens an incident. `isFirst`: whether this is what one would do now, because nothing is open. */
export const Declare: FC<{ typed: Typed | null; isFirst: boolean }> = ({ typed, isFirst }) => {
  const { values, faults } = typedInto('declare', typed)
  const field = fieldsOf(values, faults)
  if (!getFrame().canWrite) return null
  return (
    <details class="confirm" open={faults.length > 0}>
      <summary class={isFirst ? 'button primary' : 'button'}>Declare incident…</summary>
      <Form action="/incidents" class="stack" faults={faults}>
        <Input {...field('title')} label="What is wrong" maxlength={MAX_TITLE} required autocomplete="off" />
        <Input {...field('service')} label="Service" hint="Its name, or namespace/name." required spellcheck={false} />
        <Select id="severity" label="Severity" options={SEVERITY_OPTIONS} value={values.severity ?? 'critical'} />
        <Submit look="primary">Declare incident</Submit>
      </Form>
    </details>
  )
}

/** The forms that change an incident, or merge it into another one. */
export const EditIncident: FC<Pick<IncidentView, 'incident' | 'typed'>> = ({ incident, typed }) => {
  const edited = typedInto('edit', typed)
  const merged = typedInto('merge', typed)
  return (
    <details class="confirm" open={edited.faults.length + merged.faults.length > 0}>
      <summary class="button bare">Edit…</summary>
      <div class="stack">
        <Form action={`${incident.href}/edit`} class="stack" faults={edited.faults}>
          <Input
            {...fieldsOf({ title: edited.values.title ?? incident.title }, edited.faults)('title')}
            label="Title"
            maxlength={MAX_TITLE}
            required
            autocomplete="off"
          />
          <Select
            id="severity"
            label="Severity"
            options={SEVERITY_OPTIONS}
            value={edited.values.severity ?? incident.severity}
          />
          <Submit>Save</Submit>
        </Form>
        <Form action={`${incident.href}/merge`} class="stack" faults={merged.faults}>
          <Input
            {...fieldsOf(merged.values, merged.faults)('into')}
            label="Merge into incident"
            hint="The number of an unresolved incident. It gets the alerts, links and notes; this incident is resolved."
            inputmode="numeric"
            required
          />
          <Submit>Merge</Submit>
        </Form>
      </div>
    </details>
  )
}

type ItemsProps = Pick<IncidentView, 'incident' | 'typed'> & { readonly items: readonly Action[] }

/** The action items, with a form for another one. */
export const ActionItems: FC<ItemsProps> = ({ items, incident, typed }) => (
  <Section id="actions" title="Action items">
    <Card empty={items.length === 0 && !getFrame().canWrite ? 'There are no action items.' : null}>
      <Faults faults={typedInto('assign', typed).faults} />
      {items.map((item) => (
        <Item {...{ item, incident, typed }} />
      ))}
      {getFrame().canWrite ? <NewItem {...{ incident, typed }} /> : null}
    </Card>
  </Section>
)

const NewItem: FC<Pick<ItemsProps, 'incident' | 'typed'>> = ({ incident, typed }) => {
  const { values, faults } = typedInto('item', typed)
  const field = fieldsOf(values, faults)
  return (
    <details class="more" open={faults.length > 0}>
      <summary>Add an action item</summary>
      <Form action={`${incident.href}/actions`} class="body stack" faults={faults}>
        <Input {...field('text')} label="What has to be done?" required autocomplete="off" />
        <div class="row">
          <Input {...field('owner')} label="Owner" />
          <Input {...field('due')} label="Due" type="date" />
          <Submit>Add</Submit>
        </div>
      </Form>
    </details>
  )
}

const Item: FC<Omit<ItemsProps, 'items'> & { item: Action }> = ({ item, incident, typed }) => {
  const { canWrite } = getFrame()
  const { id, text, owner, due, state } = item
  const { values } = typedInto('assign', typed)
  const shownOwner = values.item === id ? values.owner : (owner ?? '')
  const isOpen = state === 'open' || state === 'proposed'
  return (
    <div class="body row">
      <p class="action-text break">
        {text}
        <span class="quiet">
          {' '}
          {[state, owner ?? 'no owner', due === null ? '' : `due ${due}`].filter(Boolean).join(', ')}
        </span>
      </p>
      {canWrite ? (
        <>
          <Form action={`${incident.href}/action`} class="row" fields={{ item: id }}>
            <input type="text" name="owner" aria-label={`Owner of ${text}`} placeholder="Owner" value={shownOwner} />
            <Submit look="small">Assign</Submit>
          </Form>
          <ActionButton
            action={`${incident.href}/action`}
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
