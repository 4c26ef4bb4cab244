import { createHash } from 'node:crypto'
import { belongsTo } from './storage-rules.ts'
import type {
  ApiKeyWrite, EventLog, EventRecord, Idempotency, KeyUseStore, Standbys, Storage, StorageInTransaction, Trash,
  UserReads, UserWrite, WebhookRecord, WebhookStore
} from './storage.ts'

/** What a bound store gives of a record: null if it belongs to another tenant, as if it were not there. */
async function own<Found extends { tenant?: string }> (
  found: Promise<Found | null>,
  tenant: string
): Promise<Found | null> {
  const record = await found
  return record !== null && belongsTo(record, tenant) ? record : null
}

function boundWrite (write: UserWrite, tenant: string): UserWrite {
  if (write.type !== 'create') return { ...write, tenant }
  // By a spread this takes ten times as long on Node.js 20.
  return { ...write, user: Object.assign({}, write.user, { tenant }) }
}

/** Keys of two tenants never meet, whoever sends them. */
function boundIdempotency (idempotency: Idempotency | null, tenant: string): Idempotency | null {
  if (idempotency === null) return null
  const key = createHash('sha256').update(`${tenant}/${idempotency.key}`).digest('base64url')
  return { ...idempotency, key }
}

function boundEventLog (log: EventLog, tenant: string): EventLog {
  return {
    read: (request) => log.read({ ...request, tenant }),
    find: (id) => own(log.find(id), tenant),
    history: (subject, page) => log.history(subject, { ...page, tenant }),
    erase: (userId) => log.erase(userId, tenant),
    prune: (before, limit) => log.prune(before, limit),
    // Those of others would tell when others had events.
    pruned: async () => []
  }
}

function boundStandbys (standbys: Standbys, tenant: string): Standbys {
  return {
    ...standbys,
    async reads (position) {
      const reads = await standbys.reads(position)
      return reads && { ...boundReads(reads, tenant), seen: () => reads.seen() }
    }
  }
}

function boundReads (reads: UserReads, tenant: string): UserReads {
  return {
    findUser: (id, atLeast) => own(reads.findUser(id, atLeast), tenant),
    listUsers: (filter, page) => reads.listUsers({ ...filter, tenant }, page),
    readUsers: (filter, order, onPart, sort) => reads.readUsers({ ...filter, tenant }, order, onPart, sort)
  }
}

function boundTrash (trash: Trash, tenant: string): Trash {
  return {
    async find (id) {
      const found = await trash.find(id)
      return found !== null && belongsTo(found.user, tenant) ? found : null
    },
    list: (request) => trash.list({ ...request, tenant }),
    // Only the mount itself asks for what has expired.
    expired: async () => []
  }
}

function boundWebhooks (webhooks: WebhookStore, tenant: string): WebhookStore {
  const find = (id: string): Promise<WebhookRecord | null> => own(webhooks.find(id), tenant)
  const isOwn = async (id: string): Promise<boolean> => await find(id) !== null
  const bound = (webhook: WebhookRecord): WebhookRecord => ({ ...webhook, tenant })
  const boundEvent = (event: EventRecord): EventRecord => ({ ...event, tenant })
  return {
    insert: (webhook) => webhooks.insert(bound(webhook)),
    find,
    list: (page) => webhooks.list({ ...page, tenant }),
    async change (id, delivery, decide) {
      if (!await isOwn(id)) return null
      return webhooks.change(id, delivery, (...before) => {
        const made = decide(...before)
        if (made === null) return null
        const { webhook, event, ...rest } = made
        return {
          ...rest,
          ...(webhook !== undefined && { webhook: bound(webhook) }),
          ...(event !== undefined && { event: boundEvent(event) })
        }
      })
    },
    remove: async (id) => await isOwn(id) && webhooks.remove(id),
    async findDelivery (id) {
      const delivery = await webhooks.findDelivery(id)
      return delivery !== null && await isOwn(delivery.webhook) ? delivery : null
    },
    listDeliveries: async (id, page) => await isOwn(id)
      ? webhooks.listDeliveries(id, page)
      : { items: [], total: 0 },
    async deliveriesOf (events) {
      const found = await webhooks.deliveriesOf(events)
      const owners = new Map(await Promise.all([...new Set(found.map(({ webhook }) => webhook))]
        .map(async (id) => [id, await isOwn(id)] as const)))
      return found.filter(({ webhook }) => owners.get(webhook) === true)
    },
    due: (now) => webhooks.due(now),
    claim: async (id, request) => await isOwn(id) ? webhooks.claim(id, request) : [],
    eventBefore: (id) => webhooks.eventBefore(id, tenant),
    prune: (before, limit) => webhooks.prune(before, limit)
  }
}

