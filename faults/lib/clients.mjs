// Clients that create, change, delete and read users all the time, and note everything.
import { setTimeout } from 'node:timers/promises'
import { openClient, versionOf } from './http.mjs'
import { isOk, isUnknown } from './record.mjs'

const RETRY_MS = 20
// Less than Retry-After says: some clients are impatient.
const REFUSED_PAUSE_MS = 100
const RETRIES_MAX = 500

/** What an operation notes of an answer. A version is in the entity tag, `"3"`. */
const parsed = ({ status, headers, body }) => ({
  status,
  retryAfter: headers['retry-after'] !== undefined,
  answer: body === null ? null : { ...body, version: versionOf(headers) }
})

/**
 * One client. `origins()`: where services answer at the moment; the first `readers` only read. A creation without a
 * known outcome is repeated with its key of idempotency, as clients do; `idempotent` false: without one.
 */
class Client {
  #own = []
  #made = 0
  #connections = new Map()

  constructor (number, settings) {
    Object.assign(this, { number, ...settings })
  }

  #connection (origin) {
    if (!this.#connections.has(origin)) this.#connections.set(origin, openClient(origin, this.key))
    return this.#connections.get(origin)
  }

  /** Sends one operation to one of the services, and notes it. */
  async #do (operation, method, path, options) {
    const origin = this.random.pick(this.origins())
    this.record.begin(operation)
    try {
      const answer = parsed(await this.#connection(origin).send(method, path, options))
      this.record.end(operation, { ...answer, ...(operation.kind === 'create' && { id: answer.answer?.id }) })
    } catch (error) {
      this.record.end(operation, { error: error.code ?? error.message })
    }
    if (isUnknown(operation)) await setTimeout(operation.status === null ? RETRY_MS : REFUSED_PAUSE_MS)
    return operation
  }

  async #create () {
    const email = `${this.prefix}-${this.number}-${++this.#made}@example.org`
    const key = `${this.prefix}-${this.number}-${this.#made}`
    const body = { name: `User ${this.#made} of ${this.number}`, email }
    for (let attempt = 0; attempt < RETRIES_MAX; attempt++) {
      const headers = this.idempotent ? { 'idempotency-key': key } : {}
      const operation = { kind: 'create', client: this.number, email, name: body.name, ...(this.idempotent && { key }) }
      const { id } = await this.#do(operation, 'POST', '/v1/users', { headers, body })
      if (isOk(operation)) this.#own.push({ id, version: 1 })
      if (!isUnknown(operation) || this.isAbandoned()) return
      // Whoever waits for a store still reads.
      if (attempt % 3 === 2 && this.#own.length > 0) await this.#get({ ...this.random.pick(this.#own) })
    }
  }

  /** Creates with an address that other clients want too, without a key: one of them gets it. */
  async #race () {
    const email = `${this.prefix}-race-${this.random.below(50)}@example.org`
    const operation = { kind: 'create', client: this.number, email, name: 'Racer', race: true }
    await this.#do(operation, 'POST', '/v1/users', { body: { name: 'Racer', email } })
  }

  async #patch (user) {
    const { id, version } = user
    const guarded = this.random.chance(0.8)
    const name = `${this.prefix} ${this.number} ${++this.#made}`
    const operation = { kind: 'patch', client: this.number, id, name, ...(guarded && { ifMatch: version }) }
    await this.#do(operation, 'PATCH', `/v1/users/${id}`, {
      headers: {
        'content-type': 'application/merge-patch+json', ...(guarded && { 'if-match': `"${version}"` })
      },
      body: { name }
    })
    if (operation.status === 200) user.version = operation.answer.version
    else await this.#get(user)
  }

  async #get (user) {
    const operation = await this.#do({ kind: 'get', client: this.number, id: user.id }, 'GET', `/v1/users/${user.id}`)
    if (operation.status === 200) user.version = operation.answer.version
  }

  async #delete () {
    const [{ id }] = this.#own.splice(this.random.below(this.#own.length), 1)
    await this.#do({ kind: 'delete', client: this.number, id }, 'DELETE', `/v1/users/${id}`)
  }

  #step () {
    if (this.number < this.readers) return this.#get({ ...this.random.pick(this.hot) })
    const roll = this.random.below(100)
    if (roll < 35 || this.#own.length === 0) return this.#create()
    if (roll < 40) return this.#race()
    if (roll < 55) return this.#patch(this.random.pick(this.#own))
    if (roll < 70) return this.#patch({ ...this.random.pick(this.hot) })
    if (roll < 78) return this.#delete()
    if (roll < 92) return this.#get({ ...this.random.pick(this.#own) })
    return this.#do({ kind: 'list', client: this.number }, 'GET', '/v1/users?limit=5')
  }

  async run () {
    while (!this.isOver()) await this.#step()
    for (const each of this.#connections.values()) each.close()
  }
}

/**
 * Starts clients, of which some only read. Returns a function that ends them, and resolves when the last operation has
 * ended; `abandon`: without the repetitions of creations, for a store that may never heal.
 */
export function startClients (count, { random, ...shared }) {
  let over = false
  let abandoned = false
  const all = Array.from({ length: count }, (_, number) =>
    new Client(number, { ...shared, random: random.fork(), isOver: () => over, isAbandoned: () => abandoned }).run())
  const ended = Promise.all(all)
  // Whoever ends them awaits it.
  ended.catch(() => {})
  return async ({ abandon = false } = {}) => {
    over = true
    abandoned = abandon
    await ended
  }
}
