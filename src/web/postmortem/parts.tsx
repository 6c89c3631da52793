/** Components of a postmortem: sentences with their evidence, and text written by people. */
import type { FC } from 'hono/jsx'
import type { Postmortem, Sentence } from '../../domain/postmortem/document.ts'
import type { IncidentView } from '../incident/view.ts'
import { Form, Submit } from '../kit/form.tsx'
import { getFrame } from '../kit/frame.ts'
import { Icon, Words } from '../kit/mark.tsx'

/** A section written by people, by its form field name. */
export type PartName = 'summary' | 'customers' | 'rootCause' | 'wentWell' | 'wentBadly' | 'lucky'

export type PostmortemView = Pick<IncidentView, 'incident' | 'picture' | 'graph'> & {
  readonly document: Postmortem
  /** The section being edited, or null. */
  readonly editing: PartName | null
  /** The rejected text and the reason, or null. */
  readonly refused: { readonly text: string; readonly why: string } | null
}

/** The number of each record in the evidence list. */
export type Numbers = ReadonlyMap<string, number>

const MAX_LENGTH = 65_536
/** The maximum number of references after a sentence. A sentence about an alert storm has hundreds of references. */
const MAX_CITED = 4

/** Renders sentences, each followed by the numbers of its evidence. */
export const Sentences: FC<{ sentences: readonly Sentence[]; numbers: Numbers }> = ({ sentences, numbers }) => (
  <p class="prose">
    {sentences.map(({ text, refs }) => (
      <>
        <Words in="span" class="break" text={text} />
        <EvidenceLinks refs={refs} numbers={numbers} />{' '}
      </>
    ))}
  </p>
)

/** Renders `E1 E2`, each linked to its record. */
export const EvidenceLinks: FC<{ refs: readonly string[]; numbers: Numbers }> = ({ refs, numbers }) => {
  const known = [...new Set(refs.flatMap((ref) => numbers.get(ref) ?? []))].sort((a, b) => a - b)
  const more = known.length - MAX_CITED
  return (
    <sup class="cited">
      {known.slice(0, MAX_CITED).map((number) => (
        <a href={`#e${number}`}>E{number}</a>
      ))}
      {more > 0 ? <span>+{more}</span> : null}
    </sup>
  )
}

/**
 * The section, label and question of each text written by people, in page order. The question is shown if there is no
 * text.
 */
export const PARTS: Readonly<Record<PartName, readonly [section: string, label: string, question: string]>> = {
  summary: ['Summary', 'Addition', 'What should everybody know?'],
  customers: ['Impact', 'Customers', 'What did customers notice? incmon has no data on this.'],
  rootCause: ['Root cause', 'Root cause', 'Why did it happen?'],
  wentWell: ['Lessons', 'What went well', 'What went well?'],
  wentBadly: ['Lessons', 'What went badly', 'What went badly?'],
  lucky: ['Lessons', 'Where we were lucky', 'Where were we lucky?'],
}

/** Returns the texts written by people; null if a text is not written yet. */
export function textsOf({ summary, impact, rootCause, lessons }: Postmortem): Record<PartName, string | null> {
  return { ...lessons, summary: summary.addition, customers: impact.customers, rootCause: rootCause.text }
}

/** Renders a section written by people, as text or as an input field. If the section is empty, shows its question. */
export const EditableText: FC<{ name: PartName; view: PostmortemView }> = ({ name, view }) => {
  const { canWrite } = getFrame()
  const [, label, question] = PARTS[name]
  const text = textsOf(view.document)[name]
  const { document, editing, refused, incident } = view
  const address = `${incident.href}/postmortem`
  const open = canWrite && document.header.state === 'draft'
  if ((open || refused) && editing === name) {
    return (
      <Form action={address} class="card written" id={`part-${name}`} fields={{ seen: text ?? '' }}>
        {refused ? <Refused why={refused.why} text={text} /> : null}
        <div class="field">
          <label for={`text-${name}`}>{refused ? `${label}: your text` : label}</label>
          <textarea id={`text-${name}`} name={name} rows={6} maxlength={MAX_LENGTH} autofocus>
            {refused?.text ?? text ?? ''}
          </textarea>
          <span class="hint">{question} To clear this part, save an empty field.</span>
        </div>
        <p class="row">
          <Submit look="primary">Save</Submit>
          <a class="button" href={`${address}#part-${name}`}>
            Cancel
          </a>
        </p>
      </Form>
    )
  }
  const link = open ? (
    <a class="button small no-print" href={`${address}?edit=${name}#part-${name}`}>
      {text === null ? 'Write' : 'Edit'}
    </a>
  ) : null
  return (
    <div class={text === null ? 'card row written written-empty no-print' : 'card written'} id={`part-${name}`}>
      {text === null ? <p class="quiet">{question}</p> : <p class="typed break">{text}</p>}
      <p class="row written-foot">
        {text === null ? null : (
          <span class="quiet with-icon">
            <Icon name="person" />
            {label}, written manually
          </span>
        )}
        {link}
      </p>
    </div>
  )
}

/** Explains why a section was not saved, and shows the text that is currently stored. */
const Refused: FC<{ why: string; text: string | null }> = ({ why, text }) => (
  <div class="refused" role="alert">
    <p>
      <b>Not saved.</b> {why}
    </p>
    {text === null ? <p class="quiet">This part is now empty.</p> : <blockquote class="typed break">{text}</blockquote>}
  </div>
)
