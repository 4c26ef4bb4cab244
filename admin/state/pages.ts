import { useState } from 'preact/hooks'
import { readAll } from '../api/read-all.ts'
import type { Listed } from '../api/types.ts'
import { pageSizes } from '../users/query.ts'
import { type Loaded, useLoad } from './load.ts'
import { useSession } from './session.ts'

/** How many pages are read of a list that the server can't narrow. */
const PAGES = 50

interface PagesOptions<Item> {
  /** Absent: oldest first. */
  sort?: string
  /** What the list is narrowed by. Another one begins at its first page. */
  filter?: Readonly<Record<string, string>>
  /** What it is narrowed by in the browser, where the API has no such filter; `by` is another text for another one. */
  pick?: { by: string, isWanted: (item: Item) => boolean } | null
}

/** A page, and whether the whole list was looked at for it. */
type Found<Item> = Listed<Item> & { isWhole: boolean }

/** The pages of a list, with what a pager needs. */
export function usePages<Item> (path: string, { sort = '', filter = {}, pick = null }: PagesOptions<Item> = {}): {
  loaded: Loaded<Found<Item>>
  pager: {
    page: number
    limit: number
    sizes: number[]
    onPage: (page: number) => void
    onSize: (limit: number) => void
  }
} {
  const { client, capabilities: { pageSize: { max } }, capabilities } = useSession()
  const sizes = pageSizes(capabilities)
  const asked = { ...(sort !== '' && { sort }), ...filter }
  const narrowing = JSON.stringify([asked, pick?.by])
  const [at, setAt] = useState({ page: 1, narrowing })
  const page = at.narrowing === narrowing ? at.page : 1
  const setPage = (page: number): void => setAt({ page, narrowing })
  const [limit, setLimit] = useState(sizes[0] ?? max)
  const loaded = useLoad(`${path} ${narrowing} ${page} ${limit}`, async (signal): Promise<Found<Item>> => {
    if (pick === null) {
      const query = new URLSearchParams({ page: String(page), limit: String(limit), ...asked })
      return { ...(await client.get<Listed<Item>>(`${path}?${query.toString()}`, { signal })).body, isWhole: true }
    }
    const { items, isWhole } = await readAll<Item>(client, path, { filter: asked, limit: max, pages: PAGES, signal })
    const wanted = items.filter(pick.isWanted)
    const from = (page - 1) * limit
    return { data: wanted.slice(from, from + limit), meta: { page, limit, total: wanted.length }, isWhole }
  })
  return {
    loaded,
    pager: {
      page,
      limit,
      sizes,
      onPage: setPage,
      onSize (size) {
        setLimit(size)
        setPage(1)
      }
    }
  }
}
