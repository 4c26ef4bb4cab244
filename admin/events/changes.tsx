import type { Json, LoggedEvent } from '../api/types.ts'
import { isObject } from '../api/types.ts'
import { useSpeech } from '../state/texts.ts'

const isSame = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b)

/** What an update has changed, member by member, into objects too. */
export function changesOf (
  before: Json | undefined,
  after: Json | undefined,
  path = ''
): Array<{ field: string, before: Json | undefined, after: Json | undefined }> {
  if (!isObject(before) || !isObject(after)) return isSame(before, after) ? [] : [{ field: path, before, after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => changesOf(before[name], after[name], path === '' ? name : `${path}.${name}`))
}

const CHANGES = ['user.updated', 'user.suspended', 'user.activated']

/** True if an event is a change of a user who stays. */
export function isChange ({ type, before }: LoggedEvent): boolean {
  return before !== undefined && CHANGES.includes(type)
}

/** The changes of an event in words. Values of an erased user are not there any more. */
export function Changes ({ event }: { event: LoggedEvent }) {
  const { say } = useSpeech()
  const { data, before } = event
  if (before === undefined) return null
  if (data['name'] === null) return <span class='muted'>{Object.keys(before).join(', ')}: {say('events.erased')}</span>
  if (!isChange(event)) return null
  const text = (value: Json | undefined): string => {
    if (value === undefined || value === null) return say('page.notSet')
    return typeof value === 'string' ? value : JSON.stringify(value)
  }
  const changes = Object.keys(before).flatMap((name) => changesOf(before[name] ?? undefined, data[name], name))
  return (
    <ul class='changes'>
      {changes.map(({ field, before, after }) => (
        <li key={field}>
          {field}: <bdi>{text(before)}</bdi> → <bdi>{text(after)}</bdi>
        </li>
      ))}
    </ul>
  )
}
