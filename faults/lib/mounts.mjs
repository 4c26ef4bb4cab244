import { execFileSync } from 'node:child_process'

/** Why no file system can be mounted here, or null. */
export function skipMount () {
  if (process.platform !== 'linux') return 'tmpfs needs Linux'
  if (process.getuid() !== 0) return 'mounting tmpfs needs root'
  try {
    const at = '/tmp/fastify-users-faults-mount'
    execFileSync('mkdir', ['-p', at])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at], { stdio: 'ignore' })
    execFileSync('umount', [at])
    return null
  } catch {
    return 'tmpfs cannot be mounted here'
  }
}
