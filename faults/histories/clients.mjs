// Short histories of several clients who all want the same few users and addresses.
import { openClient, versionOf } from '../lib/http.mjs'
import { KEY } from '../lib/service.mjs'

const CLIENTS = 4
const STEPS = 5
const ADDRESSES = 2

/** Plays one history. `connections`: a client of each service, for each player. */
export async function play (connections, random, number) {
  const operations = []
  const ids = []
  const emailOf = () => `h${number}-${random.below(ADDRESSES)}@example.org`

  async function send (connection, operation, method, path, options) {
    operations.push(Object.assign(operation, { sent: performance.now(), ended: Infinity, status: null }))
    const { status, headers, body } = await connection.send(method, path, options)
    Object.assign(operation, { status, ended: performance.now(), answer: { ...body, version: versionOf(headers) } })
    return operation
  }

  const kinds = {
    async create (connection, name) {
      const email = emailOf()
      const operation = { kind: 'create', email, name }
      await send(connection, operation, 'POST', '/v1/users', { body: { name, email } })
      if (operation.status !== 201) return
      operation.id = operation.answer.id
      ids.push(operation.id)
    },
    get: (connection) => {
      const id = random.pick(ids)
      return send(connection, { kind: 'get', id }, 'GET', `/v1/users/${id}`)
    },
    async find (connection) {
      const email = emailOf()
      const operation = { kind: 'find', email }
      await send(connection, operation, 'GET', `/v1/users?email=${encodeURIComponent(email)}`)
      operation.found = operation.answer.data?.[0]?.id
    },
    patch (connection, name) {
      const id = random.pick(ids)
      const ifMatch = random.chance(0.5) ? 1 + random.below(3) : undefined
      const changes = random.chance(0.4) ? { email: emailOf() } : { name }
      return send(connection, { kind: 'patch', id, ...changes, ...(ifMatch !== undefined && { ifMatch }) }, 'PATCH',
        `/v1/users/${id}`, { headers: ifMatch === undefined ? {} : { 'if-match': `"${ifMatch}"` }, body: changes })
    },
    delete: (connection) => {
      const id = random.pick(ids)
      return send(connection, { kind: 'delete', id }, 'DELETE', `/v1/users/${id}`)
    }
  }

  await kinds.create(connections[0][0], 'first')
  await Promise.all(connections.map(async (own, client) => {
    for (let step = 0; step < STEPS; step++) {
      const kind = random.pick(['create', 'get', 'find', 'patch', 'patch', 'delete'])
      await kinds[kind](random.pick(own), `n${client}-${step}`)
    }
  }))
  return operations
}

/** The connections of each player to every service. */
export function connect (services) {
  return Array.from({ length: CLIENTS }, () => services.map(({ origin }) => openClient(origin, KEY)))
}
