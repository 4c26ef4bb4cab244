import { type Limits, PAGE_MAX } from '../paging.ts'
import type { Schema } from './schemas.ts'

/** The parameters that every list has. */
export function pagingParameters (limits: Limits, id: Schema): Record<string, Schema> {
  return {
    page: { type: 'integer', minimum: 1, maximum: PAGE_MAX, default: 1, description: 'Which page; one past the end is empty, with the true total.' },
    limit: { type: 'integer', minimum: 1, maximum: limits.max, default: limits.default, description: 'How many on a page.' },
    sort: { type: 'string', enum: ['createdAt', '-createdAt'], default: 'createdAt', description: 'Oldest or newest first.' },
    after: { ...id, description: 'Walk by key: what comes behind this id. Not together with `page`.' }
  }
}
