// Mistakes of updates that cut long values.
import type { UserChanges } from '../../../lib/storage/storage.ts'
import { type Mistake, plant } from './plant.ts'
import { PlainStore } from './plain-store.ts'

/** A mistake in the values of an update. */
function cut (title: string, change: (changes: UserChanges) => UserChanges): Mistake {
  return plant(title, class extends PlainStore {
    override keepChanges (changes: UserChanges): UserChanges {
      return super.keepChanges(change(changes))
    }
  })
}

export const writesLong: Mistake[] = [
  cut('updateUser cuts a name to 255 UTF-16 units', ({ name, ...rest }) =>
    name === undefined ? rest : { ...rest, name: { ...name, value: name.value.slice(0, 255) } }),
  cut('updateUser cuts a name key to 255 UTF-16 units', ({ name, ...rest }) =>
    name === undefined ? rest : { ...rest, name: { ...name, key: name.key.slice(0, 255) } }),
  cut('updateUser cuts a name key to 200 code points', ({ name, ...rest }) =>
    name === undefined ? rest : { ...rest, name: { ...name, key: [...name.key].slice(0, 200).join('') } }),
  cut('updateUser cuts an e-mail address to 200 characters', ({ email, ...rest }) =>
    email === undefined ? rest : { ...rest, email: { ...email, value: email.value.slice(0, 200) } }),
  cut('updateUser cuts an e-mail key to 200 characters', ({ email, ...rest }) =>
    email === undefined ? rest : { ...rest, email: { ...email, key: email.key.slice(0, 200) } })
]
