// The same people for every server, each made from a number.
import { firstIdAt } from '../../.build/package/lib/core/ids.js'
import { repositoryOf } from '../../.build/package/lib/storage/repository.js'

const FIRST = ('Ada Alan Barbara Claude Donald Edsger Frances Grace Hedy Ivan ' +
  'Joan Karen Leslie Margaret Niklaus Ole Peter Radia Shafi Tony').split(' ')
const LAST = ('Abbott Baker Castro Dahl Engel Fischer Garcia Hansen Ito Jensen ' +
  'Klein Lopez Meyer Novak Olsen Petrov Quinn Rossi Sato Tanaka').split(' ')
const EPOCH = Date.UTC(2026, 0, 1)

/** The columns of a person in every server's table. */
export const COLUMNS = ['id', 'name', 'name_key', 'email', 'email_key', 'version', 'created_at', 'updated_at']

/** Those of our table, which keeps words too. */
export const OUR_COLUMNS = [...COLUMNS, 'name_words', 'email_words']

/** The id of the nth person, made when the person was. */
export const idOf = (n) => firstIdAt('usr', EPOCH + n)

/** The nth person as a row of every server's table. */
export function personOf (n) {
  const name = `${FIRST[n % FIRST.length]} ${LAST[Math.floor(n / FIRST.length) % LAST.length]} ${n}`
  const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`
  const at = new Date(EPOCH + n).toISOString()
  return {
    id: idOf(n),
    name,
    name_key: name.toLowerCase(),
    email,
    email_key: email,
    name_words: name.toLowerCase(),
    email_words: email.replaceAll(/[.@]/g, ' '),
    version: 1,
    created_at: at,
    updated_at: at
  }
}

/** People 0 to `size - 1`, in arrays of at most `length`, each with the members of `more`. */
export function * batches (size, length, more = {}) {
  for (let from = 0; from < size; from += length) {
    yield Array.from({ length: Math.min(length, size - from) }, (_, i) => ({ ...personOf(from + i), ...more }))
  }
}

/** Creates people 0 to `size - 1` by a storage, one after the other. */
export async function createPeople (storage, size) {
  for (let n = 0; n < size; n++) {
    const person = personOf(n)
    const { id, name, name_key: nameKey, email, email_key: emailKey, version, created_at: createdAt } = person
    const [nameWords, emailWords] = [person.name_words.split(' '), person.email_words.split(' ')]
    const members = { fields: {}, status: 'active', statusReason: null, version }
    const user = { id, name, email, ...members, createdAt, updatedAt: createdAt }
    const write = { type: 'create', user, keys: { nameKey, emailKey, nameWords, emailWords }, event: null }
    await repositoryOf(storage).users.writeOne(write)
  }
}
