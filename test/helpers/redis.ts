import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Whether the machine has a Redis, for the tests that need one. */
export const redisProgram = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
  .map((directory) => join(directory, 'redis-server')).find((path) => existsSync(path))

/** Starts a Redis that keeps nothing on the disk and listens on this Unix socket; what ends it. */
export async function startRedis (socket: string): Promise<{ stop: () => Promise<void> }> {
  if (redisProgram === undefined) throw new Error('the machine has no Redis')
  const child = spawn(redisProgram, ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  child.stdout.on('data', (chunk) => { log += String(chunk) })
  while (!log.toLowerCase().includes('ready to accept connections')) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(([code]) => { throw new Error(`Redis ended with ${code}: ${log}`) })])
  }
  return {
    async stop () {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
}
