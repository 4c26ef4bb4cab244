import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const TICKS = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/** Parent and CPU time of a process in microseconds, and that of its children that have ended, from /proc/<pid>/stat; null where it is gone. */
function stat (pid) {
  try {
    // The name may hold anything, parentheses too: the fields count from behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '').split(' ')
    const time = (user, system) => (Number(fields[user]) + Number(fields[system])) * 1e6 / TICKS
    return { parent: Number(fields[1]), cpu: time(11, 12), ended: time(13, 14) }
  } catch {
    return null
  }
}

/** CPU time of a process in microseconds, and of its children where they belong to it (PostgreSQL has one for each connection). Linux alone tells; elsewhere NaN. */
export function cpuOf (pid, { children = false } = {}) {
  const own = stat(pid)
  if (own === null) return NaN
  if (!children) return own.cpu
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(stat)
  return all.reduce((sum, each) => each?.parent === pid ? sum + each.cpu : sum, own.cpu + own.ended)
}
