import type { Subject } from '../cases.ts'
import { filters } from './filters.ts'
import { largeLists } from './large-lists.ts'
import { lists } from './lists.ts'
import { search } from './search.ts'
import { sorts } from './sorts.ts'
import { tenants } from './tenants.ts'
import { unique } from './unique.ts'
import { faults, values } from './values.ts'
import { walks, walksBeside } from './walks.ts'

export { userSchemaCases } from './schema.ts'

/** The duties about reading users, which hold inside of transactions too. */
export const userSubjects: readonly Subject[] =
  [values, lists, filters, search, sorts, walks, unique, tenants, largeLists]

/** Those that can't be inside of one: what others write meanwhile, and what may end it. */
export const userSubjectsOutside: readonly Subject[] = [faults, walksBeside]
