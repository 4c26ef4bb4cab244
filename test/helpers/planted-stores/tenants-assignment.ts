import { memory } from '../../../adapters/memory/index.ts'
import type {
  AssignmentRequest, AssignmentStep, PageRequest, Storage, TenantStore
} from '../../../lib/storage/storage.ts'
import type { Mistake } from './plant.ts'

const LAST_STEP: AssignmentStep = { assigned: 0, refused: [], next: null }

/** The step of the store that is right. */
export async function assign (
  { tenants }: Storage, tenant: string, request: AssignmentRequest
): Promise<AssignmentStep> {
  return await tenants?.assign(tenant, request) ?? LAST_STEP
}

/** A mistake in giving users to a tenant. */
function misassign (title: string, wrong: (right: Storage) => TenantStore['assign']): Mistake {
  return {
    title,
    create () {
      const right = memory()
      const tenants = {
        list: async (page: PageRequest) => await right.tenants?.list(page) ?? { items: [], total: 0 },
        remove: async (tenant: string, limit: number) => await right.tenants?.remove(tenant, limit) ?? 0,
        assign: wrong(right)
      }
      return { storage: { ...right, tenants } }
    }
  }
}

/** Stores that give users to a tenant in a wrong way. */
export const tenantsAssignment: Mistake[] = [
  misassign('all users are given to a tenant in the first step', (right) => async (tenant, request) => {
    const { assigned, refused } = await assign(right, tenant, { ...request, limit: 99 })
    return { assigned, refused, next: null }
  }),
  misassign('a user who is refused ends the assignment', (right) => async (tenant, request) => {
    const step = await assign(right, tenant, request)
    return step.refused.length === 0 ? step : { ...step, next: null }
  }),
  misassign('who is refused by a tenant is not named', (right) => async (tenant, request) =>
    ({ ...await assign(right, tenant, request), refused: [] })),
  misassign('the field that refuses a user to a tenant is not named', (right) => async (tenant, request) => {
    const { refused, ...step } = await assign(right, tenant, request)
    return { ...step, refused: refused.map((each) => ({ ...each, field: '' })) }
  }),
  misassign('users are made again in the tenant that they are given to', (right) => async (tenant) => {
    const filter = { emailKey: null, words: null, fields: {} }
    const { items } = await right.listUsers(filter, { order: 'asc', limit: 99, from: { offset: 0 } })
    const moving = items.filter((user) => user.tenant === undefined)
    for (const user of moving) {
      const guard = { ifVersion: null, unlessVersion: [] }
      const options = { atomic: false, idempotency: null }
      await right.writeUsers([{ type: 'delete', id: user.id, guard, event: null, erase: false }], options)
      const keys = { nameKey: user.name.toLowerCase(), emailKey: user.email.toLowerCase() }
      await right.writeUsers([{ type: 'create', user: { ...user, tenant }, keys, event: null }], options)
    }
    return { ...LAST_STEP, assigned: moving.length }
  })
]
