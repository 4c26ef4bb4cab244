// A machine as the operator's pages have it: systemd, /etc, /srv, /var, below a directory of the test.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import type { Test } from 'tap'
import { freePort } from '../service.ts'
import { ROOT } from './pages.ts'

export interface Machine {
  /** The address of the service. */
  origin: string
  /** Runs commands of a page. `KEY_ID`: what `key_…` stands for. @throws Error with what they printed, if one fails */
  run (commands: string, keyId?: string): Promise<string>
  /** A variable that the commands have set. */
  variable (name: string): Promise<string>
  /** The settings of the service. */
  settings (): Promise<string>
}

// As systemd would, in the foreground: `start` returns when the service answers.
const SYSTEMCTL = `#!/bin/bash
set -u
start () {
  ( set -a; . "$MACHINE/etc/fastify-users.env"; set +a; umask 077
    mkdir -p "$MACHINE/var/lib/fastify-users"; cd "$MACHINE/var/lib/fastify-users"
    exec "$NODE" "$MACHINE/srv/fastify-users/.build/examples/standalone/server.js" >> "$MACHINE/log" 2>&1 ) &
  echo $! > "$MACHINE/pid"
  for _ in $(seq 150); do
    if command curl --silent --fail --output /dev/null "$ORIGIN/ready"; then return 0; fi
    kill -0 "$(cat "$MACHINE/pid")" 2> /dev/null || break
    sleep 0.2
  done
  echo 'the service does not start'; tail -n 20 "$MACHINE/log"; return 1
}
stop () {
  kill "$(cat "$MACHINE/pid")"
  for _ in $(seq 600); do kill -0 "$(cat "$MACHINE/pid")" 2> /dev/null || return 0; sleep 0.05; done
  return 1
}
case "$1" in start) start ;; stop) stop ;; restart) stop && start ;; *) exit 2 ;; esac
`
// Node.js 20 has no SQLite: the driver of this repository is linked into a new installation.
const NODE = `#!/bin/bash
"$NODE" "$@" || exit
if [ "$1" = scripts/production.mjs ] && [ -n "$DRIVERS" ]; then
  for name in @photostructure node-gyp-build; do
    [ -e "$2/node_modules/$name" ] || ln -s "$DRIVERS/$name" "$2/node_modules/$name"
  done
fi
`

/** Makes a machine whose service has these settings, and starts it. */
export async function createMachine (t: Test, directory: string, settings: Record<string, string>): Promise<Machine> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  for (const path of ['bin', 'etc', 'srv', 'var/lib/fastify-users', 'var/backups']) {
    await mkdir(join(directory, path), { recursive: true })
  }
  for (const [name, text] of Object.entries({ systemctl: SYSTEMCTL, node: NODE })) {
    await writeFile(join(directory, 'bin', name), text)
    await chmod(join(directory, 'bin', name), 0o755)
  }
  await symlink(ROOT, join(directory, 'srv', 'fastify-users'))
  await symlink(ROOT, join(directory, 'srv', 'fastify-users-source'))
  const env = join(directory, 'etc', 'fastify-users.env')
  const local = (text: string): string => text.replace(/(?<![\w.])\/(?=(?:etc|srv|var)\b)/g, `${directory}/`)
  await writeFile(env, Object.entries({ PORT: String(port), LOG_LEVEL: 'warn', ...settings })
    .map(([name, value]) => `${name}=${local(value)}\n`).join(''))

  async function run (commands: string, keyId = ''): Promise<string> {
    const script = 'set -e\ncd "$MACHINE"\n[ ! -f variables ] || . ./variables 2> /dev/null\n' +
      local(commands).replaceAll('http://127.0.0.1:3000', origin).replaceAll('key_…', keyId) +
      '\ndeclare -p KEY NEXT > "$MACHINE/variables" 2> /dev/null || true\n'
    const child = spawn('bash', ['-c', script], {
      env: {
        PATH: `${directory}/bin:${process.env['PATH']}`,
        HOME: String(process.env['HOME']),
        MACHINE: directory,
        NODE: process.execPath,
        ORIGIN: origin,
        DRIVERS: isBuiltin('node:sqlite') ? '' : join(ROOT, 'node_modules')
      },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { output += String(chunk) })
    // The service that it may have started keeps its streams to the log, so this ends with the commands.
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`${commands}\nended with ${code}:\n${output}`)
    return output
  }

  t.teardown(() => run('kill -9 "$(cat pid)" 2> /dev/null || true'))
  await run('systemctl start fastify-users')
  return {
    origin,
    run,
    variable: async (name) =>
      new RegExp(`\\b${name}="([^"]*)"`).exec(await readFile(join(directory, 'variables'), 'utf8'))?.[1] ?? '',
    settings: () => readFile(env, 'utf8')
  }
}
