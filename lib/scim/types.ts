import type { Call } from '../core/context.ts'
import type { JsonObject } from '../core/json.ts'
import type { WriteOptions } from '../users/write-options.ts'

/** The parameters of a request by their names. */
export type Query = Readonly<Record<string, unknown>>

/** A resource as it is answered. */
export interface Answered { value: JsonObject, version: number, location: string }

/** The operations on one type of resource. `base`: where the server is. */
export interface ScimType {
  list (query: Query, base: string, call: Call): Promise<JsonObject>
  get (id: string, query: Query, base: string, call: Call): Promise<Answered>
  create (resource: unknown, query: Query, base: string, call: Call): Promise<Answered>
  replace (
    id: string, resource: unknown, query: Query, options: WriteOptions, base: string, call: Call
  ): Promise<Answered>
  /** `value`: null, if the answer has none. */
  patch (
    id: string, body: unknown, query: Query, options: WriteOptions, base: string, call: Call
  ): Promise<Omit<Answered, 'value'> & { value: JsonObject | null }>
  remove (id: string, options: WriteOptions, call: Call): Promise<void>
}
