import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorTable } from '../../../lib/core/error-table.ts'
import { optionTable } from '../../../lib/mount/options.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** The row of a documentation table for each option that a source file declares, by name. */
type Rows = ReadonlyMap<string, string>

const DECLARATION = /^ {2}\/\*\*\s(.*?)\s?\*\/\n {2}(\w+)(?:: (?:required|optional|defaulted|converted)|,?$)/gms

/** The text of a docstring in one line. */
function textOf (docstring: string): string {
  return docstring.split('\n').map((line) => line.replace(/^\s*\* ?/, '').trim()).join(' ').trim()
}

function shown (value: unknown): string {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none'
  const text = typeof value === 'string' ? value : JSON.stringify(value).replaceAll('"', '')
  return `\`${text.replaceAll(':', ': ').replaceAll(',', ', ').replace('{', '{ ').replace('}', ' }')}\``
}

interface Declared { required: boolean, read (given: undefined): unknown }

function defaultOf (name: string, declared: Readonly<Record<string, Declared>>): string {
  const option = declared[name]
  if (option === undefined) return 'none'
  // What is off is null inside, and false for whoever gives it.
  const value = option.read(undefined)
  return option.required ? 'required' : shown(value === null ? false : value)
}

/** The rows of the plugin's options, from the docstrings and defaults of `lib/mount/options.ts`. */
export async function optionRows (): Promise<Rows> {
  const source = await readFile(join(ROOT, 'lib', 'mount', 'options.ts'), 'utf8')
  const rows = new Map<string, string>()
  for (const [, docstring = '', name = ''] of source.matchAll(DECLARATION)) {
    const text = textOf(docstring).replaceAll('|', '\\|')
    rows.set(name, `| \`${name}\` | ${defaultOf(name, optionTable)} | ${text} |`)
  }
  return rows
}

/** The names of all options of the plugin. */
export const optionNames: readonly string[] = Object.keys(optionTable)

/** The codes of all errors with their status, in the order of the table. */
export const errorCodes = Object.entries(errorTable).map(([code, { status }]) => ({ code, status }))

const MARKER = /^<!-- options: ([\w, ]+) -->\n\n(?:\|.*\n)*/gm
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
