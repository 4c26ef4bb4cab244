// The storages of this package pass the conformance kit, each on a real database.
import { test, type Test } from 'tap'
import { EACH_WAY } from './each-kind.ts'
import { type CreateFor, openedForKit, runDuties, runKit, withoutTransactions } from './kit.ts'
import { from } from './level.ts'
import { recycledDatabases } from './mariadb.ts'
import { copiedFiles, type Places, recycledSchemas } from './recycled.ts'
import { pgUrl, type StoreKind, temporarySchema } from './stores.ts'

interface Levels {
  /** From which level on those duties are tested that another way to the database may break. */
  from?: Parameters<typeof from>[0]
  /** From which level on all are tested. */
  wholeFrom: Parameters<typeof from>[0]
}

function placesOf (t: Test, { place, at }: StoreKind): Places | null {
  if (place === 'none') return null
  if (place === 'file') return copiedFiles(t, (path) => openedForKit(at(path)))
  if (place === 'database') return recycledDatabases(t, (database) => openedForKit(at(database)))
  return recycledSchemas(t, (schema) => openedForKit(at(schema)), { url: pgUrl, newSchema: () => temporarySchema(t) })
}

/** Makes stores without transactions: these are tested in conformance-host.test.ts, on a Knex of the host. */
function storesOf (t: Test, kind: StoreKind): CreateFor {
  const places = placesOf(t, kind)
  if (places === null) return async () => withoutTransactions(await kind.create(t))
  return async (isNew) => {
    const place = await places.take(isNew)
    const at = () => withoutTransactions(kind.at(place))
    return { storage: at(), reopen: at, destroy: () => places.giveBack(place) }
  }
}

/** Runs the kit on each store: whole, quick, or, where only the way to the database differs, the duties of EACH_WAY. */
export function conform (
  kinds: ReadonlyArray<StoreKind & { skip?: string | false }>,
  levels: Levels = { wholeFrom: 'ci' }
): void {
  const isWhole = from(levels.wholeFrom) === false
  for (const kind of kinds) {
    const { name, skip = false } = kind
    test(name, { skip: (levels.from !== undefined && from(levels.from)) || skip }, async (t) => {
      const create = storesOf(t, kind)
      if (!isWhole && levels.from !== undefined) runDuties(t, create, (duty) => EACH_WAY.includes(duty))
      else runKit(t, create, { transactions: false }, { quick: !isWhole })
    })
  }
}
