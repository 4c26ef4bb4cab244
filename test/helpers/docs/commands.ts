import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './pages.ts'

/** A command of a block of `sh`: a line, or several that belong together. */
export interface Command {
  text: string
  /** The text without comments, and with `_` in place of what is quoted. */
  bare: string
}

// What is quoted or escaped, and comments.
const QUOTED = /'[^']*'|"(?:[^"\\]|\\.)*"|\\.|(?<=^|\s)#.*/gm

function bareOf (text: string): string {
  return text.replace(QUOTED, (found) => found.startsWith('#') ? '' : '_').trim()
}

/** Takes a block of `sh` apart. @throws Error for a quote that is never closed */
export function commandsOf (text: string): Command[] {
  const commands: Command[] = []
  let open = ''
  for (const line of text.split('\n')) {
    open += open === '' ? line : `\n${line}`
    const bare = bareOf(open)
    const goesOn = open.endsWith('\\') || /['"]/.test(bare) || (/^for\b/.test(bare) && !/\bdone$/.test(bare))
    if (goesOn) continue
    if (bare !== '') commands.push({ text: open, bare: bare.replaceAll('\\\n', ' ') })
    open = ''
  }
  if (open !== '') throw new Error('a quote is never closed, or the last line ends with a backslash')
  return commands
}

/** Whether a command is run: it asks the service, is the package's command line, or makes what these need. */
export function isRun ({ bare, text }: Command): boolean {
  return /\bcurl\b|\bnpx fastify-users\b/.test(text) || /^(?:export )?(?:\w+=\S*\s*)+$/.test(bare) ||
    /^echo _ > [\w-]+\.json$/.test(bare)
}

/** Commands of readers that are neither run nor judged. A name that is not here is taken for a mistake. */
const NOT_RUN = new Set([
  'apt', 'apt-get', 'brew', 'cat', 'cd', 'comm', 'cp', 'docker', 'echo', 'git', 'install', 'journalctl', 'kill',
  'mkdir', 'mv', 'openssl', 'pg_dump', 'pg_restore', 'printf', 'psql', 'rm', 'sed', 'sort', 'sqlite3', 'systemctl',
  'tail', 'tr'
])

interface Manifest {
  name: string
  scripts: object
  dependencies: object
  devDependencies: object
  peerDependencies: object
}

const manifest: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const { dependencies, devDependencies, peerDependencies } = manifest
const packages = new Set([manifest.name, ...Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies })])

function checkPackages (words: readonly string[]): void {
  for (const word of words.filter((each) => !each.startsWith('-'))) {
    const name = word.replace(/(?<=.)@.*/, '')
    if (!packages.has(name)) throw new Error(`the package ${name} is unknown here`)
  }
}

function checkScript (name = ''): void {
  if (!Object.hasOwn(manifest.scripts, name)) throw new Error(`package.json has no script ${name}`)
}

/** Paths into a folder of this repository must lead to something; an option's value may be a file to be made. */
function checkFiles (words: readonly string[]): void {
  for (const word of words.filter((_, i) => !/^--?\w/.test(words[i - 1] ?? ''))) {
    const [folder = '', ...rest] = word.split('/')
    const isOurs = rest.length > 0 && /^\w/.test(folder) && existsSync(join(ROOT, folder))
    if (isOurs && !existsSync(join(ROOT, word))) throw new Error(`there is no ${word}`)
  }
}

function checkNpm ([verb = '', ...words]: readonly string[]): void {
  if (['install', 'i', 'add', 'uninstall', 'update'].includes(verb)) checkPackages(words)
  else if (verb === 'run') checkScript(words[0])
  else if (verb === 'start' || verb === 'test') checkScript(verb)
  else if (!['audit', 'ci', 'init', 'ls', 'outdated'].includes(verb)) throw new Error(`npm ${verb} is unknown here`)
  checkFiles(words)
}

/** Judges a command that is not run: its scripts, packages and files must exist. @throws Error for what does not */
export function checkCommand ({ bare }: Command): void {
  for (const part of bare.split(/&&|\|\||[;|\n]/)) {
    const words = part.trim().split(/\s+/)
    const first = words.findIndex((word) => !/^\w+=/.test(word) && word !== 'sudo' && word !== 'export')
    const [program = '', ...rest] = words.slice(first)
    if (program === 'npm') checkNpm(rest)
    else if (program === 'npx') checkPackages(rest.slice(0, 1))
    else if (program === 'node') checkFiles(rest)
    else if (program !== '' && !NOT_RUN.has(program)) throw new Error(`the command ${program} is unknown here`)
  }
}
