import { createHash } from 'node:crypto'
import { type Database, open, type RootDatabase } from 'lmdb'
import { StorageError } from 'fastify-users/storage'

/** A way to a value: the name of an index, and a text. */
export type Entry = [index: string, text: string]

// LMDB's keys have at most 1978 bytes, and are UTF-8. A digest stands for what can't be one.
function keyOf<Id extends string | number> (value: Id): Id | string {
  const isKey = typeof value === 'number' || (value !== '' && Buffer.byteLength(value) < 1800 && value.isWellFormed())
  return isKey ? value : `#${createHash('sha256').update(JSON.stringify(value)).digest('base64url')}`
}

/** Values by id, and the indexes that find them. */
export class Table<Value, Id extends string | number> {
  readonly #values: Database<Value, Id | string>
  readonly #index: Database<null, [...Entry, Id]>
  readonly #entriesOf: (value: Value) => Entry[]

  /** JSON keeps any text as it is, lone surrogates and NUL too, and values come back as copies. */
  constructor (root: RootDatabase, name: string, entriesOf: (value: Value) => Entry[] = () => []) {
    this.#values = root.openDB({ name, encoding: 'json' })
    this.#index = root.openDB({ name: `${name}.index`, encoding: 'json' })
    this.#entriesOf = entriesOf
  }

  get = (id: Id): Value | undefined => this.#values.get(keyOf(id))

  put (id: Id, value: Value): void {
    this.drop(id)
    this.#values.putSync(keyOf(id), value)
    for (const [name, text] of this.#entriesOf(value)) this.#index.putSync([name, keyOf(text), id], null)
  }

  drop (id: Id): void {
    const before = this.get(id)
    if (before === undefined) return
    for (const [name, text] of this.#entriesOf(before)) this.#index.removeSync([name, keyOf(text), id])
    this.#values.removeSync(keyOf(id))
  }

  /** All values as they are now, in parts, however long the reader takes. */
  * parts (limit = Infinity, reverse = false): Generator<Value[]> {
    const transaction = this.#values.useReadTransaction()
    try {
      for (let range = {}, length = limit; length === limit;) {
        const part = [...this.#values.getRange({ transaction, limit, reverse, ...range })]
        if (part.length > 0) yield part.map(({ value }) => value)
        range = { start: part.at(-1)?.key, exclusiveStart: true }
        length = part.length
      }
    } finally {
      transaction.done()
    }
  }

  /** The ids that an index has for a text, in order. `after`: behind this one. */
  * ids (name: string, text: string, { after, reverse = false }: { after?: Id | null, reverse?: boolean } = {}) {
    const key = keyOf(text)
    // A number comes before every text.
    const start = after != null ? [name, key, after] : reverse ? [name, key, '\u{10ffff}'] : [name, key]
    for (const [found, other, id] of this.#index.getKeys({ start, exclusiveStart: true, reverse })) {
      if (found !== name || other !== key) return
      yield id
    }
  }

  /** The texts of an index from one to another, each with an id. */
  between (name: string, first: string, last: string): Array<[text: string, id: Id]> {
    const keys = this.#index.getKeys({ start: [name, first], end: [name, last, '\u{10ffff}'] })
    return [...keys].map(([, text, id]) => [text, id])
  }
}

/** An LMDB environment. */
export function openDatabase (path: string) {
  // Without overlapping, a write is answered when it is on the disk.
  const root = open({ path, overlappingSync: false, maxDbs: 32 })
  let closed: Promise<void> | undefined

  function requireOpen (): void {
    if (closed !== undefined) throw new StorageError('unavailable', 'the database is closed')
  }

  function translated (error: unknown): unknown {
    if (error instanceof StorageError || error instanceof TypeError) return error
    return new StorageError('unavailable', 'the database refuses to write', { driverCode: String(Object(error).code) })
  }

  return {
    root,
    requireOpen,
    /** Reads the newest state: without a reset a look could miss what another process has written just before. */
    async read<Result>(look: () => Result): Promise<Result> {
      requireOpen()
      root.resetReadTxn()
      return look()
    },
    /** Runs work that nothing comes between, in this process and in others. A throw takes back all of it. */
    async write<Result>(work: () => Result): Promise<Result> {
      requireOpen()
      return root.childTransaction(work).catch((error: unknown) => { throw translated(error) })
    },
    close: (): Promise<void> => (closed ??= root.close())
  }
}

export type LmdbDatabase = ReturnType<typeof openDatabase>
