// The rooms of docs/architecture.md: imports run one way, by lint rules that name the right room, and in no circle.
import { readdir, readFile } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { ESLint } from 'eslint'
import { test } from 'tap'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = ['lib', 'adapters', 'cli']

interface Source { path: string, text: string }

async function sources (): Promise<Source[]> {
  const found: Source[] = []
  for (const folder of FOLDERS) {
    for (const name of await readdir(join(ROOT, folder), { recursive: true })) {
      if (!name.endsWith('.ts')) continue
      found.push({ path: join(folder, name), text: await readFile(join(ROOT, folder, name), 'utf8') })
    }
  }
  return found
}

/** The files of ours that a file imports. */
function importsOf ({ path, text }: Source): string[] {
  return [...text.matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(([, name = '']) => normalize(join(path, '..', name)))
}

/** The first circle of imports, as a list of files; null if there is none. */
function circleIn (graph: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>()
  function visit (file: string, path: readonly string[]): string[] | null {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file]
    if (done.has(file)) return null
    for (const next of graph.get(file) ?? []) {
      const circle = visit(next, [...path, file])
      if (circle !== null) return circle
    }
    done.add(file)
    return null
  }
  for (const file of graph.keys()) {
    const circle = visit(file, [])
    if (circle !== null) return circle
  }
  return null
}

test('no file imports itself through others', async (t) => {
  t.strictSame(circleIn(new Map([['a', ['b']], ['b', ['c']], ['c', ['b']]])), ['b', 'c', 'b'], 'a circle is found')
  const graph = new Map((await sources()).map((source) => [source.path, importsOf(source)]))
  t.ok([...graph.values()].flat().every((path) => graph.has(path)), 'every import is followed')
  t.equal(circleIn(graph), null)
})

// One of each kind of rule: a room above, a package, adapters, the page, the command line.
const WRONG = [
  { file: 'lib/users/x.ts', from: '../http/body.ts', message: /What needs .* belongs in lib\/http/ },
  { file: 'lib/users/x.ts', from: '../plugin.ts', message: /may import lib\/core, lib\/storage, lib\/fields\./ },
  { file: 'lib/api-keys/x.ts', from: 'fastify', message: /needs Fastify belongs in lib\/http/ },
  { file: 'lib/http/x.ts', from: './limits/rate-limits.ts', message: /belongs in lib\/http\/limits/ },
  { file: 'lib/http/x.ts', from: 'knex', message: /Only adapters\/knex/ },
  { file: 'adapters/testing/x.ts', from: '../knex/storage.ts', message: /lib\/storage, adapters\/memory/ },
  { file: 'adapters/knex/connection/x.ts', from: '../schema/tables.ts', message: /belongs in adapters\/knex\/schema/ },
  { file: 'admin/users/x.ts', from: '../../lib/transfer/columns.ts', message: /may import lib\/admin and lib\/core/ },
  { file: 'cli/x.ts', from: '../lib/http/responses/links.ts', message: /may import no routes/ }
]
const RIGHT = [
  { file: 'lib/operations/x.ts', from: '../users/service.ts' },
  { file: 'lib/http/x.ts', from: 'fastify' },
  { file: 'adapters/knex/counting/x.ts', from: '../../../lib/storage/storage.ts' },
  { file: 'cli/x.ts', from: '../lib/transfer/import.ts' }
]

test('lint refuses an import against the direction, and names the right room', async (t) => {
  const eslint = new ESLint({ cwd: ROOT })
  async function messagesFor ({ file, from }: { file: string, from: string }): Promise<string> {
    const [result] = await eslint.lintText(`import { x } from '${from}'\n\nx()\n`, { filePath: join(ROOT, file) })
    const messages = result?.messages.filter(({ ruleId }) => ruleId === 'no-restricted-imports') ?? []
    return messages.map(({ message }) => message).join('\n')
  }
  for (const each of WRONG) t.match(await messagesFor(each), each.message, `${each.file} imports ${each.from}`)
  for (const each of RIGHT) t.equal(await messagesFor(each), '', `${each.file} imports ${each.from}`)
})
