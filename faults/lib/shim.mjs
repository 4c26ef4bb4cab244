// The shim between a process and its files and clocks, compiled on the machine that runs it.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './service.mjs'

const SOURCE = join(ROOT, 'faults', 'shim', 'shim.c')
const LIBRARY = join(ROOT, '.build', 'faults', 'shim.so')
let reason

/** Compiles the shim: why it can't be had here, or null. */
export function skipShim () {
  if (reason !== undefined) return reason
  if (process.platform !== 'linux') {
    reason = 'the shim needs Linux'
    return reason
  }
  mkdirSync(join(ROOT, '.build', 'faults'), { recursive: true })
  const args = ['-shared', '-fPIC', '-O1', '-o', LIBRARY, SOURCE, '-ldl', '-lpthread']
  const { status, error, stderr } = spawnSync('cc', args, { encoding: 'utf8' })
  if (error?.code === 'ENOENT') reason = 'cc is not installed'
  else if (status !== 0) throw new Error(stderr)
  else reason = null
  return reason
}

/** The environment of a process behind the shim. */
export const shimmed = (settings) => ({ LD_PRELOAD: LIBRARY, ...settings })
