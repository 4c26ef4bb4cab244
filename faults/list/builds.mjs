// Two versions of the code on one database, as during an update, and back.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT, SERVER } from '../lib/service.mjs'
import { first, onDisk } from '../lib/setups.mjs'

const QUIETLY = { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }
const git = (...args) => execFileSync('git', args, QUIETLY).trim()

/** The version to compare with: `OLD`, the last release, or the last commit. */
function oldVersion () {
  try {
    if (process.env.OLD !== undefined) return git('rev-parse', process.env.OLD)
    const tag = git('tag', '--list', 'v*', '--sort=-v:refname').split('\n')[0]
    return git('rev-parse', tag === '' ? 'HEAD~1' : `${tag}^{commit}`)
  } catch {
    return null
  }
}

let built

/** Builds the service of an older commit beside this one: its program. */
function buildOld () {
  built ??= (async () => {
    const commit = oldVersion()
    const directory = join(ROOT, '.build', 'faults', commit)
    const program = join(directory, '.build', 'examples', 'standalone', 'server.js')
    if (existsSync(program)) return program
    if (!existsSync(directory)) {
      git('worktree', 'prune')
      git('worktree', 'add', '--detach', '--force', directory, commit)
    }
    await symlink(join(ROOT, 'node_modules'), join(directory, 'node_modules')).catch(() => {})
    for (const script of ['build', 'build:examples']) {
      await promisify(execFile)('npm', ['run', '--silent', script], { cwd: directory })
    }
    return program
  })()
  return built
}

export default [
  {
    name: 'old and new',
    what: 'services of an older commit and of this one on the same tables: beside each other, the new one, and back',
    on: first(onDisk),
    quick: [],
    services: 2,
    skip: () => oldVersion() === null ? 'there is no older commit: fetch the history' : null,
    // The clients ask whoever is there.
    programs: async () => [await buildOld(), SERVER],
    async begin ({ services: [old], notes }) {
      notes.old = oldVersion().slice(0, 8)
      await old.start()
    },
    up: [0],
    async run (scene) {
      const { services, acknowledged, broken, use } = scene
      await acknowledged(100)
      // An update, and the way back.
      for (const [leaving, coming] of [[0, 1], [1, 0]]) {
        await services[coming].start()
        use(0, 1)
        await acknowledged(200)
        use(coming)
        await broken(() => services[leaving].stop('SIGTERM'))
        await acknowledged(100)
      }
      // Both are asked for the users in the end.
      await services[1].start()
    }
  }
]
