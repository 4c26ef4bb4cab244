import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adminOptionTable } from '../../../lib/admin/options.ts'
import { errorTable } from '../../../lib/core/error-table.ts'
import { apiKeyOptions, fieldOptions, limitOptions } from '../../../lib/mount/option-groups.ts'
import { optionTable } from '../../../lib/mount/options.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** The row of a documentation table for each option that a source file declares, by name. */
type Rows = ReadonlyMap<string, string>

const DECLARATION =
  /^ {2}\/\*\*\s(.*?)\s?\*\/\n {2}(\w+)(?:: (?:required|optional|defaulted|converted|kept|group|optionalGroup)|,?$)/gms

/** The text of a docstring in one line. */
function textOf (docstring: string): string {
  return docstring.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trim()).join(' ').trim()
}

function shown (value: unknown): string {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  if (value === undefined || isEmpty) return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"', '')
  return `\`${text.replaceAll(':', ': ').replaceAll(',', ', ').replace('{', '{ ').replace('}', ' }')}\``
}

interface Declared { required: boolean, read (given: undefined): unknown }
const NO_DEFAULT: Declared = { required: false, read: () => undefined }

function defaultOf (option: Declared | undefined): string {
  if (option === undefined) return 'none'
  // What is off is null inside, and false for whoever gives it.
  const value = option.read(undefined)
  return option.required ? 'required' : shown(value === null ? false : value)
}

type Declarations = Readonly<Record<string, Declared>>
type Table = readonly [declaration: string, group: string, declared: Declarations]

/** The tables of the plugin's options, each with the group of options that it is. */
const TABLES: readonly Table[] = [
  ['keyOptions', 'apiKeys.', apiKeyOptions],
  ['apiKeyOptions', 'apiKeys.', apiKeyOptions],
  ['limitOptions', 'limits.', limitOptions],
  ['fieldOptions', 'fields.', fieldOptions],
  ['optionTable', '', optionTable]
]

/** The rows of tables, from the docstrings and defaults in these files of lib. */
async function rowsOf (tables: readonly Table[], files: readonly string[]): Promise<Rows> {
  const sources = files.map((name) => readFile(join(ROOT, 'lib', name), 'utf8'))
  const source = (await Promise.all(sources)).join('\n')
  const rows = new Map<string, string>()
  for (const [declaration, group, declared] of tables) {
    const [, text = ''] = source.split(`export const ${declaration} = {\n`)
    for (const [, docstring = '', name = ''] of (text.split(/^}/m)[0] ?? '').matchAll(DECLARATION)) {
      const isGroup = 'members' in Object(declared[name])
      const usual = isGroup ? 'none' : defaultOf(declared[name])
      rows.set(`${group}${name}`, `| \`${group}${name}\` | ${usual} | ${textOf(docstring).replaceAll('|', '\\|')} |`)
    }
  }
  return rows
}

/** The rows of the plugin's options. */
export const optionRows = (): Promise<Rows> => rowsOf(TABLES, ['mount/option-groups.ts', 'mount/options.ts'])

// The default of the texts is all of them.
const adminDeclared: Declarations = { ...adminOptionTable, logo: NO_DEFAULT, texts: NO_DEFAULT }

/** The rows of the administration page's options. */
export const adminOptionRows = (): Promise<Rows> =>
  rowsOf([['adminOptionTable', '', adminDeclared]], ['admin/options.ts'])

export const adminOptionNames: readonly string[] = Object.keys(adminOptionTable)

/** The names of all options of the plugin. */
export const optionNames: readonly string[] = TABLES.slice(1).flatMap(([, group, declared]) =>
  Object.keys(declared).map((name) => `${group}${name}`))

/** The codes of all errors with their status, in the order of the table. */
export const errorCodes = Object.entries(errorTable).map(([code, { status }]) => ({ code, status }))

const MARKER = /^<!-- options: ([\w., ]+) -->\n\n(?:\|.*\n)*/gm
const HEAD = '| Option | Default | What it does |\n|---|---|---|\n'

/** A page whose option tables, each below its marker, are brought up to date. */
export function withOptionTables (page: string, rows: Rows): string {
  return page.replace(MARKER, (_table, names: string) => {
    const chosen = names.split(', ').map((name) => rows.get(name) ?? `| \`${name}\` | is no option | |`)
    return `<!-- options: ${names} -->\n\n${HEAD}${chosen.join('\n')}\n`
  })
}

/** The options that the markers of a page name. */
export function markedOptions (page: string): string[] {
  return [...page.matchAll(MARKER)].flatMap(([, names = '']) => names.split(', '))
}
