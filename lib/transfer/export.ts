import type { ReadCall } from '../core/context.ts'
import type { Fault } from '../core/fault.ts'
import { choiceParameter, type Parameter, parameterFaults, type Parameters } from '../core/parameters.ts'
import type { UserReads, UserRecord } from '../storage/storage.ts'
import { USER_MEMBER_NAMES } from '../storage/user-members.ts'
import type { FieldsSchema } from '../fields/fields-schema.ts'
import { userSelectionParameters } from '../users/list-query.ts'
import type { Presenter } from '../users/presenter.ts'
import type { UsersService } from '../users/service.ts'
import { type Column, memberNames, tableColumns } from './columns.ts'
import { csvHeader, csvLine } from './csv.ts'
import { selection } from './selection.ts'

export const EXPORT_FORMATS = ['ndjson', 'csv'] as const
export type ExportFormat = (typeof EXPORT_FORMATS)[number]

// Large enough that a chunk costs little, and small enough that a slow reader takes one soon.
const CHUNK_LENGTH = 64 * 1024

/** What an export needs: the users, how they are shown, and which members there are. */
export interface ExportParts {
  users: Pick<UsersService, 'snapshot'>
  presenter: Pick<Presenter, 'user' | 'userJson'>
  fields: FieldsSchema
  /** True if users have a tenant. */
  ofTenants: boolean
}

/** An export whose query was checked. */
export interface Export {
  format: ExportFormat
  /** Begins to read. Chunks of text in UTF-16, each of some 64 KiB. */
  texts (reads?: UserReads): AsyncGenerator<string, void, undefined>
}

const columnsParameter: Parameter = {
  schema: {
    type: 'string',
    minLength: 1,
    description: 'The columns, in this order, separated by commas: ' +
      `${USER_MEMBER_NAMES.map((name) => `\`${name}\``).join(', ')}, and own fields. In CSV, a member of an object ` +
      'has its own column, such as `address.city`.'
  },
  problem: (value) => typeof value === 'string' ? null : { code: 'type', detail: 'must be a string' }
}
const own: Parameters = {
  format: choiceParameter(EXPORT_FORMATS, 'Lines of JSON, or a CSV table.'),
  columns: columnsParameter
}

/** Declares the parameters of an export. `ofTenants`: users have a tenant. `hasGroups`: they can be in groups. */
export function exportParameters (fields: FieldsSchema, ofTenants: boolean, hasGroups: boolean): Parameters {
  const { parameter: select } = selection(memberNames(fields, ofTenants))
  return { ...own, ...userSelectionParameters(fields.filters, hasGroups), select }
}

function columnFaults (names: readonly string[], isKnown: (name: string) => boolean): Fault[] {
  const faults: Fault[] = []
  if (!names.every(isKnown)) {
    faults.push({ parameter: 'columns', code: 'choice', detail: 'must be names of columns, separated by commas' })
  }
  if (new Set(names).size < names.length) {
    faults.push({ parameter: 'columns', code: 'duplicate', detail: 'must not name a column twice' })
  }
  return faults
}

/** Texts as chunks, behind what the first one begins with. */
function * chunksOf (texts: Iterable<string>, head: string): Generator<string> {
  let chunk = head
  for (const text of texts) {
    chunk += text
    if (chunk.length < CHUNK_LENGTH) continue
    yield chunk
    chunk = ''
  }
  if (chunk !== '') yield chunk
}

/** How an export is written: what it begins with, and each part. */
interface Format { head: string, textsOf (users: UserRecord[]): Iterable<string> }

function csvFormat ({ presenter: { user } }: ExportParts, columns: readonly Column[]): Format {
  return {
    head: csvHeader(columns),
    * textsOf (users) {
      for (const each of users) yield csvLine(user(each), columns)
    }
  }
}

function ndjsonFormat ({ presenter: { user, userJson } }: ExportParts, names: readonly string[] | null): Format {
  const chosen = names ?? []
  const picked = (record: UserRecord): string => {
    const members: object = user(record)
    return JSON.stringify(Object.fromEntries(chosen.flatMap((name) =>
      Object.hasOwn(members, name) ? [[name, Reflect.get(members, name)]] : [])))
  }
  const lineOf = names === null ? userJson : picked
  return {
    head: '',
    * textsOf (users) {
      for (const each of users) yield `${lineOf(each)}\n`
    }
  }
}

/** Makes the function that opens an export. It throws UsersError alone, `validation_failed` before anything is read. */
export function createExports (parts: ExportParts) {
  const { users, fields, ofTenants } = parts
  const table = tableColumns(fields, ofTenants)
  const members = memberNames(fields, ofTenants)
  const select = selection(members)

  function csvOf (names: readonly string[] | null, faults: Fault[]): Format {
    faults.push(...columnFaults(names ?? [], (name) => table.some((column) => column.name === name)))
    const chosen = names === null
      ? table
      : names.flatMap((name) => table.find((column) => column.name === name) ?? [])
    return csvFormat(parts, chosen)
  }

  function ndjsonOf (names: readonly string[] | null, faults: Fault[]): Format {
    faults.push(...columnFaults(names ?? [], (name) => members.includes(name)))
    return ndjsonFormat(parts, names)
  }

  return (query: Readonly<Record<string, unknown>>, { priorFaults = [], tenant }: ReadCall = {}): Export => {
    const { format, columns, select: _, ...which } = query
    const given = { ...(format !== undefined && { format }), ...(columns !== undefined && { columns }) }
    const faults = [...priorFaults, ...parameterFaults(own, given)]
    const { names: picked } = select.of({ query, faults })
    const isCsv = format === 'csv'
    if (picked !== null && (isCsv || columns !== undefined)) {
      const detail = isCsv ? 'is only for JSON lines: for a table, use columns' : 'cannot be used together with columns'
      faults.push({ parameter: 'select', code: 'exclusive', detail })
    }
    const names = typeof columns === 'string' ? columns.split(',') : picked
    const written = isCsv ? csvOf(names, faults) : ndjsonOf(names, faults)
    const read = users.snapshot(which, { priorFaults: faults, tenant })
    return {
      format: isCsv ? 'csv' : 'ndjson',
      async * texts (reads) {
        let { head } = written
        for await (const part of read(reads)) {
          // Not before it is known that users can be read.
          yield * chunksOf(written.textsOf(part), head)
          head = ''
        }
        if (head !== '') yield head
      }
    }
  }
}

export type OpenExport = ReturnType<typeof createExports>
