// A model of two instances on one store: keys end in three ways while they are used, in random interleavings. No
// instance accepts a key that has ended for it. A key has ended for the instance that ended it once that has answered,
// for the other once it was notified, and for both when it expires.
import fc from 'fast-check'
import { mock } from 'node:test'
import { test } from 'tap'
import { memory } from '../../adapters/memory/index.ts'
import { keyReader } from '../../lib/api-keys/key-text.ts'
import { SCOPES } from '../../lib/api-keys/scopes.ts'
import { createApiKeysService } from '../../lib/api-keys/service.ts'
import { createVerifier } from '../../lib/api-keys/verifier.ts'
import type { Storage } from '../../lib/index.ts'
import { repositoryOf } from '../../lib/storage/repository.ts'
import { aroundCommit, aroundFind } from '../helpers/around.ts'
import { from } from '../helpers/level.ts'

const START = Date.UTC(2026, 0)
const [REVOKED, ROTATED, EXPIRING] = [0, 1, 2]
const RUNS = Number(process.env['INTERLEAVINGS'] ?? (from('nightly') === false ? 150 : 50))

test('no interleaving of two instances accepts a key that has ended', async (t) => {
  let [accepted, refused] = [0, 0]
  const use = fc.record({ on: fc.constantFrom(0, 1), key: fc.constantFrom(REVOKED, ROTATED, EXPIRING) })
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(use, { minLength: 6, maxLength: 20 }), async (scheduler, uses) => {
      const step = (what: string) => scheduler.schedule(Promise.resolve(), what)
      const base = memory()
      const listeners = new Set<() => void>()
      const instances = [0, 1].map((n) => {
        // Each instance has a store of its own, as another process has; the scheduler decides when it answers.
        const listening: Storage = {
          ...base,
          watch: (listener) => {
            listeners.add(listener)
            return () => {
              listeners.delete(listener)
            }
          }
        }
        aroundFind(listening, 'apiKeys', async (call, [by]) => {
          if (by === undefined || 'id' in by) return call()
          await step(`instance ${n} looks up`)
          const found = await call()
          await step(`instance ${n} gets the answer`)
          return found
        })
        aroundCommit(listening, 'apiKeys', async (call, units) => {
          if (units.every(({ writes }) => writes.every(({ was }) => was === null))) return call()
          await step('a change begins')
          const outcomes = await call()
          await step('a change is done')
          return outcomes
        })
        const repository = repositoryOf(listening)
        const verifier = createVerifier({ repository, peppers: [], ttl: 3600 })
        const service = createApiKeysService({
          flushUses: null,
          scopes: SCOPES,
          repository,
          verifier,
          pageSize: { default: 1, max: 1 },
          keyPrefix: 'uk',
          pepper: undefined,
          publish: () => {},
          makeEvent: () => null
        })
        return { verifier, service, ended: new Set<number>() }
      })
      const [own, other] = instances
      if (own === undefined || other === undefined) return false
      mock.timers.enable({ apis: ['Date'], now: START })
      try {
        const created = await Promise.all(
          [60, 60, 30].map((expiresIn) => own.service.create({ name: 'x', expiresIn }))
        )
        const read = keyReader('uk')
        const violations: string[] = []
        const notify = async (key: number): Promise<void> => {
          own.ended.add(key)
          await step('the other instance is notified')
          for (const listener of listeners) listener()
          other.ended.add(key)
        }
        const idOf = (key: number): string => String(created[key]?.id)
        const ends = [
          async () => {
            await own.service.revoke(idOf(REVOKED))
            await notify(REVOKED)
          },
          async () => {
            await own.service.rotate(idOf(ROTATED), { overlap: 0 })
            await notify(ROTATED)
          },
          async () => {
            await step('time passes')
            mock.timers.setTime(START + 30_000)
            own.ended.add(EXPIRING)
            other.ended.add(EXPIRING)
          }
        ]
        const attempts = uses.map(({ on, key }) => async () => {
          await step('use')
          const parts = read(String(created[key]?.key))
          const instance = instances[on]
          if (parts === null || parts === 'malformed' || instance === undefined) throw new Error('no key')
          const ended = instance.ended.has(key)
          const accepts = await instance.verifier.verify(parts) !== null
          if (accepts) accepted++
          else refused++
          if (ended && accepts) violations.push(`instance ${on} accepted key ${key}`)
        })
        await scheduler.waitFor(Promise.all([...ends, ...attempts].map((each) => each())))
        return violations.length === 0
      } finally {
        mock.timers.reset()
      }
    }),
    { numRuns: RUNS }
  )
  // The interleavings include uses before and after the end of the key.
  t.ok(accepted > RUNS && refused > RUNS, `${RUNS} interleavings, ${accepted} uses accepted, ${refused} refused`)
})
