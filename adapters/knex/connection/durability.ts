import type { Executor } from './executor.ts'

/** Makes the function that says which settings let the database lose what it has acknowledged. */
export function durabilityWarnings ({ query, dialect }: Pick<Executor, 'query' | 'dialect'>) {
  return async (): Promise<string[]> => {
    const weak = await query(dialect.weakSettings)
    return weak.map(({ name, value }) =>
      `${String(name)} is ${String(value)}, so a crash or a loss of power can lose writes that were acknowledged`)
  }
}
