/** Shows a schema as a table with one row per field: name, type, limits and meaning. */
import type { Child, FC } from 'hono/jsx'
import { nameOf } from './curl.ts'
import type { JsonSchema, OpenApiParameter } from './openapi-document.ts'

type FieldRow = {
  readonly name: string
  readonly schema: JsonSchema
  readonly description: string
  /** Where a parameter is sent, and whether the field is required. */
  readonly note: string
}

/** Shows the parameters of an operation. */
export const ParameterTable: FC<{ parameters: readonly OpenApiParameter[]; label: string }> = (props) => (
  <Table
    label={props.label}
    first="Parameter"
    rows={props.parameters.map((one) => ({ ...one, note: one.required ? `${one.in}, required` : one.in }))}
  />
)

/** Shows the fields of a schema. Nested fields are shown by path, such as `change.ref` or `data[].id`. */
export const FieldTable: FC<{ schema: JsonSchema; label: string; isRequest?: boolean }> = (props) => {
  const rows = fieldsOf(props.schema, '', props.isRequest ?? false)
  return rows.length === 0 ? null : <Table label={props.label} first="Field" rows={rows} />
}

/** The explicit roles are for phones: with `display: block`, browsers no longer treat the elements as a table. */
const Table: FC<{ label: string; first: string; rows: readonly FieldRow[] }> = ({ label, first, rows }) => (
  // biome-ignore-start lint/a11y/noRedundantRoles: the comment above has the reason
  <table role="table" aria-label={label}>
    <thead role="rowgroup">
      <tr role="row">
        {[first, 'Type', 'Meaning'].map((name) => (
          <th role="columnheader" scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {rows.map(({ name, note, schema, description }) => (
        <tr role="row">
          <th role="rowheader" scope="row">
            <code>{name}</code>
            {note && <span class="note"> {note}</span>}
          </th>
          <td role="cell">
            <TypeWords schema={schema} />
          </td>
          <td role="cell">{description}</td>
        </tr>
      ))}
    </tbody>
  </table>
  // biome-ignore-end lint/a11y/noRedundantRoles: the comment above has the reason
)

function fieldsOf(schema: JsonSchema, prefix: string, isRequest: boolean): FieldRow[] {
  const inner = schema.items ?? schema
  const path = schema.items ? `${prefix}[]` : prefix
  return Object.entries(inner.properties ?? {}).flatMap(([key, field]) => {
    const name = path === '' ? key : `${path}.${key}`
    const isRequired = inner.required?.includes(key) ?? false
    const note = isRequest ? (isRequired ? 'required' : '') : isRequired ? '' : 'optional'
    const row = { name, schema: field, description: field.description ?? '', note }
    return [row, ...fieldsOf(withoutNull(field), name, isRequest)]
  })
}

/** Describes a type in words, with its limits and its default. */
export const TypeWords: FC<{ schema: JsonSchema }> = ({ schema }) => {
  const one = withoutNull(schema)
  const limits = [
    spanOf(one.minimum, one.maximum, ''),
    spanOf(one.minLength, one.maxLength, ' characters'),
    spanOf(one.minItems, one.maxItems, ' items'),
  ]
    .filter((words) => words !== '')
    .join(', ')
  return (
    <>
      {baseOf(one)}
      {one === schema ? '' : ' or null'}
      {limits && `, ${limits}`}
      {schema.default !== undefined && (
        <>
          {'; default '}
          <code>{String(schema.default)}</code>
        </>
      )}
    </>
  )
}

function baseOf(schema: JsonSchema): Child {
  const { $ref, items, additionalProperties } = schema
  if ($ref) return <a href={`#shape-${nameOf($ref)}`}>{nameOf($ref)}</a>
  if (schema.enum) return <Choices values={schema.enum} />
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>
  if (items) return <>list of {baseOf(withoutNull(items))}</>
  if (schema.type === 'object') return isMap(additionalProperties) ? 'object of strings' : 'object'
  if (schema.format) return { uuid: 'UUID', 'date-time': 'time' }[schema.format] ?? schema.format
  if (schema.type === 'string') return 'string'
  return schema.type ?? 'anything'
}

function isMap(more: JsonSchema['additionalProperties']): boolean {
  return typeof more === 'object' && more.type === 'string'
}

const Choices: FC<{ values: readonly unknown[] }> = ({ values }) => (
  <>
    {values.map((value, index) => (
      <>
        {index === 0 ? '' : index === values.length - 1 ? ' or ' : ', '}
        <code>{String(value)}</code>
      </>
    ))}
  </>
)

/** Omits a minimum of 0, because counts are never negative. */
function spanOf(min: number | undefined, max: number | undefined, unit: string): string {
  const words = (count: number) => count.toLocaleString('en')
  if (max === undefined) return min ? `at least ${words(min)}${unit}` : ''
  return min === undefined ? `at most ${words(max)}${unit}` : `${words(min)} to ${words(max)}${unit}`
}

function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf = [] } = schema
  const others = anyOf.filter(({ type }) => type !== 'null')
  return others.length === 1 && others.length < anyOf.length && others[0] ? others[0] : schema
}
