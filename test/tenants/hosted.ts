import type { Test } from 'tap'
import { ALL_SCOPES, inject, testApp, type TestAppOptions } from '../helpers/app.ts'

export const PLATFORM = 'platform-key-of-at-least-32-characters'
export const ACME = 'acme-static-key-of-at-least-32-characters'
export const ANN = { name: 'Ann', email: 'ann@example.org' }

/** A host with tenants and an event log, with a static key of the platform and one of a tenant. */
export async function hosted (t: Test, options: TestAppOptions = {}) {
  const { app } = await testApp(t, {
    tenants: true,
    eventLog: true,
    ...options,
    apiKeys: {
      static: [
        { key: PLATFORM, name: 'platform', scopes: ALL_SCOPES, tenant: null },
        { key: ACME, name: 'acme', scopes: ALL_SCOPES, tenant: 'acme' }
      ],
      ...options.apiKeys
    }
  })
  const send = async (
    key: string, method: string, path: string, payload?: object, more: Record<string, string> = {}
  ) => {
    const headers = { authorization: `Bearer ${key}`, ...(payload && { 'content-type': 'application/json' }), ...more }
    const answer = await inject(app, method, path, { headers, ...(payload && { payload }) })
    const { statusCode: status, headers: { etag, location, link }, body } = answer
    return { status, etag, location, link, body: body === '' ? null : JSON.parse(body) }
  }
  return { app, send }
}
