import { setImmediate as turn } from 'node:timers/promises'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import { accepts } from '../../../lib/storage/storage-rules.ts'
import type { WriteOutcome } from '../../../lib/storage/storage.ts'
import { afterwards, ALL, change, EVERYONE, leak, ONE, outcomeLeak, restores, writeLeak } from './leaks.ts'
import type { Mistake } from './plant.ts'

/** Stores that give users back with a mistake. */
export const trashRestores: Mistake[] = [
  afterwards('a restored user stays in the trash', restores, (right, write, user) => right.writeUsers([
    { type: 'delete', id: user.id, guard: { ifVersion: null, unlessVersion: [] }, event: null, erase: false },
    write
  ], ONE)),
  afterwards('a restored user has lost its fields', restores, (right, _write, { id }) =>
    change(right, id, { fields: {} })),
  afterwards('a restored user is found by its address no more', restores, (right, _write, { id, email }) =>
    change(right, id, { email: { value: `${email} `, key: `lost ${id}` } })),
  afterwards('a restored user is active', restores, (right, _write, { id, status }) =>
    status === 'active' ? Promise.resolve() : change(right, id, { status: 'active' })),
  outcomeLeak('a restoration gives the version before', 'restore', (outcome) => outcome.user === null
    ? outcome
    : { ...outcome, user: { ...outcome.user, version: outcome.user.version - 1 } }),
  writeLeak('a restored user was changed at the moment of the call, whatever was before', (write) =>
    write.type === 'restore' ? { ...write, updatedAt: '2099-01-01T00:00:00.000Z' } : write),
  writeLeak('a guard does not keep a user from being restored', (write) => write.type === 'restore'
    ? { ...write, guard: { ifVersion: null, unlessVersion: [] } }
    : write),
  leak('a user whose address is taken is restored in place of its holder', (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      const [write] = writes
      if (write?.type !== 'restore' || result.outcomes[0]?.code !== 'email_taken') return result
      const email = (await right.trash?.find(write.id))?.user.email.toLowerCase() ?? ''
      const { items: [holder] } = await right.listUsers({ ...EVERYONE, emailKey: email }, ALL)
      if (holder !== undefined) await change(right, holder.id, { email: { value: 'x', key: `x ${holder.id}` } })
      return right.writeUsers(writes, options)
    }
  })),
  leak('an id that a user has again is refused as an address', (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      const outcomes = result.outcomes.map((outcome): WriteOutcome =>
        outcome.code === 'field_taken' && outcome.field === 'id' ? { code: 'email_taken' } : outcome)
      return { ...result, outcomes }
    }
  })),
  leak('a unique value of a restored user is refused without its name', (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      const outcomes = result.outcomes.map((outcome, i): WriteOutcome =>
        outcome.code === 'field_taken' && writes[i]?.type === 'restore' && outcome.field !== 'id'
          ? { code: 'email_taken' }
          : outcome)
      return { ...result, outcomes }
    }
  })),
  leak('a restored user has the version that it had', (right) => {
    const restored = new Set<string>()
    const before = <User extends { id: string, version: number } | null>(user: User): User =>
      user !== null && restored.has(user.id) ? { ...user, version: user.version - 1 } : user
    return {
      findUser: async (id) => before(await right.findUser(id)),
      async writeUsers (writes, options) {
        const result = await right.writeUsers(writes, options)
        const outcomes = result.outcomes.map((outcome, i) => {
          if (outcome.code !== 'done' || writes[i]?.type !== 'restore') return outcome
          restored.add(outcome.user?.id ?? '')
          return { ...outcome, user: before(outcome.user) }
        })
        return { ...result, outcomes }
      }
    }
  }),
  leak('a user whose restoration is refused is gone', (right) => ({
    async writeUsers (writes, options) {
      const result = await right.writeUsers(writes, options)
      const [write] = writes
      if (write?.type === 'restore' && result.outcomes[0]?.code === 'email_taken') {
        await right.writeUsers([{ ...write, type: 'purge', putAwayBefore: '9', erase: false }], ONE)
      }
      return result
    }
  })),
  leak('a restoration takes two steps', (right) => ({
    async writeUsers (writes, options) {
      const [write] = writes
      const away = write?.type === 'restore' && writes.length === 1 ? await right.trash?.find(write.id) ?? null : null
      if (write?.type !== 'restore' || away === null || !accepts(write.guard, away.user)) {
        return right.writeUsers(writes, options)
      }
      await turn()
      const { user: { name, email, version } } = away
      const user = { ...away.user, version: version + 1, updatedAt: write.updatedAt }
      const keys = { emailKey: email.toLowerCase(), nameKey: name.toLowerCase() }
      if (await right.findUser(user.id) !== null) return right.writeUsers(writes, options)
      const made = await right.writeUsers([{ type: 'create', user, keys, event: write.event }], options)
      await turn()
      await right.writeUsers([{ ...write, type: 'purge', putAwayBefore: '9', erase: false, event: null }], ONE)
      return made
    }
  })),
  leak('a batch restores only whom it has met in the trash', (right) => ({
    async writeUsers (writes, options) {
      const isLate = await Promise.all(writes.map(async (write) =>
        writes.length > 1 && write.type === 'restore' && await right.trash?.find(write.id) === null))
      return right.writeUsers(writes.map((write, i) => isLate[i] === true ? { ...write, id: 'usr_' } : write), options)
    }
  })),
  leak('a repetition restores again', (right) => ({
    writeUsers: (writes, options) => right.writeUsers(writes, writes[0]?.type === 'restore' ? ONE : options)
  })),
  leak('a batch that moves users is refused while another one runs', (right) => {
    let running = 0
    return {
      async writeUsers (writes, options) {
        if (writes.length > 1 && running > 0) throw new StorageError('unavailable', 'another batch is running')
        running++
        await turn()
        return right.writeUsers(writes, options).finally(() => { running-- })
      }
    }
  }),
  writeLeak('a restoration has no event', (write) => write.type === 'restore' ? { ...write, event: null } : write)
]
