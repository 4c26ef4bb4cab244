import { ClientError } from '../../client/error.ts'
import type { Fault } from '../api/types.ts'
import { schemaAt } from '../events/changes.tsx'
import { labelOf } from '../form/kinds.ts'
import { useSession } from '../state/session.ts'
import { useSpeech } from '../state/texts.ts'
import { userSchema } from '../users/schema.ts'

interface FaultWords {
  /** What people call the members of a user. */
  labels: Readonly<Record<string, string>>
  /** What is wrong with a line or with the header. */
  words: (error: unknown) => string
}

/** Calls members by their titles. */
export function useFaultWords (): FaultWords {
  const speech = useSpeech()
  const { say, sayError, sayFault } = speech
  const { capabilities } = useSession()
  const schema = userSchema(capabilities, speech)
  const members = Object.entries(Object(schema['properties']))
  const sayOne = (fault: Fault): string => {
    const path = fault.pointer?.split('/').slice(1) ?? []
    const member = path.length === 0 ? [] : [schemaAt(schema, path).labels.join(' › ')]
    return [...member, sayFault({ pointer: '', ...fault })].join(': ')
  }
  return {
    labels: {
      ...Object.fromEntries(members.map(([name, schema]) => [name, labelOf(name, Object(schema))])),
      ...capabilities.offers.groups && { groups: say('groups.title') }
    },
    words (error) {
      if (!(error instanceof ClientError)) return sayError(error)
      if (error.code === 'malformed_json') return say('import.notJson')
      return error.errors.length > 0 ? error.errors.map(sayOne).join(' ') : sayError(error)
    }
  }
}
