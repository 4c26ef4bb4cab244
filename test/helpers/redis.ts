import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { programPath } from '../servers/program.mjs'

/** Where the machine has a Redis, for the tests that need one; undefined where it has none. */
export const redisProgram: string | undefined = programPath('redis-server')

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
