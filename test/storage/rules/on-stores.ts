// Runs a rule on every store, outside and inside of a host's transaction.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { knexStorage } from '../../../adapters/knex/index.ts'
import { memory } from '../../../adapters/memory/index.ts'
import { sqlite } from '../../../adapters/sqlite.ts'
import { type Repository, repositoryIn, repositoryOf } from '../../../lib/storage/repository.ts'
import type { EventRecord, Storage } from '../../../lib/storage/storage.ts'
import type { UserWrite, WriteOutcome, WriteScope } from '../../../lib/storage/user-writes.ts'
import { knexHosts } from '../../helpers/knex-hosts.ts'
import { from } from '../../helpers/level.ts'
import { sqliteDriver } from '../../helpers/sqlite.ts'
import { stores, temporaryDirectory, temporarySchema } from '../../helpers/stores.ts'
import { eventsIn, SINGLE } from './values.ts'

/** What a rule is tested on: an empty store. */
export interface Subject {
  storage: Storage
  repository: Repository
  /** Makes one write of a user. */
  write: (write: UserWrite, scope?: WriteScope) => Promise<WriteOutcome>
  /** The recorded events. A host's transaction is committed for it, so it comes last. */
  recorded: () => Promise<EventRecord[]>
}

interface Kind<Given> { name: string, skip: string | false, run: (t: Test, rule: Rule<Given>) => Promise<void> }
type Rule<Given> = (t: Test, given: Given) => Promise<void>

const NEEDS = { migrate: true, filterable: ['plan'], unique: ['legacyId'] }

/** In a run about another store none of this one. */
function chosen<Given> (kinds: ReadonlyArray<Kind<Given>>): ReadonlyArray<Kind<Given>> {
  return kinds.filter(({ name }) => stores.some((kind) => name.startsWith(kind.name)))
}

/** The store as another process has it, which knows nothing of this one. Rows are remembered, as of servers. */
export const asOfServer = (storage: Storage): Storage => ({ ...storage, server: {} })

async function opened (t: Test, storage: Storage): Promise<Storage> {
  t.teardown(() => storage.close())
  await storage.open(NEEDS)
  return storage
}

function subjectOf (
  storage: Storage, repository: Repository, recorded = (): Promise<EventRecord[]> => eventsIn(repository)
): Subject {
  return { storage, repository, write: (write, scope) => repository.users.writeOne(write, scope), recorded }
}

/** As `writeOne` does it, in a call of `write`. */
function byCalls (storage: Storage): Subject {
  const repository = repositoryOf(storage)
  const write = async (asked: UserWrite, scope: WriteScope = {}): Promise<WriteOutcome> => {
    const [outcome] = (await repository.users.write([asked], { ...SINGLE, ...scope })).outcomes
    if (outcome === undefined) throw new Error('a write has no outcome')
    return outcome
  }
  return { storage, repository, write, recorded: () => eventsIn(repository) }
}

const outside = (make: (t: Test) => Storage): Kind<Subject>['run'] => async (t, rule) => {
  const storage = await opened(t, make(t))
  await rule(t, subjectOf(storage, repositoryOf(storage)))
}

/** In a transaction that is rolled back, unless what it records is asked for. */
const inside = (driver: string): Kind<Subject>['run'] => async (t, rule) => {
  const host = await knexHosts.find((kind) => kind.driver === driver)?.connect(t)
  if (host === undefined) throw new Error(`there is no host with ${driver}`)
  t.teardown(() => host.destroy())
  const storage = knexStorage(host)
  await storage.open(NEEDS)
  const transaction = await host.transaction()
  try {
    const joined = storage.join(transaction)
    await rule(t, subjectOf(joined, repositoryIn(joined), async () => {
      await transaction.commit()
      return eventsIn(repositoryOf(storage))
    }))
  } finally {
    if (!transaction.isCompleted()) await transaction.rollback()
  }
}

const sqliteAt = (filename: string): Storage => sqlite({ filename, driver: sqliteDriver })

