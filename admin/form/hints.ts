import type { Schema } from '../api/types.ts'
import type { Speech } from '../state/texts.ts'
import type { SingleKind } from './kinds.ts'

/** The schema of a value that may also be null, or the one schema itself. */
function valueSchema (schema: Schema): Schema {
  const { anyOf, oneOf } = schema
  const alternatives = [anyOf, oneOf].find(Array.isArray)?.filter((each) => Object(each).type !== 'null') ?? []
  return alternatives.length === 1 ? Object(alternatives[0]) : schema
}

/** What form a value is to have, before it is typed. Empty: any. */
export function hintOf (kind: SingleKind, schema: Schema, { say, number }: Speech): string {
  const { type, format, minimum, maximum } = valueSchema(schema)
  if (kind.is === 'lines') return say('user.oneForLine')
  if (kind.is === 'json') return say('user.json')
  if (kind.is === 'text') {
    return format === 'email' ? say('form.email') : format === 'uri' ? say('form.url') : ''
  }
  if (kind.is !== 'number') return ''
  const what = [type].flat().includes('integer') ? 'whole' : 'number'
  const min = typeof minimum === 'number' ? number(minimum) : null
  const max = typeof maximum === 'number' ? number(maximum) : null
  if (min !== null && max !== null) return say(`form.${what}.between`, { min, max })
  if (min !== null) return say(`form.${what}.from`, { min })
  return max === null ? say(`form.${what}`) : say(`form.${what}.to`, { max })
}
