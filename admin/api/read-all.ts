import type { Client } from './client.ts'
import type { Listed } from './types.ts'

interface ReadOptions {
  /** What the list is narrowed by. */
  filter?: Readonly<Record<string, string>>
  /** How many are read in a request, and how many requests are made at most. */
  limit: number
  pages: number
  signal: AbortSignal
}

/** The items of a list, page by page, and whether these are all. */
export async function readAll<Item> (
  client: Client, path: string, { filter = {}, limit, pages, signal }: ReadOptions
): Promise<{ items: Item[], isWhole: boolean }> {
  const items: Item[] = []
  for (let page = 1; page <= pages; page++) {
    const query = new URLSearchParams({ ...filter, limit: String(limit), page: String(page) })
    const { body } = await client.get<Listed<Item>>(`${path}?${query.toString()}`, { signal })
    items.push(...body.data)
    if (items.length >= body.meta.total) return { items, isWhole: true }
  }
  return { items, isWhole: false }
}
