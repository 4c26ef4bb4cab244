// What SQLite writes to temporary files: nothing while it records changes, and the sorted values of a new index.
import { rename } from '../helpers/records.ts'
import { sqliteTemporary } from '../helpers/sqlite-temporary.ts'
import { watch } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type Test } from 'tap'
import { sqlite } from '../../adapters/sqlite.ts'
import { newEvent } from '../../lib/storage/recorded-events.ts'
import { from } from '../helpers/level.ts'
import { plainId, USER_COLUMN_LIST } from '../helpers/plain-users.ts'
import { runScript, sqliteDriver, sqliteDrivers } from '../helpers/sqlite.ts'
import { temporaryDirectory } from '../helpers/stores.ts'
import { changeUser } from '../helpers/writes.ts'

const TABLE = 'fastify_users_users'
const end = join(sqliteTemporary, 'end')
const context = { actor: { type: 'host', id: 'test', name: null }, requestId: null } as const

/** How many temporary files SQLite creates during this work. It deletes each as soon as it has opened it. */
async function filesDuring (work: () => Promise<unknown>): Promise<number> {
  const created = new Set<string>()
  const watcher = watch(sqliteTemporary)
  try {
    const ended = new Promise<void>((resolve) => {
      watcher.on('change', (_kind, name) => name === 'end' ? resolve() : created.add(String(name)))
    })
    await work()
    // What comes before this one has been told before it.
    await writeFile(end, '')
    await ended
    return created.size
  } finally {
    watcher.close()
    await rm(end, { force: true })
  }
}

/** A store with users, whose field `text` has `length` characters. */
async function storeWith (t: Test, driver: (typeof sqliteDrivers)[number]['driver'], count: number, length: number) {
  const filename = join(await temporaryDirectory(t), 'users.db')
  const empty = sqlite({ filename, driver })
  await empty.open({ migrate: true })
  await empty.close()
  const columns = USER_COLUMN_LIST.replace(')', ', fields)')
  const id = "'usr_0' || printf('%025d', n)"
  const moment = "'2026-01-01T00:00:00.000Z'"
  const fields = `json_object('text', printf('%0${length}d', n * 7919 % 1000003))`
  await runScript(filename, `
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    INSERT INTO ${TABLE} ${columns}
    SELECT ${id}, 'name ' || n, 'name ' || n, 'e' || n, 'e' || n, 1, ${moment}, ${moment}, ${fields} FROM numbers`)
  const store = sqlite({ filename, driver })
  t.teardown(() => store.close())
  return store
}

for (const { driver, skip } of sqliteDrivers) {
  test(`${driver}: recorded changes of many users need no temporary file`, { skip }, async (t) => {
    const store = await storeWith(t, driver, 5000, 1)
    const changed = Array.from({ length: 100 }, (_, n) => plainId(1 + 50 * n))
    const change = (id: string) => changeUser(store, id, rename('new'), {
      updatedAt: '2026-02-02T00:00:00.000Z', event: newEvent('user.updated', context)
    })
    t.equal(await filesDuring(async () => {
      const answers = await Promise.all(changed.map(change))
      t.ok(answers.every((answer) => answer.changed), 'all are changed')
    }), 0)
  })

  const later = driver !== sqliteDriver && from('nightly')
  test(`${driver}: an index of many users is sorted on the disk`, { skip: skip || later }, async (t) => {
    const store = await storeWith(t, driver, 80_000, 250)
    t.not(await filesDuring(() => store.open({ migrate: true, unique: ['text'] })), 0)
    const change = () => changeUser(store, plainId(1), rename('new'), { updatedAt: '2026-02-02T00:00:00.000Z' })
    t.equal((await change()).changed, true)
  })
}
