// Removes directories of build output, on every operating system: node scripts/clean.mjs dist
import { rmSync } from 'node:fs'

for (const directory of process.argv.slice(2)) rmSync(directory, { recursive: true, force: true })
