import { setTimeout } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

export type User = components['schemas']['users.User']
/** What a write answers: without the scope `users:read` only the id and the times. */
export type WrittenUser = components['schemas']['users.WrittenUser']
type UserInput = components['schemas']['users.UserInput']
type Problem = components['schemas']['users.Problem']

/** What the service refused, by its stable code. */
export class RefusedError extends Error {
  readonly problem: Problem

  constructor (problem: Problem) {
    super(`${problem.code}: ${problem.detail}`)
    this.problem = problem
  }
}

/** A client of the service, typed by its description alone: `openapi-typescript openapi.json -o api.d.ts`. */
export function usersClient (baseUrl: string, key: string) {
  const http = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } })

  /** Every user, a page at a time, oldest first: by `after`, since deletions move the pages that have numbers. */
  async function * everyone (limit = 100): AsyncGenerator<User> {
    let after: string | undefined
    do {
      const query = after === undefined ? { limit } : { limit, after }
      const { data, error } = await http.GET('/v1/users', { params: { query } })
      if (error !== undefined) throw new RefusedError(error)
      yield * data.data
      after = data.data.length < limit ? undefined : data.data.at(-1)?.id
    } while (after !== undefined)
  }

  /** Makes a user once, however often it is called with the same key; null where the address is another user's. */
  async function create (body: UserInput, idempotencyKey: string): Promise<WrittenUser | null> {
    const { data, error, response } = await http.POST('/v1/users', {
      params: { header: { 'Idempotency-Key': idempotencyKey } },
      body
    })
    if (error === undefined) return data
    switch (error.code) {
      case 'email_taken':
        return null
      // The first one is still under way.
      case 'idempotency_in_progress':
        await setTimeout(1000 * Number(response.headers.get('retry-after')))
        return create(body, idempotencyKey)
      default:
        throw new RefusedError(error)
    }
  }

  /**
   * Changes a user from what it is, and not from what it was when somebody else changed it; null where there is none.
   */
  async function change (id: string, next: (user: User) => Partial<UserInput>): Promise<WrittenUser | null> {
    const path = { id }
    const read = await http.GET('/v1/users/{id}', { params: { path } })
    if (read.error !== undefined) {
      if (read.error.code === 'user_not_found') return null
      throw new RefusedError(read.error)
    }
    const { data, error } = await http.PATCH('/v1/users/{id}', {
      params: { path, header: { 'If-Match': read.response.headers.get('etag') ?? '' } },
      body: next(read.data)
    })
    if (error === undefined) return data
    switch (error.code) {
      case 'precondition_failed':
        return change(id, next)
      case 'user_not_found':
        return null
      default:
        throw new RefusedError(error)
    }
  }

  /** Whether there was such a user. */
  async function remove (id: string): Promise<boolean> {
    const { error } = await http.DELETE('/v1/users/{id}', { params: { path: { id } } })
    if (error === undefined) return true
    if (error.code === 'user_not_found') return false
    throw new RefusedError(error)
  }

  return { everyone, create, change, remove }
}
