import type { Storage } from '../storage/storage.ts'
import type { CheckedOptions } from './options.ts'

/** What the mounts of this process that were given one storage share. */
interface Shared {
  /** Those that are open. */
  mounts: Set<object>
  retention: number | null
  onChange: Set<() => void>
}

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
 * @throws Error if they record changes otherwise: readers of the log would miss those of this mount, or lose events to
 * a shorter retention
 */
export function joinMounts ({ storage, eventLog }: Pick<CheckedOptions, 'storage' | 'eventLog'>): Membership {
  const retention = eventLog?.retention ?? null
  const known = sharedOf.get(storage)
  if (known !== undefined && known.mounts.size > 0 && known.retention !== retention) {
    const shown = known.retention === null ? 'false' : `{ retention: ${known.retention} }`
    throw new Error(`fastify-users: eventLog must be the same for all mounts on one storage: another one has ${shown}`)
  }
  const shared = known ?? { mounts: new Set(), retention, onChange: new Set() }
  sharedOf.set(storage, shared)
  shared.retention = retention
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
