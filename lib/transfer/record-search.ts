const LINE_FEED = 10

/** How far the end of a record has been looked for. */
export interface Search {
  /** Where the record begins. */
  start: number
  /** The next byte to look at. */
  at: number
  /** Whether that byte is within quotation marks. */
  quoted: boolean
  /** Whether there were line feeds within quotation marks. */
  hasLines: boolean
  /** Whether a quotation mark is where none may be. */
  isWrong: boolean
}

const searchFrom = (start: number): Search => ({ start, at: start, quoted: false, hasLines: false, isWrong: false })

/**
 * Looks for the line feed that ends a record, from `search.at` on and before `limit`, and moves `search.at`. True: the
 * line feed is there. False: the search goes on there once there are more bytes.
 */
export type FindEnd = (bytes: Buffer, search: Search, limit: number) => boolean

/** Records end at line feeds. */
export const findLineEnd: FindEnd = (bytes, search, limit) => {
  const length = bytes.subarray(search.at, limit).indexOf(LINE_FEED)
  search.at = length === -1 ? limit : search.at + length
  return length !== -1
}

/**
 * Looks for the ends of records, one after the other. Behind the first line of a record without an end the search
 * begins again. If it is within quotation marks at the end of a line, it goes on where the one before stopped, which
 * was within them there too: so each byte is looked at twice at most.
 */
export class RecordSearch {
  readonly #findEnd: FindEnd
  #search = searchFrom(0)
  /** The search of the last record without an end. */
  #stopped = this.#search

  constructor (findEnd: FindEnd) {
    this.#findEnd = findEnd
  }

  /** The end of the record; -1: not before `limit`. */
  end (bytes: Buffer, limit: number): number {
    const { start, at } = this.#search
    const length = at < this.#stopped.at ? bytes.subarray(at, this.#stopped.at).indexOf(LINE_FEED) : -1
    if (length !== -1) {
      if (this.#findEnd(bytes, this.#search, at + length + 1)) return this.#search.at
      this.#search = { ...this.#stopped, start }
    }
    return this.#findEnd(bytes, this.#search, limit) ? this.#search.at : -1
  }

  /** Whether the record has no end, whatever follows. */
  isBroken (): boolean {
    return this.#search.isWrong && this.#search.hasLines
  }

  /** Whether the last of the bytes is within quotation marks. */
  isQuoted (bytes: Buffer): boolean {
    return this.#search.quoted && this.#search.at === bytes.length
  }

  /** Looks for the end of the record at `start`. */
  begin (start: number): void {
    this.#search = searchFrom(start)
  }

  /** The record has no end. */
  giveUp (): void {
    this.#stopped = this.#search
  }

  /** The first bytes were dropped. */
  shift (count: number): void {
    const shifted = (search: Search): Search =>
      ({ ...search, start: search.start - count, at: search.at - count })
    this.#search = shifted(this.#search)
    this.#stopped = shifted(this.#stopped)
  }
}