function boundKeyUses (keyUses: KeyUseStore, findApiKey: Storage['findApiKey']): KeyUseStore {
  const isOwn = async (id: string): Promise<boolean> => await findApiKey({ id }) !== null
  return {
    async add (uses) {
      const known = await Promise.all(uses.map(({ key }) => isOwn(key)))
      await keyUses.add(uses.filter((_, i) => known[i]))
    },
    list: async (key) => await isOwn(key) ? keyUses.list(key) : [],
    prune: (before, limit) => keyUses.prune(before, limit)
  }
}

/**
 * A store as one tenant sees it: what belongs to others is not there, and what is made belongs to it. Every operation
 * of a bound caller works on such a store, so that none of them can reach further, whatever it forgets.
 * @throws TypeError if the store has no tenants
 */
export function boundStorage (storage: Storage, tenant: string): Storage {
  if (storage.tenants === undefined) throw new TypeError(`fastify-users: the storage ${storage.name} has no tenants`)
  return boundView(storage, tenant)
}

const wholeOf = new WeakMap<Storage, Storage>()

/** True if a user of any tenant is put away under this id: the store may be bound, and every id is unique. */
export async function isPutAway (storage: Storage, id: string): Promise<boolean> {
  const { trash } = wholeOf.get(storage) ?? storage
  return trash !== undefined && await trash.find(id) !== null
}

function boundView (storage: Storage, tenant: string): Storage {
  const { name, standbys, eventLog, eraseEvents, trash, webhooks, keyUses, singleWrites } = storage
  const findApiKey: Storage['findApiKey'] = (by) => own(storage.findApiKey(by), tenant)

  const writeUsers: Storage['writeUsers'] = async (writes, { atomic, idempotency }) => {
    const options = { atomic, idempotency: boundIdempotency(idempotency, tenant) }
    try {
      return await storage.writeUsers(writes.map((write) => boundWrite(write, tenant)), options)
    } catch (error) {
      // An import gives the ids of another system, and every id is unique: a fault of the row, not of the store.
      const [write] = writes
      if (writes.length > 1 || write?.type !== 'create') throw error
      const holder = await storage.findUser(write.user.id).catch(() => null)
      if (holder === null || belongsTo(holder, tenant)) throw error
      return { outcomes: [{ code: 'field_taken', field: 'id' }], note: null, replayed: false }
    }
  }

  async function writeApiKey (write: ApiKeyWrite): ReturnType<Storage['writeApiKey']> {
    if (write.type === 'create') return storage.writeApiKey({ ...write, key: { ...write.key, tenant } })
    // A key never changes its tenant, so nothing can come between.
    if (await findApiKey({ id: write.id }) === null) return { code: 'not_found' }
    return write.type === 'rotate'
      ? storage.writeApiKey({ ...write, successor: { ...write.successor, tenant } })
      : storage.writeApiKey(write)
  }

  function joinTransaction (transaction: unknown): StorageInTransaction {
    if (storage.joinTransaction === undefined) throw new TypeError(`the storage ${name} joins no transactions`)
    const inside = storage.joinTransaction(transaction)
    return Object.assign(boundView(inside, tenant), { afterCommit: inside.afterCommit.bind(inside) })
  }

  const view: Storage = {
    name,
    check: (requirements) => storage.check(requirements),
    migrate: (requirements) => storage.migrate(requirements),
    close: () => storage.close(),
    prune: (now) => storage.prune(now),
    writeUsers,
    ...boundReads(storage, tenant),
    writeApiKey,
    findApiKey,
    listApiKeys: (page) => storage.listApiKeys({ ...page, tenant }),
    ...(standbys !== undefined && { standbys: boundStandbys(standbys, tenant) }),
    ...(eventLog !== undefined && { eventLog: boundEventLog(eventLog, tenant) }),
    ...(eraseEvents !== undefined && { eraseEvents: (userId) => eraseEvents(userId, tenant) }),
    ...(trash !== undefined && { trash: boundTrash(trash, tenant) }),
    ...(webhooks !== undefined && { webhooks: boundWebhooks(webhooks, tenant) }),
    ...(keyUses !== undefined && { keyUses: boundKeyUses(keyUses, findApiKey) }),
    ...(singleWrites !== undefined && { singleWrites }),
    ...(storage.joinTransaction !== undefined && { joinTransaction })
  }
  wholeOf.set(view, storage)
  return view
}
