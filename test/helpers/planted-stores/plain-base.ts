import { setImmediate as turn } from 'node:timers/promises'
import { StorageError } from '../../../lib/storage/storage-error.ts'
import type {
  JsonObject, Page, PageRequest, SchemaRequirements, UserChanges, UserRecord
} from '../../../lib/storage/storage.ts'
import { Database, type HostTransaction, type Session, type State } from './state.ts'

/** Reads, writes, pages and the schema: what users and API keys share. */
export class PlainBase {
  name = 'plain'
  supports = { transactions: true, eventLog: false, batches: false }
  readonly database = new Database()
  readonly session: Session = this.database
  readonly schema = { migrated: false, required: new Set<string>(), unique: new Set<string>() }

  async turn (): Promise<void> {
    await turn()
  }

  async begin (): Promise<HostTransaction> {
    const transaction = await this.database.begin()
    return { transaction, commit: () => transaction.commit(), rollback: () => transaction.rollback() }
  }

  /** A read of one moment. */
  async read<T> (step: (state: State) => T): Promise<T> {
    await this.turn()
    return step(this.session.state)
  }

  /** A check and the write that depends on it, in one step. */
  async write<C, T> (_method: string, check: (state: State) => C, apply: (state: State, checked: C) => T): Promise<T> {
    await this.turn()
    await this.session.free()
    return apply(this.session.state, check(this.session.state))
  }

  async check ({ filterable = [], unique = [] }: SchemaRequirements = {}): Promise<void> {
    await this.turn()
    const { migrated, required, unique: isUnique } = this.schema
    const isFound = filterable.every((name) => required.has(name) || isUnique.has(name))
    if (migrated && isFound && unique.every((name) => isUnique.has(name))) return
    throw new StorageError('schema_behind', 'the schema lacks something')
  }

  async migrate ({ filterable = [] }: SchemaRequirements = {}): Promise<void> {
    await this.turn()
    this.schema.migrated = true
    for (const name of filterable) this.schema.required.add(name)
  }

  async close (): Promise<void> {
    await this.turn()
  }

  find<Row> (rows: Map<string, Row>, id: string): Row | null {
    return rows.get(id) ?? null
  }

  sameText (given: string, stored: string): boolean {
    return given === stored
  }

  sameFields (given: JsonObject, stored: JsonObject): boolean {
    return JSON.stringify(given) === JSON.stringify(stored)
  }

  sameStatus ({ status, statusReason }: UserChanges, stored: UserRecord): boolean {
    return [undefined, stored.status].includes(status) && [undefined, stored.statusReason].includes(statusReason)
  }

  compareIds (a: string, b: string): number {
    return a < b ? -1 : a > b ? 1 : 0
  }

  sort<Item extends { id: string }> (items: Item[], order: 'asc' | 'desc'): Item[] {
    const sign = order === 'asc' ? 1 : -1
    return items.toSorted((a, b) => sign * this.compareIds(a.id, b.id))
  }

  after<Item extends { id: string }> (sorted: Item[], id: string, order: 'asc' | 'desc'): Item[] {
    const sign = order === 'asc' ? 1 : -1
    return sorted.filter((item) => sign * this.compareIds(item.id, id) > 0)
  }

  skip<Item extends { id: string }> (sorted: Item[], offset: number, _limit: number): Item[] {
    return sorted.slice(offset)
  }

  pageOf<Item extends { id: string }> (matching: Item[], { order, limit, from }: PageRequest): Page<Item> {
    const sorted = this.sort(matching, order)
    const rest = 'offset' in from ? this.skip(sorted, from.offset, limit) : this.after(sorted, from.after, order)
    return { items: rest.slice(0, limit), total: matching.length }
  }
}
