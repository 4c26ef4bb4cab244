import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { programPath } from '../servers/program.mjs'
import { until } from './until.ts'

/** The path of this machine's Redis, for the tests that need one. Undefined if it has none. */
export const redisProgram: string | undefined = programPath('redis-server')

/** Starts a Redis that stores nothing on disk and listens on this Unix socket. */
export async function startRedis (socket: string): Promise<{ stop: () => Promise<void> }> {
  if (redisProgram === undefined) throw new Error('the machine has no Redis')
  const child = spawn(redisProgram, ['--port', '0', '--unixsocket', socket, '--save', '', '--appendonly', 'no'], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  let log = ''
  child.stdout.on('data', (chunk) => {
    log += String(chunk)
  })
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  async function stop (): Promise<void> {
    if (hasEnded()) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  try {
    await until('the start of Redis', () => {
      if (hasEnded()) throw new Error(`Redis exited with ${child.exitCode ?? child.signalCode}: ${log}`)
      return log.toLowerCase().includes('ready to accept connections')
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { stop }
}
