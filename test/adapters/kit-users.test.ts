// The duties of the kit about reading users: our stores do them, and each finds the mistakes that are made for it.
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { sqlite } from '../../adapters/sqlite.ts'
import { userSchemaCases, userSubjects, userSubjectsOutside } from '../../adapters/testing/users/index.ts'
import type { SchemaRequirements, Storage } from '../../lib/storage/storage.ts'
import { usersFilters } from '../helpers/mistakes/users-filters.ts'
import { usersLists } from '../helpers/mistakes/users-lists.ts'
import { usersOrders } from '../helpers/mistakes/users-orders.ts'
import { usersSchema } from '../helpers/mistakes/users-schema.ts'
import { usersUnique } from '../helpers/mistakes/users-unique.ts'
import { usersValues } from '../helpers/mistakes/users-values.ts'
import { usersWalks } from '../helpers/mistakes/users-walks.ts'
import { sqliteDriver } from '../helpers/sqlite.ts'

type Duty = (make: () => Storage) => Promise<void>

const subjects = [...userSubjects, ...userSubjectsOutside]
const context = { seed: 1, records: 1001 }
const needs: SchemaRequirements = {
  filterable: [...new Set(subjects.flatMap(({ needs: { filterable = [] } }) => filterable))],
  unique: [...new Set(subjects.flatMap(({ needs: { unique = [] } }) => unique))]
}

/** Every duty, with stores that are closed afterwards. */
const duties = new Map<string, Duty>([
  ...subjects.flatMap(({ cases }) => Object.entries(cases)).map(([name, run]) => [name, async (make: () => Storage) => {
    const storage = make()
    try {
      await storage.open({ migrate: true, ...needs })
      await run(storage, context)
    } finally {
      await storage.close()
    }
  }] as const),
  ...Object.entries(userSchemaCases).map(([name, run]) => [name, async (make: () => Storage) => {
    const storage = make()
    await run(async () => storage).finally(() => storage.close())
  }] as const)
])

const mistakes = [
  ...usersValues, ...usersLists, ...usersFilters, ...usersOrders, ...usersWalks, ...usersUnique, ...usersSchema
]

const stores = { memory, sqlite: () => sqlite({ filename: ':memory:', driver: sqliteDriver }) }
for (const [name, make] of Object.entries(stores)) {
  test(`${name} does every duty about reading users`, async (t) => {
    for (const [title, run] of duties) await t.resolves(run(make), title)
  })
}

for (const { name, make, failed } of mistakes) {
  test(`a mistake is found: ${name}`, async (t) => {
    const meant = [...duties].filter(([title]) => title.startsWith(failed))
    t.equal(meant.length, 1, failed)
    for (const [title, run] of meant) await t.rejects(run(() => make(memory())), title)
  })
}

test('every duty has a mistake that it finds, and each mistake has a name of its own', (t) => {
  const starts = mistakes.map(({ failed }) => failed)
  t.strictSame([...duties.keys()].filter((title) => !starts.some((failed) => title.startsWith(failed))), [])
  const names = mistakes.map(({ name, failed }) => `${failed}: ${name}`)
  t.equal(new Set(names).size, names.length)
  t.end()
})
