import { isObject } from '../api/types.ts'
import { textOf } from './table-file.ts'

function objectIn (text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** A line with one member more, at its end. It stays as it is written, and what is no object stays without it. */
export function withMember (line: string, name: string, text: string): string {
  const value = objectIn(line)
  if (value === null) return line
  const separator = Object.keys(value).length === 0 ? '' : ','
  return `${line.slice(0, line.lastIndexOf('}'))}${separator}${JSON.stringify(name)}:${JSON.stringify(text)}}`
}

function withoutMember (line: string, name: string): string {
  const at = line.lastIndexOf(JSON.stringify(name))
  const last = at < 0 ? null : objectIn(`{${line.slice(at)}`)
  if (last === null || Object.keys(last).length !== 1) return line
  return `${line.slice(0, at).replace(/,\s*$/, '')}}`
}

/** A file whose lines have no such member at their ends. `beginning` tells whether they have; null: they have not. */
export async function withoutMembers (file: File, beginning: string, name: string): Promise<File | null> {
  if (!beginning.includes(JSON.stringify(name))) return null
  const lines = (await textOf(file)).split('\n').map((line) => withoutMember(line, name))
  return new File([lines.join('\n')], file.name, { type: file.type })
}
