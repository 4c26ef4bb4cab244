// The service as a process of its own, as its operator runs it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../test/servers/free-port.mjs'
import { openClient } from './http.mjs'
import { until } from './until.mjs'

export const ROOT = join(import.meta.dirname, '..', '..')
export const SERVER = join(ROOT, '.build', 'examples', 'standalone', 'server.js')
/** The static key of the clients. */
export const KEY = 'a-key-of-the-fault-suite-with-32-characters'
const UNHANDLED = /unhandled|uncaught|"level":60|^\s+at .*node:internal|FATAL ERROR/im

/** Makes a service on a port of its own that can be started again and again. `program`: another than the built one. */
export async function createService ({ cwd, env, program = SERVER, nodeOptions = [], wrap = (command) => command }) {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const deaths = []
  let child = null
  let log = ''
  let expected = false

  const service = {
    origin,
    get pid () { return child?.pid },
    log: () => log,
    /** Ends that nobody asked for, and errors that nobody handled. */
    unhandled: () => deaths.length + (UNHANDLED.test(log) ? 1 : 0),
    isUp: () => child !== null && child.exitCode === null && child.signalCode === null,

    async start ({ wait = true } = {}) {
      expected = false
      const [command, ...args] = wrap([process.execPath, ...nodeOptions, program])
      const started = spawn(command, args, {
        cwd,
        stdio: ['ignore', 'ignore', 'pipe'],
        env: {
          PATH: process.env.PATH,
          HOST: '127.0.0.1',
          PORT: String(port),
          API_KEYS: KEY,
          AUTH_FAILURES: '0',
          RATE_LIMIT: '0',
          LOG_LEVEL: 'error',
          ...env
        }
      })
      child = started
      started.stderr.on('data', (chunk) => { log = (log + chunk).slice(-200_000) })
      started.on('exit', (code, signal) => {
        if (!expected && started === child) deaths.push(`${code ?? signal}`)
      })
      if (wait) await service.ready()
    },

    /** Waits until it answers that its store does. */
    async ready (ms = 30_000) {
      const { send, close } = openClient(origin, KEY)
      try {
        await until(`readiness of ${origin}`, async () => {
          if (!service.isUp()) throw new Error(`the service ended: ${log.slice(-2000)}`)
          return send('GET', '/ready', { ms: 10_000 }).then(({ status }) => status === 200, () => false)
        }, ms)
      } finally {
        close()
      }
    },

    /** Ends it with a signal: how long that took, in milliseconds. */
    async stop (signal = 'SIGKILL') {
      if (!service.isUp()) return 0
      const begun = performance.now()
      expected = true
      const ending = once(child, 'exit')
      child.kill(signal)
      await ending
      return performance.now() - begun
    },

    /** It may end by itself from now on. */
    expectEnd () { expected = true },
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),

    /** Memory in MB, and open files. */
    size () {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      return {
        rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024,
        files: readdirSync(`/proc/${child.pid}/fd`).length
      }
    }
  }
  return service
}
