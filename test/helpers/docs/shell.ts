import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Answer } from './answers.ts'
import { checkCommand, type Command, commandsOf, isRun } from './commands.ts'
import type { Block } from './pages.ts'
import type { Sandbox, ServiceKind } from './sandbox.ts'

/**
 * What stands before each command: the variables of the commands before it, a `curl` that writes down what was
 * answered, and an `npx` that has the command line of this repository run by `command-line.mjs`.
 */
const BEFORE = `
[ ! -f .variables ] || . ./.variables 2>/dev/null
curl () {
  echo >> .requests
  command curl --silent --show-error --dump-header .head "$@" > .body; local code=$?
  cat .body
  return $code
}
npx () {
  shift
  eval "$({ env -0; printf '\\0'; printf '%s\\0' "$@"; } | command curl --silent --data-binary @- "$COMMAND_LINE")"
}
`
const BEHIND = '\ncode=$?\ndeclare -p > .variables\nexit $code\n'

/** A variable that gets an example of a page: it has the test's own value already. */
const EXAMPLE = /^(?:export )?(?:ID|KEY|KEY_ID|ETAG)=['"]?(?:(?:usr|key|uk)_|…)/

function quoted (text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

function parseAnswer (head: string, output: string): Answer {
  const [last = ''] = head.trim().split(/\r?\n\r?\n/).slice(-1)
  const [statusLine = '', ...lines] = last.split(/\r?\n/)
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
  })
  // With -i and -I what is printed begins with the headers.
  const body = output.startsWith(head) ? output.slice(head.length) : output
  return { status: Number(statusLine.split(' ')[1]), statusLine: statusLine.trim(), headers: new Map(headers), body }
}

/** What came of commands: how many requests were sent by `curl`, and the last answer. */
export interface Outcome {
  requests: number
  answer: Answer | null
}

/**
 * Makes the runner of a page's blocks of `sh`. `known`: the real ids and keys by those that the page shows instead.
 * @throws Error for a command that is wrong, or fails, with what it said
 */
export function createShell (sandbox: Sandbox, known: ReadonlyMap<string, string>): (block: Block) => Promise<Outcome> {
  // Variables that the next command gets, beside those of the commands before it.
  const variables = new Map<string, string>()
  let hasKey = false

  const read = (name: string): Promise<string> => readFile(join(sandbox.directory, name), 'utf8').catch(() => '')
  const forget = (name: string): Promise<void> => rm(join(sandbox.directory, name), { force: true })

  /** A command with the test's addresses and ids in place of the page's. */
  async function localised (text: string, origin: string): Promise<string> {
    // One that begins with another comes first.
    const shown = [...known].sort(([a], [b]) => b.length - a.length)
    const local = shown.reduce((left, [id, real]) => left.replaceAll(id, real), text)
      .replaceAll('http://127.0.0.1:3000', origin)
      .replaceAll('usr_…', '$ID')
      .replaceAll('key_…', '$KEY_ID')
    const database = /postgres(?:ql)?:\/\/[^\s'"]+/
    return database.test(local) ? local.replace(database, await sandbox.postgresUrl()) : local
  }

  async function bash (script: string): Promise<{ code: number, output: string }> {
    const { directory: cwd, commandLine } = sandbox
    const env = {
      PATH: process.env['PATH'], HOME: cwd, DATABASE_URL: 'sqlite:data/users.db', COMMAND_LINE: commandLine
    }
    const child = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => { output += String(chunk) })
    const [code] = await once(child, 'close')
    return { code, output }
  }

  async function run ({ text }: Command, kind: ServiceKind): Promise<Outcome> {
    const { origin, key } = await sandbox.service(kind)
    if (!hasKey) variables.set('KEY', key)
    hasKey = true
    if (EXAMPLE.test(text)) return { requests: 0, answer: null }
    await Promise.all(['.requests', '.head', '.body'].map(forget))
    const assignments = [...variables].map(([name, value]) => `${name}=${quoted(value)}\n`).join('')
    variables.clear()
    const { code, output } = await bash(BEFORE + assignments + await localised(text, origin) + BEHIND)
    const [, expected = '0'] = /#.*\bexit code (\d)/.exec(text) ?? []
    if (code !== Number(expected)) throw new Error(`${text} ended with ${code}:\n${output}`)
    const [made] = /\bkey_[0-9a-z]{26}\b/.exec(output) ?? []
    if (made !== undefined && /keys (?:create|rotate)/.test(text)) variables.set('KEY_ID', made)
    const head = await read('.head')
    const requests = (await read('.requests')).length
    return { requests, answer: head === '' ? null : parseAnswer(head, await read('.body')) }
  }

  /** Keeps what the next commands are to have of an answer. */
  function note ({ status, headers }: Answer): void {
    const etag = headers.get('etag')
    if (etag !== undefined) variables.set('ETAG', etag)
    const [id = ''] = headers.get('location')?.split('/').slice(-1) ?? []
    if (status === 201) variables.set(id.startsWith('key_') ? 'KEY_ID' : 'ID', id)
  }

  return async ({ text, kind }) => {
    const outcome: Outcome = { requests: 0, answer: null }
    for (const command of commandsOf(text)) {
      if (isRun(command)) {
        const { requests, answer } = await run(command, kind === 'fields' ? 'fields' : 'plain')
        outcome.requests += requests
        if (answer !== null) note(outcome.answer = answer)
      } else {
        checkCommand(command)
      }
    }
    return outcome
  }
}
