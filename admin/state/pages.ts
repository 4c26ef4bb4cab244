import { useState } from 'preact/hooks'
import type { Listed } from '../api/types.ts'
import { pageSizes } from '../users/query.ts'
import { type Loaded, useLoad } from './load.ts'
import { useSession } from './session.ts'

/**
 * The pages of a list, with what a pager needs. `sort`: absent: oldest first. `filter`: what the list is narrowed by;
 * another one begins at its first page.
 */
export function usePages<Item> (path: string, sort = 'createdAt', filter: Readonly<Record<string, string>> = {}): {
  loaded: Loaded<Listed<Item>>
  pager: {
    page: number
    limit: number
    sizes: number[]
    onPage: (page: number) => void
    onSize: (limit: number) => void
  }
} {
  const { client, capabilities } = useSession()
  const sizes = pageSizes(capabilities)
  const narrowing = new URLSearchParams(filter).toString()
  const [at, setAt] = useState({ page: 1, narrowing })
  const page = at.narrowing === narrowing ? at.page : 1
  const setPage = (page: number): void => setAt({ page, narrowing })
  const [limit, setLimit] = useState(sizes[0] ?? capabilities.pageSize.max)
  const query = new URLSearchParams({
    page: String(page), limit: String(limit), ...(sort !== 'createdAt' && { sort }), ...filter
  })
  const address = `${path}?${query.toString()}`
  const loaded = useLoad(address, async (signal) => (await client.get<Listed<Item>>(address, { signal })).body)
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
