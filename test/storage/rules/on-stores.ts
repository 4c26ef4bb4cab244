// Runs a rule on every store. Inside of a host's transaction: transactions.test.ts, and the conformance kit.
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { memory } from '../../../adapters/memory/index.ts'
import { sqlite } from '../../../adapters/sqlite.ts'
import { type Repository, repositoryOf } from '../../../lib/storage/repository.ts'
import type { EventRecord, Storage } from '../../../lib/storage/storage.ts'
import type { UserWrite, WriteOutcome, WriteScope } from '../../../lib/storage/user-writes.ts'
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
  /** The recorded events. */
  recorded: () => Promise<EventRecord[]>
}

interface Kind<Given> { name: string, run: (t: Test, rule: Rule<Given>) => Promise<void> }
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

function subjectOf (storage: Storage, write: (repository: Repository) => Subject['write']): Subject {
  const repository = repositoryOf(storage)
  return { storage, repository, write: write(repository), recorded: () => eventsIn(repository) }
}

const alone = ({ users }: Repository): Subject['write'] => (write, scope) => users.writeOne(write, scope)

/** As `writeOne` does it, in a call of `write`. */
const inCalls = ({ users }: Repository): Subject['write'] => async (asked, scope = {}) => {
  const [outcome] = (await users.write([asked], { ...SINGLE, ...scope })).outcomes
  if (outcome === undefined) throw new Error('a write has no outcome')
  return outcome
}

const on = (make: (t: Test) => Storage, write = alone): Kind<Subject>['run'] => async (t, rule) =>
  rule(t, subjectOf(await opened(t, make(t)), write))

const sqliteAt = (filename: string): Storage => sqlite({ filename, driver: sqliteDriver })

function postgresAt (schema: string): Storage {
  const kind = stores.find(({ name }) => name === 'postgres')
  if (kind === undefined) throw new Error('this run is about another store')
  return kind.at(schema)
}

const kinds = chosen<Subject>([
  { name: 'memory', run: on(() => asOfServer(memory())) },
  { name: 'memory, in calls', run: on(() => memory(), inCalls) },
  { name: 'sqlite', run: on(() => sqliteAt(':memory:')) },
  { name: 'postgres', run: on((t) => postgresAt(temporarySchema(t))) }
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
    run: twice(async () => {
      const storage = memory()
      return () => asOfServer(storage)
    })
  },
  {
    name: 'sqlite',
    run: twice(async (t) => {
      const filename = join(await temporaryDirectory(t), 'users.db')
      return () => sqliteAt(filename)
    })
  },
  {
    name: 'postgres',
    run: twice(async (t) => {
      const schema = temporarySchema(t)
      return () => postgresAt(schema)
    })
  }
])

type Level = Parameters<typeof from>[0]

/** `onSql`: the level that tests it on databases too. */
function onKinds<Given> (
  name: string, kinds: ReadonlyArray<Kind<Given>>, rule: Rule<Given>, onSql: Level, skip: string | false = false
): void {
  test(name, { skip }, async (t) => {
    for (const { name: kind, run } of kinds) {
      await t.test(kind, { skip: !kind.startsWith('memory') && from(onSql) }, (each) => run(each, rule))
    }
  })
}

/** Tests a rule in memory, and at night on databases: it is decided above the stores, and the kit tests those. */
export const rules = (name: string, rule: Rule<Subject>): void => onKinds(name, kinds, rule, 'nightly')

/** Tests concurrent calls, which databases bring into an order. */
export const longRaces = (name: string, rule: Rule<Subject>): void => onKinds(name, kinds, rule, 'ci', from('ci'))

/** Tests a rule with the stores that two processes have on one database. */
export const processes = (name: string, rule: Rule<[Storage, Storage]>, onSql: Level = 'ci'): void =>
  onKinds(name, processKinds, rule, onSql)

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
