import { cpus } from 'node:os'

/** The processors and the system of this machine, for results. */
export const MACHINE = `${cpus().length} × ${cpus()[0].model.trim()}, ${process.platform}`

/** The same with the version of Node.js, for the first line of a report. */
export const RUNTIME = `node ${process.version}, ${MACHINE}`
