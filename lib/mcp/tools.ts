import type { Scope } from '../api-keys/scopes.ts'
import type { Schema } from '../openapi/component-parts.ts'
import { componentsFor } from '../openapi/components.ts'
import { describeFields } from '../openapi/described-fields.ts'
import type { DescriptionSettings, OperationDescription } from '../openapi/operation-description.ts'
import { referencedNames, withReferences } from '../openapi/references.ts'

/** An operation of the mount, as far as a tool needs it. */
export interface ToolRow extends OperationDescription {
  path: string
  scope: Scope | null
  streamsBody?: boolean
  platformOnly?: boolean
}

/** An operation that a model can call. */
export interface Tool {
  row: ToolRow
  /** True if it needs a preview: it takes something away, or writes many in one step. */
  isPreviewed: boolean
  /** What `tools/list` says of it. */
  definition: { name: string, title: string, description: string, inputSchema: Schema, annotations: object }
}

/** What a tool can be of. Keys, webhooks and tenants are for people to change. */
const READ = ['users', 'groups', 'events', 'tenants', 'api-keys', 'webhooks', 'capabilities']
const WRITTEN = ['users', 'groups']
/** Whole files and documents, what another tool does, and what can't be taken back. */
const LEFT_OUT = ['exportUsers', 'getSubject', 'replaceUser', 'changeGroupMembers', 'deleteGroup']
/** They make a deletion one that can't be taken back. */
const FINAL_PARAMETERS = ['erase', 'purge']
const PREVIEWED = ['deleteUser', 'writeUsers']

const PREVIEW: Readonly<Record<string, Schema>> = {
  dryRun: { type: 'boolean', description: 'True changes nothing: it says what would be changed, and gives a preview.' },
  preview: { type: 'string', description: 'The preview of a dry run with the same arguments, to do what it showed.' }
}
const PREVIEW_WORDS = ' All or nothing is done. First call it with dryRun: true, show the person what would be ' +
  'changed, then repeat the call with the preview. It is done only if nothing has changed meanwhile.'
/** Sentences about headers, which a tool does not send. */
const NOT_FOR_TOOLS = / ?(?:HEAD works too|An `Idempotency-Key`[^.]*)\./g
const VERSION = {
  type: 'integer', minimum: 1, description: 'Only if it still has this version, which you have read.'
}

/** True if a model may be given the operation at all. `hasTrash`: deleted users can be restored. */
function isOffered ({ operationId, method, tag, streamsBody }: ToolRow, writes: boolean, hasTrash: boolean): boolean {
  if (LEFT_OUT.includes(operationId) || streamsBody === true) return false
  if (method === 'GET') return READ.includes(tag)
  return writes && WRITTEN.includes(tag) && (hasTrash || operationId !== 'deleteUser')
}

/** The deletions of a batch that can be taken back: without a trash none. */
function restrained (deletion: Schema, hasTrash: boolean): Schema {
  if (!hasTrash) return { not: {} }
  const { properties, ...rest } = Object(deletion)
  return { ...rest, properties: { ...properties, op: { type: 'string', enum: ['delete', 'restore'] } } }
}

/** A schema that holds what it refers to. */
function whole (schema: Schema, components: Readonly<Record<string, Schema>>): Schema {
  const used = [...referencedNames(schema, components)].map((name) => [name, components[name]])
  const all = used.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(used) }
  return Object(withReferences(all, (name) => `#/$defs/${name}`))
}

/** Makes the tools of a mount, in the order of its operations. */
export function toolsOf (rows: readonly ToolRow[], settings: DescriptionSettings, writes: boolean): Tool[] {
  const { fields, tenants, trash } = settings
  const all = componentsFor(settings, describeFields(fields))
  const components = { ...all, BatchDeletion: restrained(all['BatchDeletion'] ?? {}, trash) }
  return rows.filter((row) => isOffered(row, writes, trash)).map((row) => {
    const { operationId, method, path, id, pathParameters, query, body, reads = [], summary, description = '' } = row
    const isPreviewed = PREVIEWED.includes(operationId)
    const isRead = method === 'GET'
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
    const asked = Object.entries({ ...query }).filter(([name]) => !FINAL_PARAMETERS.includes(name))
    const properties: Record<string, Schema> = {
      ...Object.fromEntries(inPath.map((name) => [name, { ...pathParameters, id }[name] ?? { type: 'string' }])),
      ...Object.fromEntries(asked.map(([name, { schema }]) => [name, schema])),
      ...body !== undefined && { body: 'is' in body ? { $ref: body.is } : body.schema },
      ...!isRead && !isPreviewed && reads.includes('If-Match') && { ifVersion: VERSION },
      ...isPreviewed && PREVIEW,
      ...tenants && { tenant: { type: 'string', description: 'The tenant that it is about.' } }
    }
    const required = [...inPath, ...body === undefined ? [] : ['body']]
    const inputSchema = { type: 'object', properties, required, additionalProperties: false }
    return {
      row,
      isPreviewed,
      definition: {
        name: operationId,
        title: summary,
        description: `${summary}. ${description.replaceAll(NOT_FOR_TOOLS, '')}`.trim() +
          (isPreviewed ? PREVIEW_WORDS : ''),
        inputSchema: whole(inputSchema, components),
        annotations: {
          readOnlyHint: isRead, destructiveHint: isPreviewed, idempotentHint: isRead, openWorldHint: false
        }
      }
    }
  })
}

/** Whether a caller can use a tool. Operations of a batch need scopes of their own. */
export function mayUse (
  { row, isPreviewed }: Tool, { scopes, tenant }: { scopes: readonly string[], tenant?: string | undefined }
): boolean {
  if (row.platformOnly === true && tenant !== undefined) return false
  if (isPreviewed && !scopes.includes(`${row.tag}:read`)) return false
  if (row.operationId === 'writeUsers') return scopes.includes('users:write') || scopes.includes('users:delete')
  return row.scope === null || scopes.includes(row.scope)
}