function postgresAt (schema: string): Storage {
  const kind = stores.find(({ name }) => name === 'postgres')
  if (kind === undefined) throw new Error('this run is about another store')
  return kind.at(schema)
}

const skip = from('ci')

const outsideKinds = chosen<Subject>([
  { name: 'memory', skip: false, run: outside(() => asOfServer(memory())) },
  { name: 'memory, in calls', skip: false, run: async (t, rule) => rule(t, byCalls(await opened(t, memory()))) },
  { name: 'sqlite', skip, run: outside(() => sqliteAt(':memory:')) },
  { name: 'postgres', skip, run: outside((t) => postgresAt(temporarySchema(t))) }
])

const insideKinds = chosen<Subject>([
  { name: 'sqlite, in a transaction', skip, run: inside(sqliteDriver) },
  { name: 'postgres, in a transaction', skip, run: inside('pg') }
])

/** Two stores on one database, as two processes have them. */
function twice (placeOf: (t: Test) => Promise<() => Storage>): Kind<[Storage, Storage]>['run'] {
  return async (t, rule) => {
    const at = await placeOf(t)
    await rule(t, [await opened(t, at()), await opened(t, at())])
  }
}

const processKinds = chosen<[Storage, Storage]>([
  {
    name: 'memory',
    skip: false,
    run: twice(async () => {
      const storage = memory()
      return () => asOfServer(storage)
    })
  },
  {
    name: 'sqlite',
    skip,
    run: twice(async (t) => {
      const filename = join(await temporaryDirectory(t), 'users.db')
      return () => sqliteAt(filename)
    })
  },
  {
    name: 'postgres',
    skip,
    run: twice(async (t) => {
      const schema = temporarySchema(t)
      return () => postgresAt(schema)
    })
  }
])

function onKinds<Given> (name: string, kinds: ReadonlyArray<Kind<Given>>, rule: Rule<Given>): void {
  test(name, async (t) => {
    for (const { name: kind, skip, run } of kinds) await t.test(kind, { skip }, (each) => run(each, rule))
  })
}

/** Tests a rule on every store, and in a host's transaction. */
export const rules = (name: string, rule: Rule<Subject>): void => onKinds(name, [...outsideKinds, ...insideKinds], rule)

/** The same for what a host's transaction does not have: concurrent calls, and events before its end. */
export const rulesOutside = (name: string, rule: Rule<Subject>): void => onKinds(name, outsideKinds, rule)

/** Tests a rule with the stores that two processes have on one database. */
export const processes = (name: string, rule: Rule<[Storage, Storage]>): void => onKinds(name, processKinds, rule)

/** Two stores on one memory, as two processes have them. */
export async function inMemory (): Promise<[Storage, Storage]> {
  const storage = memory()
  await storage.open(NEEDS)
  return [asOfServer(storage), asOfServer(storage)]
}

/**
 * The store of a process in which these happen, one before each commit: after what the write has read. `afterRead`: the
 * first one happens right after so many reads of rows, before the next. `reads`: how many there were before the first
 * commit.
 */
export function interrupted (
  storage: Storage, happenings: Array<() => Promise<unknown>>, afterRead = Infinity
): { storage: Storage, reads: () => number } {
  const left = [...happenings]
  let reads = 0
  let beforeCommit: number | null = null
  async function read<Value> (call: Promise<Value>): Promise<Value> {
    const value = await call
    if (++reads === afterRead) await left.shift()?.()
    return value
  }
  const interruptedStorage: Storage = {
    ...storage,
    find: (name, keys) => read(storage.find(name, keys)),
    list: (name, query) => read(storage.list(name, query)),
    users: {
      ...storage.users,
      find: (id) => read(storage.users.find(id)),
      list: (filter, page) => read(storage.users.list(filter, page))
    },
    async commit (units) {
      beforeCommit ??= reads
      if (units.length > 0) await left.shift()?.()
      return storage.commit(units)
    }
  }
  return { storage: interruptedStorage, reads: () => beforeCommit ?? reads }
}
