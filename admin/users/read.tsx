import { isObject, type Schema, type User } from '../api/types.ts'
import { labelOf } from '../form/kinds.ts'
import { useSpeech } from '../state/texts.ts'
import { Value } from './values.tsx'

const isSet = (value: unknown): boolean => value !== undefined && value !== null

/** Every field of a user, those without a value folded away. */
export function ReadUser ({ user, schema }: { user: User, schema: Schema }) {
  const { say } = useSpeech()
  const all = isObject(schema['properties']) ? Object.entries(schema['properties']) : []
  const empty = all.filter(([name]) => !isSet(user[name]))
  const list = (properties: typeof all) => (
    <dl>
      {properties.map(([name, inner]) => {
        const own = isObject(inner) ? inner : {}
        return (
          <div key={name}>
            <dt>{labelOf(name, own)}</dt>
            <dd><Value value={user[name]} schema={own} /></dd>
          </div>
        )
      })}
    </dl>
  )
  return (
    <>
      {list(all.filter(([name]) => isSet(user[name])))}
      {empty.length > 0 && (
        <details class='unset'>
          <summary>{say('user.unset', { count: empty.length })}</summary>
          {list(empty)}
        </details>
      )}
    </>
  )
}
