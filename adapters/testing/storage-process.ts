import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { isStorageError, StorageError, type StorageErrorCode } from '../../lib/core/storage-error.ts'
import { METHODS } from '../../lib/core/storage-rules.ts'
import type { Storage } from '../../lib/core/storage.ts'

interface Request { id: number, method: string, args: unknown[] }

/** `id` -1: the store is open; -2: it has told that API keys may have changed. */
interface Answer { id: number, value?: unknown, error?: { code: string | null, text: string } }

const OPENED = -1
const KEYS_CHANGED = -2
const ENDED: Answer = { id: 0, error: { code: 'unavailable', text: 'the process has ended' } }

/** A store in a process of its own. */
export interface StorageProcess {
  /** Its methods, but those that take or give functions. */
  storage: Storage
  /** Ends the process without a warning, as a crash does. */
  kill: () => Promise<void>
  isRunning: () => boolean
  /** Calls back when the store tells that keys may have changed; null if it has no `watchApiKeys`. */
  watchApiKeys: ((listener: () => void) => Promise<void>) | null
}

/** Opens the store in this process, and answers the calls of the process that has started this one. */
export async function serveStorage (module: string, place: string): Promise<void> {
  const send = (answer: Answer) => { process.send?.(answer) }
  let storage: Storage
  try {
    const { default: open }: { default: (place: string) => Storage | Promise<Storage> } = await import(module)
    storage = await open(place)
  } catch (error) {
    send({ id: OPENED, error: { code: null, text: `the process could not open the store: ${String(error)}` } })
    return
  }
  process.on('message', ({ id, method, args }: Request) => {
    const members: Record<string, unknown> = Object(storage)
    const run = async (): Promise<unknown> => {
      if (method !== 'watchApiKeys') return Reflect.apply(Object(members[method]), storage, args)
      storage.watchApiKeys?.(() => send({ id: KEYS_CHANGED }))
      return undefined
    }
    run().then((value) => send({ id, value }), (error: unknown) => {
      const code = isStorageError(error) ? error.code : null
      send({ id, error: { code, text: code === null ? String(error) : error instanceof Error ? error.message : '' } })
    })
  })
  send({ id: OPENED, value: storage.watchApiKeys !== undefined })
}

function errorOf ({ code, text }: { code: string | null, text: string }): Error {
  if (code === null) return new Error(text)
  const known: { code: StorageErrorCode } = Object({ code })
  return new StorageError(known.code, text)
}

const PROGRAM = 'const [, kit, module, place] = process.argv; ' +
  'import(kit).then(({ serveStorage }) => serveStorage(module, place))'

/** Starts a process that opens the store at a place. */
export async function startProcess (
  module: string,
  place: string,
  execArgv: readonly string[]
): Promise<StorageProcess> {
  const args = [...execArgv, '-e', PROGRAM, import.meta.url, module, place]
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced'
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  const listeners: Array<() => void> = []
  let calls = 0
  let hasWatch = false
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

  function expect (id: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ value, error }) => { error === undefined ? resolve(value) : reject(errorOf(error)) })
    })
  }

  async function call (method: string, given: readonly unknown[]): Promise<unknown> {
    const id = calls++
    const answer = expect(id)
    child.send({ id, method, args: [...given] }, (error) => {
      if (error !== null) waiting.get(id)?.(ENDED)
    })
    return answer
  }

  hasWatch = await expect(OPENED) === true
  const methods = METHODS.map((method) => [method, (...given: unknown[]) => call(method, given)])
  const members = { name: 'a store in another process', supports: { transactions: false } }
  const storage: Storage = Object({ ...members, ...Object.fromEntries(methods) })
  return {
    storage,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async kill () {
      child.kill('SIGKILL')
      await ended
    },
    watchApiKeys: hasWatch
      ? async (listener) => {
        listeners.push(listener)
        await call('watchApiKeys', [])
      }
      : null
  }
}
