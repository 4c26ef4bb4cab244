import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import { type Call, testApp, type TestAppOptions } from './app.ts'

export const JSON_BODY = { 'content-type': 'application/json' }
/** The id of no key. */
export const UNKNOWN = 'key_01h455vb4pex5vsknk084sn02q'

export interface KeyApp {
  app: FastifyInstance
  /** Sends a request with the key that has all scopes. */
  call: Call
  /** Sends requests with this key. */
  as: (key: string) => Call
  /** Sends a body as JSON, with the key that has all scopes unless another is given. */
  post: (path: string, body: object, key?: string) => ReturnType<Call>
}

/** A host with the routes of API keys. */
export async function keyApp (t: Test, options: TestAppOptions = {}): Promise<KeyApp> {
  const { app, call, key: own } = await testApp(t, { ...options, apiKeys: { routes: true, ...options.apiKeys } })
  const as =
    (key: string): Call =>
      (method, path, options = {}) =>
        call(method, path, { ...options, headers: { ...options.headers, authorization: `Bearer ${key}` } })
  return {
    app,
    call,
    as,
    post: (path, body, key = own) => as(key)('POST', path, { headers: JSON_BODY, payload: JSON.stringify(body) })
  }
}
