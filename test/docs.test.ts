// Every code block of the README and of docs/ is compiled or run, every answer that they show is asked for, and every
// link is followed. The info string of a block says how it is tested:
//
//   ts                      a module of a user's project; `// name.ts` in its first line names it for imports
//   ts app, host, fields    statements that have app, key, console (and knex), and may use assert
//   sh, sh fields           curl and npx fastify-users are run, other commands are checked
//   sh operator          run by test/operator.test.ts
//   http; json behind sh    the answer to the one curl in the block before
//   json                    well-formed
//   sql pg, sql sqlite      run on a migrated database
//   mermaid, text           a diagram; output that nobody checks
//
// UPDATE=1 npm test -- test/docs.test.ts writes answers that differ into the pages, new ones into empty blocks.
import { t as tap, test } from 'tap'
import { checkPage } from './helpers/docs/check-page.ts'
import { brokenLinks, unreachable } from './helpers/docs/links.ts'
import { at, readPage, readPages } from './helpers/docs/pages.ts'
import { runBlock } from './helpers/docs/run.ts'
import { createSandbox, startCommandLine } from './helpers/docs/sandbox.ts'
import { compileBlocks, isRunKind } from './helpers/docs/typescript.ts'
import { from } from './helpers/level.ts'
import { sqliteDrivers } from './helpers/sqlite.ts'

const KINDS = [
  'ts', 'ts app', 'ts host', 'ts fields', 'sh', 'sh fields', 'sh operator', 'sh operator pg', 'http', 'json',
  'sql pg', 'sql sqlite', 'yaml', 'mermaid', 'text'
]

// Most of the time goes to commands in processes of their own.
tap.jobs = 2
const pages = await readPages()
const project = await compileBlocks(pages)
const commandLine = await startCommandLine()

/** Why a block can't be run on this machine; false if it can. */
function lacking (text: string): string | false {
  const { driver = '', skip = false } = sqliteDrivers.find(({ driver }) => text.includes(`'${driver}'`)) ?? {}
  return skip && `${driver} is not installed: npm run drivers`
}

test('every code block is of a kind that is tested', async (t) => {
  const kinds = pages.flatMap(({ blocks }) => blocks).map((block) => ({
    where: at(block),
    kind: `${block.language} ${block.kind}`.trim()
  }))
  t.strictSame(kinds.filter(({ kind }) => !KINDS.includes(kind)), [])
})

test('probes ask for what the service answers without a key', async (t) => {
  const blocks = pages.flatMap(({ blocks }) => blocks).filter(({ language }) => language === 'yaml')
  const paths = blocks.flatMap(({ text }) => [...text.matchAll(/path: (\S+?),/g)].map(([, path]) => path))
  t.strictSame([...new Set(paths)].sort(), ['/health', '/ready'])
})

test('all TypeScript compiles', async (t) => {
  t.strictSame(project.faults, [])
})

// Pages with many commands, each in a process of its own.
const LATER = /^docs\/(?:adopting|api-keys|command-line|exact-counting|import-export|operations|upgrading)\.md$/

for (const page of pages) {
  const skip = LATER.test(page.path) && from('ci')
  test(`${page.path}: commands are right, and answered as shown`, { buffered: true, skip }, async (t) => {
    const sandbox = await createSandbox(t, { commandLine: commandLine.url, loadFields: project.loadFields })
    t.strictSame(await checkPage(page, sandbox, { update: process.env['UPDATE'] === '1' }), [])
  })

  test(`${page.path}: TypeScript runs`, async (t) => {
    for (const block of page.blocks.filter(({ language, kind }) => language === 'ts' && isRunKind(kind))) {
      await t.test(at(block), { skip: lacking(block.text) }, async (t) => runBlock(t, block, project))
    }
  })
}

test('every link leads to what is there', async (t) => {
  const others = await Promise.all(['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'UPGRADING.md'].map(readPage))
  t.strictSame(await brokenLinks([...pages, ...others]), [])
})

test('every page can be reached from the README', async (t) => {
  t.strictSame(unreachable(pages), [])
})

test('the compiled blocks are removed', () => {
  commandLine.end()
  return project.remove()
})
