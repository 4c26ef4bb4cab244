import type { Query } from './executor.ts'

/**
 * Does work behind a savepoint, to which it is rolled back if it fails: PostgreSQL aborts a transaction with a failed
 * statement, and this one keeps it usable.
 */
export async function behindSavepoint<Value> (
  query: Query,
  name: string,
  work: (query: Query) => Promise<Value>
): Promise<Value> {
  await query(`SAVEPOINT ${name}`)
  try {
    const value = await work(query)
    await query(`RELEASE SAVEPOINT ${name}`)
    return value
  } catch (error) {
    // Released too: what is rolled back to stays, and many would nest.
    await query(`ROLLBACK TO SAVEPOINT ${name}`).then(() => query(`RELEASE SAVEPOINT ${name}`)).catch(() => {})
    throw error
  }
}
