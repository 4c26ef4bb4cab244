import { useState } from 'preact/hooks'
import type { Listed } from '../api/types.ts'
import { pageSizes } from '../users/query.ts'
import { type Loaded, useLoad } from './load.ts'
import { useSession } from './session.ts'

/** The pages of a list that has no filters, with what a pager needs. `sort`: absent: oldest first. */
export function usePages<Item> (path: string, sort = 'createdAt'): {
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
  const [page, setPage] = useState(1)
  const [limit, setLimit] = useState(sizes[0] ?? capabilities.pageSize.max)
  const address = `${path}?page=${page}&limit=${limit}${sort === 'createdAt' ? '' : `&sort=${sort}`}`
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
