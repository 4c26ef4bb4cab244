// Clocks that go wrong.
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { everywhere, first } from '../lib/setups.mjs'
import { shimmed, skipShim } from '../lib/shim.mjs'

const DAY_S = 24 * 60 * 60

export default [
  {
    name: 'clock moved',
    what: 'the time of day jumps a day back, 30 days ahead, back to now, and a second to and fro: nothing fails',
    on: first(everywhere),
    quick: ['sqlite'],
    skip: skipShim,
    env: ({ directory }) => shimmed({ SHIM_CLOCK: join(directory, 'clock') }),
    async begin ({ directory, services }) {
      await writeFile(join(directory, 'clock'), Buffer.alloc(8))
      for (const each of services) await each.start()
    },
    async run ({ directory, acknowledged }) {
      const file = await open(join(directory, 'clock'), 'r+')
      const offset = Buffer.alloc(8)
      for (const seconds of [0, -DAY_S, 30 * DAY_S, 0, -1, 1, 0]) {
        offset.writeBigInt64LE(BigInt(seconds))
        // In place: the process has the file in its memory.
        await file.write(offset, 0, 8, 0)
        await acknowledged(100)
      }
      await file.close()
    }
  }
]
