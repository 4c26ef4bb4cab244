import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/**
 * From /proc/<pid>/stat: the parent of a process, its CPU time in microseconds, and that of its children that have
 * ended. Null if there is no such process.
 */
function stat (pid) {
  try {
    // The name may contain spaces and parentheses, so fields are counted from its end.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
    const time = (user, system) => (Number(fields[user]) + Number(fields[system])) * 1e6 / TICKS
    return { parent: Number(fields[1]), cpu: time(11, 12), ended: time(13, 14) }
  } catch {
    return null
  }
}

/**
 * CPU time of a process in microseconds; NaN on systems without /proc. `children`: adds that of its children, since
 * PostgreSQL has a process for each connection.
 */
export function cpuOf (pid, { children = false } = {}) {
  const own = stat(pid)
  if (own === null) return NaN
  if (!children) return own.cpu
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(stat)
  return all.reduce((sum, each) => each?.parent === pid ? sum + each.cpu : sum, own.cpu + own.ended)
}
