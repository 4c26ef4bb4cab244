// What the shim recorded of a process's files, and what a disk may keep of it when the power goes.
const [OPEN, WRITE, TRUNCATE, SYNC, UNLINK, ANSWER] = [1, 2, 3, 4, 5, 6]
const HEAD = 32
const SECTOR = 512

/** The records, in order. */
export function readLog (buffer) {
  const records = []
  for (let at = 0; at + HEAD <= buffer.length;) {
    const [kind, fd, offset, length] = [0, 8, 16, 24].map((i) => Number(buffer.readBigInt64LE(at + i)))
    const hasBytes = kind !== TRUNCATE && kind !== SYNC
    const bytes = hasBytes ? buffer.subarray(at + HEAD, at + HEAD + length) : null
    records.push({ kind, fd, offset, bytes })
    at += HEAD + (hasBytes ? length : 0)
  }
  return records
}

/** A file as far as it is known to be on the disk, and the writes that may be. */
class DiskFile {
  content = Buffer.alloc(0)
  pending = []

  static apply (content, { kind, offset, bytes }) {
    if (kind === TRUNCATE) return Buffer.from(content.subarray(0, offset))
    const end = offset + bytes.length
    const next = end > content.length ? Buffer.concat([content, Buffer.alloc(end - content.length)]) : content
    bytes.copy(next, offset)
    return next
  }

  sync () {
    for (const each of this.pending) this.content = DiskFile.apply(this.content, each)
    this.pending = []
  }

  /** With some of the writes that were not synced. */
  after (kept) {
    return kept.reduce((content, each) => DiskFile.apply(content, each), Buffer.from(this.content))
  }
}

/** The parts of a write that are atomic on a disk. */
function sectorsOf (write) {
  if (write.kind !== WRITE) return [write]
  const parts = []
  for (let at = 0; at < write.bytes.length; at += SECTOR) {
    parts.push({ kind: WRITE, offset: write.offset + at, bytes: write.bytes.subarray(at, at + SECTOR) })
  }
  return parts
}

/** What a disk may have done with writes that nobody has asked it to keep. */
export const DISKS = {
  'kept nothing': () => [],
  'kept all': (pending) => pending,
  'kept the first ones': (pending, random) => pending.slice(0, random.below(pending.length + 1)),
  'kept some, and parts of some': (pending, random) => pending.flatMap(sectorsOf).filter(() => random.chance(0.5))
}

/**
 * Plays the log. Calls `onAnswer(text, snapshot)` for each answer of success: at that moment what it says must be safe.
 * `snapshot(disk)`: the files that a disk of this kind has, by their paths.
 */
export function playLog (records, random, onAnswer) {
  const paths = new Map()
  const files = new Map()
  const fileOf = (fd) => {
    const path = paths.get(fd)
    if (!files.has(path)) files.set(path, new DiskFile())
    return files.get(path)
  }
  const snapshot = (disk) => new Map([...files].map(([path, file]) =>
    [path, file.after(DISKS[disk](file.pending, random))]))
  for (const record of records) {
    const { kind, fd, bytes } = record
    if (kind === OPEN) paths.set(fd, bytes.toString())
    else if (kind === WRITE || kind === TRUNCATE) fileOf(fd).pending.push(record)
    else if (kind === SYNC) fileOf(fd).sync()
    else if (kind === UNLINK) files.delete(bytes.toString())
    else if (kind === ANSWER) onAnswer(bytes.toString('latin1'), snapshot)
  }
}
