import type { Capabilities, Json, LoggedEvent, Schema } from '../api/types.ts'
import { isObject } from '../api/types.ts'
import { kindOf, labelOf } from '../form/kinds.ts'
import { isSame } from '../form/merge-patch.ts'
import { useSession } from '../state/session.ts'
import { type Speech, useSpeech } from '../state/texts.ts'
import { userSchema } from '../users/schema.ts'

interface Changed { path: readonly string[], before: Json | undefined, after: Json | undefined }

/** The members of an object; those of none, where there was nothing before, or is nothing after. */
const membersOf = (value: Json | undefined) => value == null ? {} : isObject(value) ? value : undefined

/** What an update has changed, member by member, into objects too: also where one is set, or removed, as a whole. */
function changesOf (before: Json | undefined, after: Json | undefined, path: readonly string[]): Changed[] {
  const [old, now] = [membersOf(before), membersOf(after)]
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])]
  if (old === undefined || now === undefined || names.length === 0) {
    return isSame(before, after) ? [] : [{ path, before, after }]
  }
  return names.flatMap((name) => changesOf(old[name], now[name], [...path, name]))
}

/** The schema of a member, as deep as it is known. */
export function schemaAt (schema: Schema, path: readonly string[]): { schema: Schema, labels: string[] } {
  const [name, ...rest] = path
  if (name === undefined) return { schema, labels: [] }
  const kind = kindOf(schema)
  // An object that may have further members is edited as JSON, but has names for those that the schema knows.
  const properties = kind.is === 'object' ? kind.properties : schema['properties']
  const known = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  const inner = isObject(known) ? known : {}
  const { schema: last, labels } = schemaAt(inner, rest)
  return { schema: last, labels: [labelOf(name, inner), ...labels] }
}

const CHANGES = ['user.updated', 'user.suspended', 'user.activated']

/** True if an event is a change of a user who stays. */
export function isChange ({ type, before }: LoggedEvent): boolean {
  return before !== undefined && CHANGES.includes(type)
}

/** The schema of all that an event can change of a user. */
function changedSchema (capabilities: Capabilities, speech: Speech): Schema {
  const user = userSchema(capabilities, speech)
  return {
    ...user,
    properties: {
      status: { type: 'string', title: speech.say('users.status') },
      statusReason: { type: 'string', title: speech.say('user.reason') },
      ...Object(user['properties'])
    }
  }
}

/** What an event has changed, by the names that people know. */
export function changedLabels ({ before = {} }: LoggedEvent, capabilities: Capabilities, speech: Speech): string {
  const schema = changedSchema(capabilities, speech)
  return Object.keys(before).map((name) => schemaAt(schema, [name]).labels.join()).join(', ')
}

/** The changes of an event in words. Values of an erased user are not there any more. */
export function Changes ({ event }: { event: LoggedEvent }) {
  const speech = useSpeech()
  const { say, time } = speech
  const { capabilities } = useSession()
  const schema = changedSchema(capabilities, speech)
  const { data, before } = event
  if (before === undefined) return null
  if (data['name'] === null) {
    return <span class='muted'>{changedLabels(event, capabilities, speech)}: {say('events.erased')}</span>
  }
  if (!isChange(event)) return null
  const text = (value: Json | undefined, own: Schema, path: readonly string[]): string => {
    if (value === undefined || value === null) return say('page.notSet')
    if (path[0] === 'status') return say(value === 'suspended' ? 'users.suspended' : 'users.active')
    if (typeof value === 'boolean') return say(value ? 'page.yes' : 'page.no')
    if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(', ')
    if (typeof value !== 'string') return JSON.stringify(value)
    return kindOf(own).is === 'moment' ? time(value) : value
  }
  const changes = Object.keys(before).flatMap((name) => changesOf(before[name] ?? undefined, data[name], [name]))
  return (
    <ul class='changes'>
      {changes.map(({ path, before, after }) => {
        const { schema: own, labels } = schemaAt(schema, path)
        return (
          <li key={path.join('/')}>
            {labels.join(' › ')}:{' '}
            <bdi class={before == null ? 'muted' : 'before'}>{text(before, own, path)}</bdi> →{' '}
            <bdi {...(after == null && { class: 'muted' })}>{text(after, own, path)}</bdi>
          </li>
        )
      })}
    </ul>
  )
}
