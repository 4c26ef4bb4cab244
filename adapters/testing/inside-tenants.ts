import { boundStorage } from '../../lib/storage/bound-storage.ts'
import type { Cases, Context } from './cases.ts'
import { historyCases } from './histories.ts'
import { type KitStorage, kitStorage } from './kit-storage.ts'
import { addForeign, OWN, requireForeign } from './tenant-values.ts'

/** Members of a store that have methods. */
const PARTS: ReadonlyArray<string | symbol> = ['eventLog', 'trash', 'webhooks', 'keyUses']

/** A value without the tenant, which duties do not expect. */
function withoutTenant (value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutTenant)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value)
    .filter(([name, member]) => !(name === 'tenant' && member === OWN))
    .map(([name, member]) => [name, withoutTenant(member)]))
}

/** An object whose methods resolve to values without the tenant, and call back with such. */
function stripped<Value extends object> (target: Value): Value {
  return new Proxy(target, {
    get (_target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (PARTS.includes(name)) return typeof member === 'object' && member !== null ? stripped(member) : member
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        const given = args.map((arg) => typeof arg === 'function'
          ? (...values: unknown[]): unknown => Reflect.apply(arg, undefined, values.map(withoutTenant))
          : arg)
        const result: unknown = Reflect.apply(member, target, given)
        return result instanceof Promise ? result.then(withoutTenant) : result
      }
    }
  })
}

/** The store of a tenant that has nothing yet, beside others that have much. */
async function besideOthers (storage: KitStorage): Promise<KitStorage> {
  await addForeign(storage)
  return kitStorage(stripped(boundStorage(storage, OWN)))
}

/**
 * The duties of each subject once more, for a tenant that has nothing yet, beside others that have the same addresses,
 * names and values.
 */
export function insideTenantCases (subjects: Record<string, Cases>): Cases {
  return Object.fromEntries(Object.entries(subjects).map(([subject, cases]) => [
    `tenants: for a tenant beside others the duties about ${subject} hold`,
    async (storage: KitStorage, context: Context) => {
      const withStore: Context['withStore'] = (run) => context.withStore(async (own) => run(await besideOthers(own)))
      // A store that is closed can't show what others have.
      for (const [title, run] of Object.entries(cases).filter(([title]) => !title.includes('close'))) {
        try {
          if (cases === historyCases) await run(storage, { ...context, withStore })
          else {
            await context.withStore(async (own) => {
              await run(await besideOthers(own), { ...context, withStore })
              await requireForeign(own)
            })
          }
        } catch (error) {
          if (error instanceof Error) error.message = `for a tenant, "${title}": ${error.message}`
          throw error
        }
      }
    }
  ]))
}
