import { Type } from '@sinclair/typebox'
import type { Test } from 'tap'
import type { Fault } from '../../lib/core/fault.ts'
import type { Storage } from '../../lib/index.ts'
import { type Call, testApp } from './app.ts'

/** Own fields with values of every kind. */
export const fields = Type.Object({
  plan: Type.Union([Type.Literal('free'), Type.Literal('pro')], { default: 'free' }),
  seats: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  active: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.Union([Type.String({ maxLength: 300 }), Type.Null()])),
  address: Type.Optional(Type.Object({
    city: Type.String(),
    zip: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 3 }))
  })),
  anything: Type.Optional(Type.Unknown())
})
export const filterable = ['plan', 'seats', 'active']

export const ann = { name: 'Ann', email: 'ann@example.org' }

/** The same value for `app.users`, whose types know no fields in tests. */
export const withoutType = (value: object) => Object(value)

/** `count` members with numbers as values. */
export const members = (count: number, prefix: string): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, i]))

/** Arrays nested in each other. */
export const nested = (depth: number): unknown => depth === 0 ? 1 : [nested(depth - 1)]

/** Each fault as `<pointer> <code>`. */
export const codesOf = (errors: readonly Fault[]): string[] => errors.map(({ pointer, code }) => `${pointer} ${code}`)

/** Sends a body; returns 200, or the faults of the answer. */
export const outcomesOf = (call: Call) => async (method: string, path: string, payload: object) => {
  const response = await call(method, path, { payload })
  return response.statusCode === 200 ? 200 : codesOf(response.json().errors)
}

/** An app whose users have the fields, and short ways to send requests to it. */
export async function fieldsApp (t: Test, storage: Storage) {
  const { app, call } = await testApp(t, { storage, fields: { schema: fields, filterable } })

  const send = async (method: string, path: string, payload?: object) => {
    const response = await call(method, path, payload === undefined ? {} : { payload })
    const { statusCode: status, body, headers: { etag } } = response
    return { status, body, json: body === '' ? null : response.json(), etag }
  }

  return {
    app,
    call,
    send,
    /** Creates a user with more members, and returns its id. */
    async add (email: string, more: object) {
      const { status, json } = await send('POST', '/users', { name: 'N', email, ...more })
      t.equal(status, 201)
      return String(json.id)
    },
    /** The status of an answer and its faults. */
    async faultsOf (method: string, path: string, payload: object) {
      const { status, json } = await send(method, path, payload)
      return [status, ...codesOf(json.errors ?? [])]
    }
  }
}
