import type { Json, Schema } from '../api/types.ts'
import { isObject } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { Time } from '../parts/feedback.tsx'
import { useSpeech } from '../state/texts.ts'

/** Stands where there is no value. */
export function NotSet () {
  const { say } = useSpeech()
  return (
    <span class='muted'>
      <span aria-hidden='true'>—</span><span class='visually-hidden'>{say('page.notSet')}</span>
    </span>
  )
}

/** A value of a user for people; names may run from right to left. */
export function Value ({ value, schema = {} }: { value: Json | undefined, schema?: Schema }) {
  const { say, day } = useSpeech()
  if (value === undefined || value === null) return <NotSet />
  if (typeof value === 'boolean') return <>{say(value ? 'page.yes' : 'page.no')}</>
  if (typeof value === 'string') {
    if (schema['format'] === 'date-time') return <Time moment={value} />
    if (schema['format'] === 'date') return <time dateTime={value}>{day(`${value}T00:00`)}</time>
    return <bdi>{value}</bdi>
  }
  if (typeof value === 'number') return <>{String(value)}</>
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return <bdi>{value.join(', ')}</bdi>
  const kind = kindOf(schema)
  if (kind.is !== 'object' || !isObject(value)) return <code>{JSON.stringify(value)}</code>
  return (
    <>
      {Object.entries(kind.properties).filter(([name]) => value[name] !== undefined).map(([name, inner]) => (
        <div key={name}>
          <span class='muted'>{labelOf(name, inner)}:</span> <Value value={value[name]} schema={inner} />
        </div>
      ))}
    </>
  )
}
