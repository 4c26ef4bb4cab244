/** Bytes in the order in which they came, of which the first ones are dropped. */
export interface ByteQueue {
  add (more: Buffer): void
  /** All that are left. They stay as they are whatever is added. */
  bytes (): Buffer
  drop (count: number): void
}

/**
 * Makes a queue. What is added takes no more than twice its bytes to copy, in whatever parts it comes, if never more
 * than `max` bytes are left when some are added.
 */
export function createByteQueue (max: number): ByteQueue {
  let space: Buffer = Buffer.alloc(0)
  let start = 0
  let end = 0

  return {
    add (more) {
      if (start === end) {
        space = more
        start = 0
        end = more.length
        return
      }
      const length = end - start + more.length
      if (end + more.length > space.length) {
        const larger = Buffer.allocUnsafeSlow(length + Math.min(length, max))
        space.copy(larger, 0, start, end)
        space = larger
        start = 0
        end = length - more.length
      }
      // Only behind the bytes that were given to readers.
      more.copy(space, end)
      end += more.length
    },
    bytes: () => space.subarray(start, end),
    drop (count) { start += count }
  }
}
