import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import type { FieldsJsonSchema } from 'fastify-users'
import ts from 'typescript'
import { plainNode } from '../plain-node.ts'
import { at, type Block, type Page, ROOT } from './pages.ts'

const COMPILER = join(ROOT, 'node_modules', 'typescript-7', 'bin', 'tsc')
const OPTIONS = {
  target: 'es2023',
  module: 'nodenext',
  moduleDetection: 'force',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  rewriteRelativeImportExtensions: true
}

/** Where the fields are declared that blocks `ts fields` have. */
const FIELDS = 'docs/your-own-fields.md/fields.ts'

/** What blocks of each kind that is run have, with its types. */
const GIVEN = {
  app: { app: "import('fastify').FastifyInstance", key: 'string', console: 'Console' },
  host: { app: "import('fastify').FastifyInstance", key: 'string', console: 'Console', knex: "import('knex').Knex" },
  fields: { app: "import('fastify').FastifyInstance", key: 'string', console: 'Console' }
}

export type RunKind = keyof typeof GIVEN

export function isRunKind (kind: string): kind is RunKind {
  return Object.hasOwn(GIVEN, kind)
}

/** A block as a module of the project. */
interface Module {
  block: Block
  /** Path from the root of the project: each page is a folder. */
  path: string
  text: string
  /** Lines that stand before those of the block. */
  shift: number
}

/**
 * Makes the statements of a block a module that exports a function of what they have. Imports go to the first line.
 * The statements have a scope of their own, so they may declare `app` or `key` anew.
 */
function wrap ({ text }: Block, kind: RunKind): string {
  const source = ts.createSourceFile('block.ts', text, ts.ScriptTarget.ES2023)
  const imports = source.statements.filter(ts.isImportDeclaration).map((each) => each.getText(source))
  const statements = imports.reduce((left, each) => left.replace(each, each.replace(/[^\n]/g, '')), text)
  const first = [
    "import 'fastify-users'",
    ...(text.includes('node:assert') ? [] : ["import assert from 'node:assert/strict'"]),
    ...(kind === 'fields' ? [`import '../../${FIELDS}'`] : []),
    ...imports.map((each) => each.replaceAll('\n', ' '))
  ]
  const names = Object.keys(GIVEN[kind]).join(', ')
  const types = Object.entries(GIVEN[kind]).map(([name, type]) => `${name}: ${type}`).join(', ')
  return `${first.join('; ')}; export default async ({ ${names} }: { ${types} }) => { {\n${statements}\n} }\n`
}

/**
 * The blocks as modules. One whose first line is a comment with a file name, `// fields.ts`, has that name, by which
 * the others of its page can import it; of two with one name the first has it.
 */
function modulesOf (blocks: readonly Block[]): Module[] {
  const taken = new Set<string>()
  return blocks.map((block) => {
    const { page, line, kind, text } = block
    const [, name = ''] = /^\/\/ ([\w-]+\.ts)\n/.exec(text) ?? []
    const path = name === '' || taken.has(`${page}/${name}`) ? `${page}/line-${line}.ts` : `${page}/${name}`
    taken.add(path)
    return isRunKind(kind) ? { block, path, text: wrap(block, kind), shift: 1 } : { block, path, text, shift: 0 }
  })
}

/** Which modules with `declare module` this one sees: itself, or those that it imports. */
function augmentationsOf ({ path, text }: Module, modules: readonly Module[]): string {
  const specifiers = [...text.matchAll(/(?:from|import) '(\.[^']+)'/g)].map(([, specifier = '']) => specifier)
  // An import may name the JavaScript that a module becomes.
  const imported = specifiers.map((specifier) => posix.join(posix.dirname(path), specifier.replace(/\.js$/, '.ts')))
  const paths = [path, ...imported]
  const seen = modules.filter((each) => paths.includes(each.path) && each.text.includes('declare module'))
  // What hosts add to Fastify's own types has a name for each, so they do not meet in one program.
  const isOfFastify = seen.length > 0 && seen.every((each) => !each.text.includes("declare module 'fastify-users"))
  return isOfFastify ? 'fastify' : seen.map((each) => each.path).join(' ')
}

/** Writes the modules into a project that has fastify-users, and whatever this repository has, installed. */
async function writeProject (root: string, modules: readonly Module[]): Promise<string> {
  const folder = join(root, 'project')
  await mkdir(join(folder, 'node_modules'), { recursive: true })
  await symlink(ROOT, join(folder, 'node_modules', 'fastify-users'))
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
  // In a project of a user's some file imports the package; a block that only augments it does not.
  await writeFile(join(folder, 'index.ts'), "import 'fastify-users'\n")
  for (const { path, text } of modules) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}

/** Compiles modules as one program, which writes their JavaScript, and gives what is wrong with them. */
async function compile (folder: string, name: string, modules: readonly Module[]): Promise<string[]> {
  const files = ['index.ts', ...modules.map(({ path }) => path)]
  await writeFile(join(folder, name), JSON.stringify({ compilerOptions: OPTIONS, files }))
  const [node, args] = plainNode(COMPILER, '-p', name, '--pretty', 'false')
  const child = spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => { output += text })
  await once(child, 'close')
  // What follows is indented, and says more of the fault.
  const faults = output.split(/\n(?! |$)/).filter((text) => text.trim() !== '')
  return faults.map((fault) => {
    const [, path, line, message = ''] = /^(.+?)\((\d+),\d+\): error \w+: (.*)/s.exec(fault) ?? []
    const wrong = modules.find((each) => each.path === path)
    if (wrong === undefined) return fault
    const { block, shift } = wrong
    return `${at({ page: block.page, line: block.line + Number(line) - shift })}: ${message.trim()}`
  })
}

/** A project with the TypeScript of the pages, compiled. */
export interface Project {
  /** What does not compile, each with its page and line. */
  faults: string[]
  /** The module that a block has become, of a kind that is run. */
  load (block: Block): Promise<{ default: (given: object) => Promise<void> }>
  /** The fields of the blocks `ts fields`. */
  loadFields (): Promise<FieldsJsonSchema>
  remove (): Promise<void>
}

/** Compiles every TypeScript block of the pages. */
export async function compileBlocks (pages: readonly Page[]): Promise<Project> {
  const root = await mkdtemp(join(tmpdir(), 'fastify-users-docs-'))
  const modules = modulesOf(pages.flatMap((page) => page.blocks.filter(({ language }) => language === 'ts')))
  const folder = await writeProject(root, modules)
  // `declare module` reaches every file of a program, so what sees one is a program apart.
  const programs = new Map<string, Module[]>()
  for (const each of modules) {
    const seen = augmentationsOf(each, modules)
    programs.set(seen, [...programs.get(seen) ?? [], each])
  }
  const compiled = [...programs.values()].map((each, i) => compile(folder, `program-${i}.json`, each))
  const faults = (await Promise.all(compiled)).flat()
  const load = (path: string) => import(join(folder, path.replace(/\.ts$/, '.js')))
  return {
    faults,
    load: async (block) => load(modules.find((each) => each.block === block)?.path ?? ''),
    loadFields: async () => (await load(FIELDS)).fields,
    remove: () => rm(root, { recursive: true })
  }
}
