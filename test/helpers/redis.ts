import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Whether the machine has a Redis, for the tests that need one. */
export const redisProgram = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin', '/opt/homebrew/bin']
  .map((directory) => join(directory, 'redis-server')).find((path) => existsSync(path))

/** Starts a Redis that keeps nothing on the disk: its port, and what ends it. */
export async function startRedis (): Promise<{ port: number, stop: () => Promise<void> }> {
  if (redisProgram === undefined) throw new Error('the machine has no Redis')
  const port = await freePort()
  const child = spawn(redisProgram, ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'], { stdio: ['ignore', 'pipe', 'inherit'] })
  let log = ''
  child.stdout.on('data', (chunk) => { log += String(chunk) })
  while (!log.includes('Ready to accept connections')) {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(([code]) => { throw new Error(`Redis ended with ${code}: ${log}`) })])
  }
  return {
    port,
    async stop () {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
}
