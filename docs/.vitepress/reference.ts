// The pages of the HTTP API's reference, made of openapi.json.

interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  default?: unknown
  description?: string
}
type Content = Record<string, { schema?: Schema }>
interface Parameter { name: string, in: string, required?: boolean, description?: string, schema: Schema }
interface Operation {
  operationId: string
  summary: string
  description?: string
  tags: string[]
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, { description: string, content?: Content }>
}
export interface Description {
  tags: Array<{ name: string, description: string }>
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}
interface ReferencePage { params: { page: string }, content: string }

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Text that neither Markdown nor Vue nor a table takes for its own signs. */
const code = (text: string): string =>
  `<code>${text.replace(/[^\w\s./:,-]|_/gu, (sign) => `&#${sign.codePointAt(0)};`)}</code>`
/** A description: its words, with what stands in backquotes as code. */
const plain = (text = ''): string => text.replaceAll('\n', ' ').split('`').map((part, i) => i % 2 === 1
  ? code(part)
  : part.replace(/[<{|*_]/g, (sign) => `&#${sign.codePointAt(0)};`)).join('')
const nameOf = (ref: string): string => ref.split('.').at(-1) ?? ref
const idOf = (name: string): string => name.toLowerCase()
const objectLink = (ref: string): string => `[${nameOf(ref)}](/reference/objects#${idOf(nameOf(ref))})`

/** What a value is, in a few words. */
function typeOf (schema: Schema): string {
  const { $ref, type, format, items, enum: values } = schema
  if ($ref !== undefined) return objectLink($ref)
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  const joint = schema.allOf === undefined ? ' or ' : ' and '
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(joint)
  if (values !== undefined) return values.map((value) => code(JSON.stringify(value))).join(', ')
  if (items !== undefined) return `list of ${typeOf(items)}`
  return [type ?? 'any'].flat().join(' or ') + (format === undefined ? '' : ` (${format})`)
}

const tableOf = (heads: string[], rows: string[][]): string =>
  [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

function contentOf (content: Content = {}): string {
  return Object.entries(content)
    .map(([type, { schema }]) => `${code(type)}: ${schema === undefined ? '' : typeOf(schema)}`).join('<br>')
}

function operationText (path: string, method: string, operation: Operation): string {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation
  const parts = [
    `## ${summary} {#${operationId}}`, `\`\`\`http\n${method.toUpperCase()} ${path}\n\`\`\``, plain(description)
  ]
  if (parameters.length > 0) {
    parts.push(tableOf(['Parameter', 'In', 'Type', 'Description'], parameters.map((each) => {
      const { name, required = false, description } = each
      return [code(name), each.in, typeOf(each.schema), (required ? 'Required. ' : '') + plain(description)]
    })))
  }
  if (requestBody !== undefined) parts.push(`**Body.** ${contentOf(requestBody.content)}`)
  parts.push(tableOf(['Status', 'Answer', 'Body'], Object.entries(responses).map(([status, answer]) =>
    [status, plain(answer.description), contentOf(answer.content)])))
  return parts.join('\n\n')
}

function objectText (name: string, schema: Schema): string {
  const { properties = {}, required = [], description = '' } = schema
  const heading = `## ${nameOf(name)} {#${idOf(nameOf(name))}}\n\n${plain(description)}`
  const members = Object.entries(properties)
  if (members.length === 0) return `${heading}\n\n${typeOf(schema)}`
  return `${heading}\n\n${tableOf(['Member', 'Type', 'Description'], members.map(([member, each]) => [
    code(member), typeOf(each), (required.includes(member) ? '' : 'May be absent. ') + plain(each.description)
  ]))}`
}

const titleOf = (tag: string): string =>
  tag === 'api-keys' ? 'API keys' : tag.charAt(0).toUpperCase() + tag.slice(1)

/** The tags of a description, with the titles of their pages. */
export function referenceTitles ({ tags }: Pick<Description, 'tags'>): Array<{ page: string, title: string }> {
  return [...tags.map(({ name }) => ({ page: name, title: titleOf(name) })), { page: 'objects', title: 'Objects' }]
}

/** A page for the operations of each tag, and one for the objects that they take and give. */
export function referencePages ({ tags, paths, components }: Description): ReferencePage[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) => METHODS.flatMap((method) => {
    const operation = methods[method]
    return operation === undefined ? [] : [{ path, method, operation }]
  }))
  const pages = tags.map(({ name, description }) => {
    const own = operations.filter(({ operation }) => operation.tags.includes(name))
    const texts = own.map(({ path, method, operation }) => operationText(path, method, operation))
    const content = [`# ${titleOf(name)}`, plain(description), ...texts].join('\n\n')
    return { params: { page: name }, content }
  })
  const objects = Object.entries(components.schemas).map(([name, schema]) => objectText(name, schema))
  return [...pages, { params: { page: 'objects' }, content: ['# Objects', ...objects].join('\n\n') }]
}
