import type { Param } from './driver.ts'

type Rows = Array<Record<string, unknown>>
type Names = Record<string, string | undefined>

/** The protocol of a connection of pg. */
interface Protocol {
  stream: { cork (): void, uncork (): void }
  /** The texts of the named statements that the server has, and of those that were sent. */
  parsedStatements: Names
  submittedNamedStatements: Names
  query (text: string): void
  parse (statement: { text: string, name: string | undefined }): void
  bind (portal: { statement: string | undefined, values: ReadonlyArray<string | null> }): void
  describe (what: { type: 'P', name: string }): void
  execute (portal: object): void
  sync (): void
  sendCopyFail (why: string): void
}

const METHODS = ['query', 'parse', 'bind', 'describe', 'execute', 'sync', 'sendCopyFail']
const MEMBERS = ['stream', 'parsedStatements', 'submittedNamedStatements']
const fit = new WeakMap<object, boolean>()

/** True if a connection takes these statements: of pg, and not one that sends several before their answers. */
export function takesStatements (connection: object): boolean {
  const known = fit.get(connection)
  if (known !== undefined) return known
  const { connection: protocol, pipeline } = Object(connection)
  const isFit = typeof protocol === 'object' && protocol !== null && pipeline !== true &&
    METHODS.every((name) => typeof protocol[name] === 'function') &&
    MEMBERS.every((name) => typeof protocol[name] === 'object')
  fit.set(connection, isFit)
  return isFit
}

/** A value in the text format; of a list, an array's. */
function textOf (value: Param): string | null {
  if (typeof value === 'string') return value
  if (value === null || typeof value === 'number') return value === null ? null : String(value)
  return `{${value.map(itemOf).join(',')}}`
}

function itemOf (value: Param): string {
  const text = textOf(value)
  if (text === null) return 'NULL'
  return Array.isArray(value) ? text : `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}

// A host may have set parsers on the driver, which apply to the whole process.
const textOnly = { getTypeParser: () => (text: string) => text }

type Callback = (error: unknown, answer: Rows | { rows: Rows }) => void

// By the name of a prepared statement. Its columns can't change: PostgreSQL would refuse to run it.
const columnsOf = new WeakMap<Protocol, Map<string, readonly string[]>>()

function keptOf (protocol: Protocol): Map<string, readonly string[]> {
  const kept = columnsOf.get(protocol) ?? new Map<string, readonly string[]>()
  columnsOf.set(protocol, kept)
  return kept
}

/**
 * A statement for `Client#query` of pg, which takes objects with `submit`, such as those of pg-cursor. All values are
 * text. pg's own statement copies its settings, asks for the columns of a prepared statement each time, and
 * has a parser for each value: a look-up of one client took 0.49 ms instead of 0.33. Read in pg 8.23.1;
 * `test/adapters/pg-internals.test.ts` fails if any of it changes.
 */
export class TextStatement {
  // The public members are those of pg's own statements, because tracers of pg may copy a statement.
  text: string
  readonly name: string | undefined
  values: readonly Param[]
  readonly types = textOnly
  /** Called once, with rows or with a result of pg. pg and those who trace it replace it. */
  callback: Callback
  #columns: readonly string[] | null = null
  #rows: Rows = []
  #kept: Map<string, readonly string[]> | null = null

  /** `name`: the statement is prepared under this name at its first use on a connection. */
  constructor (text: string, name: string | undefined, values: readonly Param[], callback: Callback) {
    this.text = text
    this.name = name
    this.values = values
    this.callback = callback
  }

  submit (protocol: Protocol): null {
    const { name, text } = this
    if (name === undefined && this.values.length === 0) {
      protocol.query(text)
      return null
    }
    const { stream, parsedStatements, submittedNamedStatements } = protocol
    // As one piece.
    stream.cork()
    try {
      if (name === undefined) {
        protocol.parse({ text, name })
      } else {
        this.#kept = keptOf(protocol)
        this.#columns = this.#kept.get(name) ?? null
        if (parsedStatements[name] === undefined && submittedNamedStatements[name] === undefined) {
          protocol.parse({ text, name })
          submittedNamedStatements[name] = text
        }
      }
      protocol.bind({ statement: name, values: this.values.map(textOf) })
      if (this.#columns === null) protocol.describe({ type: 'P', name: '' })
      protocol.execute({})
      protocol.sync()
    } finally {
      stream.uncork()
    }
    return null
  }

  handleRowDescription ({ fields }: { fields: ReadonlyArray<{ name: string }> }): void {
    this.#know(fields.map(({ name }) => name))
  }

  handleDataRow ({ fields }: { fields: ReadonlyArray<string | null> }): void {
    const row: Record<string, unknown> = {}
    let i = 0
    for (const column of this.#columns ?? []) row[column] = fields[i++]
    this.#rows.push(row)
  }

  handleReadyForQuery (): void {
    const rows = this.#rows
    if (this.#columns === null) this.#know([])
    this.#empty()
    this.callback(null, rows)
  }

  handleError (error: unknown): void {
    this.#empty()
    this.callback(error, [])
  }

  handleCommandComplete (): void {}
  handleEmptyQuery (): void {}
  handlePortalSuspended (): void {}
  handleCopyData (): void {}

  handleCopyInResponse (protocol: Protocol): void {
    protocol.sendCopyFail('nothing is copied')
  }

  #know (columns: readonly string[]): void {
    this.#columns = columns
    if (this.name !== undefined) this.#kept?.set(this.name, columns)
  }

  /**
   * In V8's old space a statement that is garbage keeps the next ones alive until a full collection, with all that they
   * hold. In an import that was 400 KB every 60 ms; of emptied ones it is 30.
   */
  #empty (): void {
    this.#rows = []
    this.values = []
  }
}
