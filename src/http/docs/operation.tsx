/** One operation in the API reference: description, parameters, responses and a curl command. */
import type { FC } from 'hono/jsx'
import { curlOf, type Entry, exampleOf, variablesOf } from './curl.ts'
import type { JsonSchema, OpenApiAnswer, OpenApiDocument } from './openapi-document.ts'
import { FieldTable, ParameterTable, TypeWords } from './schema.tsx'

/** The maximum number of visible lines. Longer examples scroll. */
const MAX_LINES = 22
const JSON_TYPE = 'application/json'

type Context = { readonly document: OpenApiDocument; readonly url: string }

export const Operation: FC<{ entry: Entry } & Context> = ({ entry, document, url }) => {
  const { method, path, operation } = entry
  const { summary, description, parameters, requestBody, responses } = operation
  const title = `${method} ${path}`
  const body = requestBody?.content[JSON_TYPE]?.schema
  return (
    <article id={anchorOf(entry)} aria-labelledby={`${anchorOf(entry)}-title`}>
      <h3 id={`${anchorOf(entry)}-title`}>
        <Method name={method} /> <code>{path}</code>
      </h3>
      <p class="summary">{summary}.</p>
      <p>
        {withoutScope(description)} <Access entry={entry} />
      </p>
      <Curl entry={entry} document={document} url={url} />
      {parameters.length > 0 && <ParameterTable parameters={parameters} label={`Parameters of ${title}`} />}
      {body && (
        <>
          <h4>Request body</h4>
          <FieldTable schema={body} label={`Request body of ${title}`} isRequest />
        </>
      )}
      <Answers responses={responses} document={document} title={title} />
    </article>
  )
}

export const Method: FC<{ name: string }> = ({ name }) => <span class={`method ${name.toLowerCase()}`}>{name}</span>

/** Returns the HTML id of an operation, for example `get-api-services-id`. */
export function anchorOf({ method, path }: Entry): string {
  return `${method}${path}`
    .toLowerCase()
    .replace(/[^a-z]+/g, '-')
    .replace(/-$/, '')
}

/** Removes the scope, which is shown separately. */
function withoutScope(description = ''): string {
  return description.replace(/ ?Scope: \w+\.$/, '')
}

const Access: FC<{ entry: Entry }> = ({ entry }) => {
  const [scope] = entry.operation.security.flatMap((one) => Object.values(one).flat())
  return scope ? (
    <span class="access">
      Scope <code>{scope}</code>.
    </span>
  ) : (
    <span class="access">Needs no token.</span>
  )
}

const Curl: FC<{ entry: Entry } & Context> = ({ entry, document, url }) => {
  const { method, path, operation } = entry
  const ids = variablesOf(entry)
  const other = Object.keys(operation.responses['200']?.content ?? {}).find((type) => type === 'text/markdown')
  return (
    <>
      <Code text={curlOf(entry, document, url)} label={`curl for ${method} ${path}`} isShell />
      {other && <Code text={curlOf(entry, document, url, other)} label={`curl for ${path} as ${other}`} isShell />}
      {ids.map(({ name, list }) => (
        <p class="hint">
          <code>{name}</code> is an <code>id</code> from <a href={`#get${list.replace(/[^a-z]+/g, '-')}`}>GET {list}</a>
          .
        </p>
      ))}
    </>
  )
}

/** Shows code. Long code is focusable so that keyboard users can scroll it. */
export const Code: FC<{ text: string; label: string; isShell?: boolean }> = ({ text, label, isShell }) => {
  const more = text.split('\n').length > MAX_LINES ? { tabindex: 0, role: 'group', 'aria-label': label } : {}
  return (
    <pre class={isShell ? 'shell' : 'example'} {...more}>
      <code>{text}</code>
    </pre>
  )
}

type AnswersProps = {
  readonly responses: Readonly<Record<string, OpenApiAnswer>>
  readonly document: OpenApiDocument
  readonly title: string
}

const Answers: FC<AnswersProps> = ({ responses, document, title }) => {
  const all = Object.entries(responses)
  const refusals = all.filter(([, { content = {} }]) => 'application/problem+json' in content)
  return (
    <>
      {all
        .filter((one) => !refusals.includes(one))
        .map(([status, answer]) => (
          <>
            <h4>
              Response <span class="status">{status}</span>
            </h4>
            <p>{answer.description}.</p>
            <Variants schema={answer.content?.[JSON_TYPE]?.schema} document={document} title={`${title} ${status}`} />
          </>
        ))}
      <h4>Errors</h4>
      <ul class="hint">
        {refusals.map(([status, { description }]) => (
          <li>
            <a href={`#error-${status}`}>{status}</a> {description}
          </li>
        ))}
      </ul>
    </>
  )
}

type VariantsProps = {
  readonly schema: JsonSchema | undefined
  readonly document: OpenApiDocument
  readonly title: string
}

/** Shows all variants of a response schema separately. */
const Variants: FC<VariantsProps> = ({ schema, document, title }) => {
  if (!schema) return null
  const variants = schema.anyOf ?? [schema]
  return (
    <>
      {variants.map((one, index) => (
        <>
          {variants.length > 1 && one.description && <p>{one.description}.</p>}
          <ShapeLine schema={one} />
          <FieldTable schema={one} label={`Fields of ${title}${index === 0 ? '' : `, ${index + 1}`}`} />
          <Code text={JSON.stringify(exampleOf(one, document), null, 2)} label={`Example of ${title}`} />
        </>
      ))}
    </>
  )
}

/** Names the schema if it is a list or if its fields are documented under Shapes. */
const ShapeLine: FC<{ schema: JsonSchema }> = ({ schema }) =>
  schema.$ref || schema.items ? (
    <p class="hint">
      The body: <TypeWords schema={schema} />
    </p>
  ) : null
