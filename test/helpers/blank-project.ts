import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import root, { type Test } from 'tap'
import { temporaryDirectory } from './stores.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const FIXTURES = join(ROOT, 'test', 'acceptance', 'fixtures')
const run = promisify(execFile)

// Without what npm and tap have set for this process. tap adds its own NODE_OPTIONS to every child, so `env -u` removes
// them.
const ownEnv = () => Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(?:npm_(?:package|lifecycle|command)|_?TAP)/.test(name))
)
/** Runs a command in a project. */
export const command = (cwd: string, ...args: readonly string[]) =>
  run('env', ['-u', 'NODE_OPTIONS', ...args], { cwd, env: ownEnv() })

async function versionOf (name: string): Promise<string> {
  return JSON.parse(await readFile(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version
}

/** Runs a program in a project: what it printed. If it fails, the error shows that. */
export async function node (cwd: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await command(cwd, process.execPath, ...args)
    return stdout
  } catch (error) {
    const { stdout, stderr } = Object(error)
    throw new Error(`node ${args.join(' ')}:\n${stdout}${stderr}`)
  }
}

/** The compilers that users have: their names in a blank project, and what npm installs. */
export const compilers = {
  typescript: 'typescript',
  'typescript-5': 'typescript-5@npm:typescript@5.9.3',
  'typescript-7': 'typescript-7@npm:typescript@7.0.2'
}

/** Types of a Node.js that is newer than ours: what npm installs. */
export const newestNodeTypes = '@types/node@npm:@types/node@26.6.6'

/** Packs the package from the existing build, because a new build would remove files that other tests use. */
async function packNow (): Promise<{ path: string; files: string[] }> {
  const directory = await temporaryDirectory(root)
  const { stdout } = await command(ROOT, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', directory)
  const [{ filename, files }] = JSON.parse(stdout)
  return { path: join(directory, filename), files: files.map(({ path }: { path: string }) => path) }
}

let packed: ReturnType<typeof packNow> | undefined

/** The tarball of the package, which all tests of a process share, and the files in it. */
export const pack = (): ReturnType<typeof packNow> => (packed ??= packNow())

/**
 * A blank project with the tarball and these packages, in the versions of the suite. It is removed with the test.
 * `links`: packages that are linked from the suite.
 */
export async function blankProject (
  t: Test,
  packages: readonly string[],
  { links = [], args = [] }: { links?: readonly string[]; args?: readonly string[] } = {}
): Promise<string> {
  const directory = await temporaryDirectory(t)
  const { path } = await pack()
  const cwd = join(directory, 'blank')
  await mkdir(cwd)
  await writeFile(join(cwd, 'package.json'), JSON.stringify({ name: 'blank', private: true }))
  const pinned = await Promise.all(
    packages.map(async (each) => (each.includes('@npm:') ? each : `${each}@${await versionOf(each)}`))
  )
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline']
  await command(cwd, 'npm', 'install', ...quietly, ...args, path, ...pinned)
  // A driver is compiled once, for the suite.
  for (const name of links) {
    await symlink(await realpath(join(ROOT, 'node_modules', name)), join(cwd, 'node_modules', name))
  }
  return cwd
}

/** Adds the files of a fixture to a project, in a folder of its own. */
export async function addFixture (
  cwd: string, fixture: string, type: 'module' | 'commonjs', folder = fixture
): Promise<string> {
  const target = join(cwd, folder)
  await cp(join(FIXTURES, fixture), target, { recursive: true })
  await writeFile(join(target, 'package.json'), JSON.stringify({ private: true, type }))
  return target
}

/** Compiles files of a folder of a project with one of its compilers; the packages' own types are checked too. */
export async function compile (
  cwd: string, folder: string, compiler: string, files: readonly string[], options: object
): Promise<void> {
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
    resolveJsonModule: true,
    ...options
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  await node(folder, join(cwd, 'node_modules', compiler, 'bin', 'tsc'), '-p', '.')
}

/** Checks that node:test reported so many tests, and that all of them passed. */
export function passes (t: Test, output: string, cases: number): void {
  t.match(output, new RegExp(`^# pass ${cases}$`, 'm'))
  t.match(output, /^# fail 0$/m)
}
