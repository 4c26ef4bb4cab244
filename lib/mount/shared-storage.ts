import type { Storage } from '../storage/storage.ts'
import type { CheckedOptions } from './options.ts'

/** What the mounts of this process that were given one storage share. */
interface Shared {
  /** Those that are open. */
  mounts: Set<object>
  /** Seconds that they keep events and deleted users; null: they keep none. */
  kept: Kept
  onChange: Set<() => void>
}

type KeptOption = 'eventLog' | 'trash'
type Kept = Readonly<Record<KeptOption, number | null>>

const shown = (retention: number | null): string => retention === null ? 'false' : `{ retention: ${retention} }`

/** A mount among those on its storage. */
export interface Membership {
  /** Calls back after each change that a mount on the storage has made in this process, until the mount leaves. */
  onChange (listener: () => void): void
  /** Calls back for every mount on the storage. */
  changed (): void
  /** True if no other mount is left. It may be called again. */
  leave (): boolean
}

const sharedOf = new WeakMap<Storage, Shared>()

/**
 * Joins the mounts on a storage.
 * @throws Error if they record changes, or keep deleted users, otherwise: readers of the log would miss those of this
 * mount, and a shorter retention would take what another mount keeps
 */
export function joinMounts (
  { storage, eventLog, trash }: Pick<CheckedOptions, 'storage' | 'eventLog' | 'trash'>
): Membership {
  const kept: Kept = { eventLog: eventLog?.retention ?? null, trash: trash?.retention ?? null }
  const known = sharedOf.get(storage)
  for (const option of ['eventLog', 'trash'] as const) {
    if (known === undefined || known.mounts.size === 0 || known.kept[option] === kept[option]) continue
    throw new Error(`fastify-users: ${option} must be the same for all mounts on one storage: another one has ` +
      shown(known.kept[option]))
  }
  const shared = known ?? { mounts: new Set(), kept, onChange: new Set() }
  sharedOf.set(storage, shared)
  shared.kept = kept
  const mount = {}
  shared.mounts.add(mount)
  const listeners = new Set<() => void>()
  return {
    onChange (listener) {
      listeners.add(listener)
      shared.onChange.add(listener)
    },
    changed () {
      for (const listener of shared.onChange) listener()
    },
    leave () {
      for (const listener of listeners) shared.onChange.delete(listener)
      shared.mounts.delete(mount)
      return shared.mounts.size === 0
    }
  }
}
