import { isStorable } from '../../lib/core/text.ts'
import type { KeyUseStore } from '../../lib/storage/storage.ts'
import type { Executor } from './connection/executor.ts'
import type { Names } from './tables/names.ts'

/** The statements of the uses of API keys. */
function keyUseSql ({ dialect: { p, limit, batch } }: Executor, { apiKeys, apiKeyUses }: Names) {
  return {
    // In one order: two processes that write the same rows would wait for each other otherwise.
    add: `INSERT INTO ${apiKeyUses} AS u (key_id, day, uses) SELECT q_key, q_day, q_uses ` +
      `FROM ${batch.rows([['key', 'text'], ['day', 'text'], ['uses', 'bigint']])} ` +
      `WHERE EXISTS (SELECT 1 FROM ${apiKeys} WHERE id = q_key)${batch.order('q_key, q_day')} ` +
      'ON CONFLICT (key_id, day) DO UPDATE SET uses = u.uses + excluded.uses',
    list: `SELECT day, uses FROM ${apiKeyUses} WHERE key_id = ${p(1)} ORDER BY day`,
    /** 1: the first day that stays, 2: how many at most. */
    prune: `DELETE FROM ${apiKeyUses} WHERE (key_id, day) IN ` +
      `(SELECT key_id, day FROM ${apiKeyUses} WHERE day < ${p(1)} LIMIT ${limit(2)}) RETURNING 1 AS pruned`
  }
}

/** Uses of API keys in SQL. */
export function knexKeyUses (executor: Executor, names: Names): KeyUseStore {
  const { query, read, dialect: { batch } } = executor
  const sql = keyUseSql(executor, names)
  return {
    async add (uses) {
      const rows = uses.filter(({ key }) => isStorable(key))
      if (rows.length === 0) return
      await query(sql.add, batch.values(rows.map(({ key, day, uses }) => [key, day, uses])), { waitsFor: null })
    },

    async list (key) {
      if (!isStorable(key)) return []
      return (await read(sql.list, [key])).map(({ day, uses }) => ({ day: String(day), uses: Number(uses) }))
    },

    prune: async (before, limit) => (await query(sql.prune, [before, limit])).length
  }
}
