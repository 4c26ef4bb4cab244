import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '..', '..', '..')

/** A fenced code block of a page. */
export interface Block {
  /** Path of the page from the root of the repository. */
  page: string
  /** Line of the opening fence, from 1. */
  line: number
  /** First word of the info string, such as `ts`. */
  language: string
  /** What comes behind it, such as `app`. */
  kind: string
  text: string
  /** The spaces before each line, of a block in a list. */
  indent: string
  /** Nothing but blank lines lies between this block and the one before. */
  isAdjacent: boolean
}

export interface Page {
  path: string
  text: string
  blocks: Block[]
  /** The lines of the page, with those of code blocks left empty. */
  prose: string[]
}

/** Where something stands, as every message begins. */
export function at ({ page, line }: Pick<Block, 'page' | 'line'>): string {
  return `${page}:${line}`
}

const FENCE = /^( *)(`{3,}|~{3,}) *([^`]*)$/

/** Takes a page apart. A block that is never closed gets a kind that there is none of. */
export function parsePage (path: string, text: string): Page {
  const blocks: Block[] = []
  const prose: string[] = []
  let open: { block: Block, fence: string, lines: string[] } | null = null
  let isAdjacent = false
  for (const [i, line] of text.split('\n').entries()) {
    const [, indent = '', fence, info = ''] = FENCE.exec(line) ?? []
    const isProse = open === null && fence === undefined
    prose.push(isProse ? line : '')
    if (isProse && line.trim() !== '') isAdjacent = false
    if (open !== null && fence?.startsWith(open.fence) === true && info === '') {
      blocks.push({ ...open.block, text: open.lines.join('\n') })
      open = null
      isAdjacent = true
    } else if (open !== null) {
      open.lines.push(line.startsWith(open.block.indent) ? line.slice(open.block.indent.length) : line)
    } else if (fence !== undefined) {
      const [language = '', ...kind] = info.trim().split(/\s+/)
      const block = { page: path, line: i + 1, language, kind: kind.join(' '), text: '', indent, isAdjacent }
      open = { block, fence, lines: [] }
    }
  }
  if (open !== null) blocks.push({ ...open.block, kind: 'that is never closed' })
  return { path, text, blocks, prose }
}

/** Reads one page. */
export async function readPage (path: string): Promise<Page> {
  return parsePage(path, await readFile(join(ROOT, path), 'utf8'))
}

/** Reads the README and every page under docs/. */
export async function readPages (): Promise<Page[]> {
  const names = await readdir(join(ROOT, 'docs'), { recursive: true })
  // `[page].md` is the form of pages that the site makes of the description.
  const isPage = (name: string) => /[^\]]\.md$/.test(name) && !/(?:^|\/)(?:node_modules|\.\w+)\//.test(name)
  return Promise.all(['README.md', ...names.filter(isPage).sort().map((name) => `docs/${name}`)].map(readPage))
}

/** A page with new text in these blocks. */
export function replaceBlocks ({ text }: Page, replacements: ReadonlyMap<Block, string>): string {
  const lines = text.split('\n')
  // From the end, so that the lines before keep their numbers.
  for (const [block, replacement] of [...replacements].sort(([a], [b]) => b.line - a.line)) {
    const replaced = replacement.split('\n').map((line) => line === '' ? '' : block.indent + line)
    lines.splice(block.line, block.text === '' ? 0 : block.text.split('\n').length, ...replaced)
  }
  return lines.join('\n')
}
