// A host with a SCIM server, and how clients ask it.
import { Type } from '@sinclair/typebox'
import type { Test } from 'tap'
import type { Scope } from '../../lib/index.ts'
import { scim, type ScimOptions } from '../../lib/scim-plugin.ts'
import { inject, testApp, type TestAppOptions } from '../helpers/app.ts'

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group'
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User'
export const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'
export const ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error'

const text = Type.Optional(Type.String())
export const FIELDS = {
  schema: Type.Object({
    externalId: text,
    login: text,
    department: text,
    title: text,
    givenName: text,
    familyName: text,
    phone: text,
    manager: text,
    isContractor: Type.Optional(Type.Boolean())
  }),
  unique: ['externalId', 'login'],
  filterable: ['department', 'isContractor']
}

export const ATTRIBUTES = {
  title: 'title',
  'name.givenName': 'givenName',
  'name.familyName': 'familyName',
  'phoneNumbers[type eq "work"].value': 'phone',
  [`${ENTERPRISE}:department`]: 'department',
  [`${ENTERPRISE}:manager.value`]: 'manager',
  userType: 'isContractor'
}

/** An answer: its status, headers, and body, if it has one. */
export interface Answer {
  status: number
  headers: Record<string, unknown>
  body: Record<string, never>
}

export type Ask = (method: string, path: string, body?: unknown, headers?: object) => Promise<Answer>

/** A client that has a key with these scopes. */
export async function served (
  t: Test, options: TestAppOptions = {}, scimOptions: ScimOptions = {},
  scopes: readonly Scope[] = ['scim:users', 'scim:groups']
) {
  const { app } = await testApp(t, { groups: true, trash: true, eventLog: true, fields: FIELDS, ...options })
  const { prefix = '/scim/v2' } = scimOptions
  await app.register(scim, { mapping: { attributes: ATTRIBUTES }, ...scimOptions })
  const asKey = (key: string, base = prefix): Ask => async (method, path, body, headers = {}) => {
    const { statusCode, headers: got, body: payload } = await inject(app, method, `${base}${path}`, {
      headers: {
        host: 'example.org',
        ...(key !== '' && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/scim+json' }),
        ...headers
      },
      ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) })
    })
    return { status: statusCode, headers: got, body: payload === '' ? {} : JSON.parse(payload) }
  }
  const { key } = await app.users.apiKeys.create({ name: 'provider', scopes: [...scopes] })
  return { app, asKey, ask: asKey(key), anonymous: asKey('') }
}

export const where = (path: string, query: Record<string, string>): string =>
  `${path}?${new URLSearchParams(query).toString().replaceAll('+', '%20')}`

export const patch = (...operations: object[]) => ({ schemas: [PATCH_OP], Operations: operations })
