import type { Client } from '../api/client.ts'
import type { Listed, User } from '../api/types.ts'

/** How many users a chart by days reads, and in how many requests at most. More are counted by weeks. */
const MOST = 2000
const PAGES = 20
const DAYS = 90
const WEEKS = 13

/** The users that were created in a time, from `from` until before `to`. */
export interface Bar { from: Date, to: Date, count: number }

export interface SignUps {
  isByWeek: boolean
  total: number
  bars: Bar[]
}

/** The beginning of a day in the person's time zone, so many days after that of `now`. */
function dayStart (now: Date, days: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days)
}

/** What the list of users is asked for those of a time. */
export const createdIn = (from: Date, to?: Date): Record<string, string> => ({
  'createdAt[gte]': from.toISOString(),
  ...(to !== undefined && { 'createdAt[lt]': to.toISOString() })
})

/** Bars that begin `first` days from today and end with today, each of `length` days. */
function emptyBars (now: Date, first: number, length: number): Bar[] {
  const count = Math.ceil((1 - first) / length)
  return Array.from({ length: count }, (_, i) => ({
    from: dayStart(now, first + i * length), to: dayStart(now, first + (i + 1) * length), count: 0
  }))
}

interface Call { client: Client, signal: AbortSignal, limit: number }

async function readPage ({ client, signal, limit }: Call, filter: Record<string, string>, page: number) {
  const query = new URLSearchParams({ ...filter, select: 'createdAt', limit: String(limit), page: String(page) })
  return (await client.get<Listed<Pick<User, 'createdAt'>>>(`/users?${query.toString()}`, { signal })).body
}

/** Exact numbers of the last 13 weeks, from totals: a request for each, however many users there are. */
async function byWeek (call: Call, now: Date): Promise<SignUps> {
  const bars = await Promise.all(emptyBars(now, 1 - 7 * WEEKS, 7).map(async (bar) => {
    const { meta } = await readPage({ ...call, limit: 1 }, createdIn(bar.from, bar.to), 1)
    return { ...bar, count: meta.total }
  }))
  return { isByWeek: true, total: bars.reduce((sum, { count }) => sum + count, 0), bars }
}

/** The users of the last 90 days, by days; where they are too many to read, by weeks. `limit`: users in a page. */
export async function readSignUps (client: Client, limit: number, now: Date, signal: AbortSignal): Promise<SignUps> {
  const call = { client, signal, limit }
  const bars = emptyBars(now, 1 - DAYS, 1)
  const filter = createdIn(dayStart(now, 1 - DAYS))
  const first = await readPage(call, filter, 1)
  const { total } = first.meta
  if (total > Math.min(MOST, PAGES * limit)) return await byWeek(call, now)
  for (let page = 1, { data } = first; data.length > 0; page++) {
    for (const { createdAt } of data) {
      const moment = Date.parse(createdAt)
      const bar = bars.find(({ to }) => moment < to.getTime())
      if (bar !== undefined) bar.count++
    }
    if (page * limit >= total) break
    ({ data } = await readPage(call, filter, page + 1))
  }
  return { isByWeek: false, total, bars }
}
