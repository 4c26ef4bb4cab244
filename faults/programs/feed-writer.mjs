// Creates and changes users with events until it is killed: node feed-writer.mjs <url>
import { randomInt } from 'node:crypto'
import { newId } from '../../.build/package/lib/core/ids.js'
import { repositoryOf } from '../../.build/package/lib/storage/repository.js'
import { postgres } from '../../dist/adapters/postgres.js'

const WRITERS = 32
const USERS = 500
const ANY = { ifVersion: null, unlessVersion: [] }

const storage = postgres({ connection: process.argv[2], pooler: process.argv[3] === 'pooler' })
const { users } = repositoryOf(storage)
const PLAIN = { fields: {}, status: 'active', statusReason: null, version: 1 }
const eventOf = (type) =>
  ({ id: newId('evt'), type, timestamp: new Date().toISOString(), actor: null, requestId: null })

async function create () {
  const id = newId('usr')
  const [now, email] = [new Date().toISOString(), `${id}@example.org`]
  const user = { id, name: 'Name', email, ...PLAIN, createdAt: now, updatedAt: now }
  const keys = { emailKey: email, nameKey: 'name' }
  await users.writeOne({ type: 'create', user, keys, event: eventOf('user.created') })
  return id
}

const ids = await Promise.all(Array.from({ length: USERS }, create))
process.stdout.write('ready\n')
await Promise.all(Array.from({ length: WRITERS }, async () => {
  for (let n = randomInt(2 ** 40); ; n++) {
    const name = { value: `Name ${n}`, key: `name ${n}` }
    const event = eventOf('user.updated')
    const [id, updatedAt] = [ids[randomInt(USERS)], new Date().toISOString()]
    await users.writeOne({ type: 'update', id, changes: { name }, updatedAt, guard: ANY, event })
  }
}))
