import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { isStorageError, StorageError, type StorageErrorCode } from '../../lib/storage/storage-error.ts'
import type { Storage } from '../../lib/storage/storage.ts'
import { type MeasuredWalk, measureWalk } from './measured-walk.ts'

interface Request { id: number, method: string, args: unknown[] }

interface Answer {
  id: number
  value?: unknown
  error?: { code: string | null, text: string, field?: string | undefined }
}

/** The id of a message that answers no call: keys may have changed. */
const KEYS_CHANGED = -1
const ENDED: Answer = { id: 0, error: { code: 'unavailable', text: 'the process has ended' } }

/** A store in a process of its own. */
export interface StorageProcess {
  /** Its methods, but those that take or give functions. */
  storage: Storage
  /** Ends the process without a warning, as a crash does. */
  kill: () => Promise<void>
  /** Calls back when the store tells that keys may have changed; null if it has no `watch`. */
  watch: ((listener: () => void) => Promise<void>) | null
  /** Reads everybody in that process, and measures the memory that it takes. */
  measureWalk: () => Promise<MeasuredWalk>
}

/** A process that opens stores, one after the other. */
export interface Opener {
  /** Opens the store at a place. */
  open: (place: string) => Promise<StorageProcess>
  isRunning: () => boolean
  kill: () => Promise<void>
  /** Lets the process end by itself. */
  end: () => Promise<void>
  /** While nothing is open, the process must not keep this one running. */
  rest: () => void
}

type Open = (place: string) => Storage | Promise<Storage>

/** Opens stores in this process, and answers the calls of the process that has started this one. */
export function serveStorages (module: string): void {
  const send = (answer: Answer) => { process.send?.(answer) }
  let storage: Storage | undefined

  async function run ({ method, args }: Request): Promise<unknown> {
    if (method === 'open-place') {
      const { default: open }: { default: Open } = await import(module)
      storage = await open(String(args[0]))
      return storage.watch !== undefined
    }
    if (storage === undefined) throw new Error('no store is open')
    if (method === 'watch') {
      storage.watch?.(() => send({ id: KEYS_CHANGED }))
      return undefined
    }
    if (method === 'measureWalk') return measureWalk(storage)
    const [name = '', part] = method.split('.').reverse()
    const owner: Record<string, unknown> = Object(part === undefined ? storage : Object(storage)[part])
    return Reflect.apply(Object(owner[name]), owner, args)
  }

  process.on('message', (request: Request) => {
    run(request).then((value) => send({ id: request.id, value }), (error: unknown) => {
      const code = isStorageError(error) ? error.code : null
      const text = code === null ? String(error) : error instanceof Error ? error.message : ''
      const field = isStorageError(error) ? error.field : undefined
      send({ id: request.id, error: { code, text, field } })
    })
  })
  process.on('disconnect', () => process.exit())
}

function errorOf ({ code, text, field }: NonNullable<Answer['error']>): Error {
  if (code === null) return new Error(text)
  const known: { code: StorageErrorCode } = Object({ code })
  return new StorageError(known.code, text, { field })
}

const PROGRAM = 'const [, kit, module] = process.argv; import(kit).then(({ serveStorages }) => serveStorages(module))'

/** Starts a process that opens stores by the default export of a module. */
export function startOpener (module: string, execArgv: readonly string[]): Opener {
  const child = spawn(process.execPath, [...execArgv, '-e', PROGRAM, import.meta.url, module], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced'
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  let listeners: Array<() => void> = []
  let calls = 0
  const ended = once(child, 'exit').then(() => {
    for (const answer of waiting.values()) answer(ENDED)
    waiting.clear()
  })
  child.on('message', (answer: Answer) => {
    if (answer.id === KEYS_CHANGED) {
      for (const listener of listeners) listener()
      return
    }
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })

  async function call (method: string, given: readonly unknown[]): Promise<unknown> {
    const id = calls++
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ value, error }) => { error === undefined ? resolve(value) : reject(errorOf(error)) })
      child.send({ id, method, args: [...given] }, (error) => {
        if (error !== null) waiting.get(id)?.(ENDED)
      })
    })
  }

  async function kill (): Promise<void> {
    child.kill('SIGKILL')
    await ended
  }

  const forward = (names: readonly string[], prefix = '') => Object.fromEntries(names.map((name) =>
    [name, async (...given: unknown[]) => call(`${prefix}${name}`, given)]))
  /** The store as this process has it: without what takes or gives functions. */
  const storage: Storage = Object({
    name: 'a store in another process',
    ...forward(['open', 'close', 'commit', 'find', 'list', 'listTenants']),
    users: forward(['find', 'list'], 'users.'),
    log: forward(['read', 'history', 'find', 'before', 'prune', 'pruned'], 'log.')
  })

  return {
    async open (place) {
      child.ref()
      child.channel?.ref()
      listeners = []
      const canWatch = await call('open-place', [place]).catch((error: unknown) => {
        throw new Error(`the process could not open the store: ${String(error)}`)
      })
      const watch = async (listener: () => void) => {
        listeners.push(listener)
        await call('watch', [])
      }
      return {
        storage,
        kill,
        watch: canWatch === true ? watch : null,
        async measureWalk () {
          const { users, bytes }: MeasuredWalk = Object(await call('measureWalk', []))
          return { users, bytes }
        }
      }
    },
    isRunning: () => child.connected && child.exitCode === null && child.signalCode === null,
    kill,
    async end () {
      child.ref()
      if (child.connected) child.disconnect()
      await ended
    },
    rest () {
      child.unref()
      child.channel?.unref()
    }
  }
}
