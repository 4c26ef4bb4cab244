import type { UserFilter } from '../../lib/storage/storage.ts'
import { idOf } from './values.ts'

/** The numbers from 1 to n. */
export const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1)

/** The ids of the users with these numbers. */
export const idsOf = (numbers: readonly number[]): string[] => numbers.map((n) => idOf('usr', n))

/** The filter of users who have words that begin with each of these. */
export const having = (...words: string[]): UserFilter => ({ emailKey: null, words: [words], fields: {} })

/** The first page of a list. */
export const firstPage = (limit: number) => ({ order: 'asc', limit, from: { offset: 0 } }) as const
