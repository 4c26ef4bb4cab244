import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { at, type Page, readPage, ROOT } from './pages.ts'

const REPOSITORY = /^https:\/\/github\.com\/fastify-users\/fastify-users\/(?:blob|tree|raw)\/main\//

export interface Link {
  line: number
  /** As it is written. */
  target: string
  /** Path from the root of the repository; null for the address of somebody else. */
  path: string | null
  anchor: string
}

/** The front page of the documentation's site. */
const FRONT = 'docs/index.md'

/** The links of a page; those of the front page stand in its front matter too, as paths of the site. */
export function linksOf ({ path: page, prose }: Page): Link[] {
  function linkTo (target: string, line: number): Link {
    const [address = '', anchor = ''] = target.replace(REPOSITORY, '/').split('#')
    if (/^[a-z]+:/.test(address)) return { line, target, path: null, anchor }
    if (address === '') return { line, target, path: page, anchor }
    const folder = address.startsWith('/') ? '/' : `/${posix.dirname(page)}`
    return { line, target, path: posix.join(folder, address).slice(1), anchor }
  }
  return prose.flatMap((text, i) => {
    const found = text.replace(/`[^`]*`/g, '').matchAll(/\]\(\s*<?([^)\s>]+)/g)
    const links = [...found].map(([, target = '']) => linkTo(target, i + 1))
    const [, path] = page === FRONT ? /^ *link: \/(\S+)/.exec(text) ?? [] : []
    return path === undefined ? links : [...links, linkTo(`./${path}.md`, i + 1)]
  })
}

/** The anchors of a page: GitHub's, of its headings, and those that HTML in it names. */
export function anchorsOf ({ prose }: Page): Set<string> {
  const seen = new Map<string, number>()
  const anchors = new Set<string>()
  for (const line of prose) {
    for (const [, id = ''] of line.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
    const [, heading] = /^#{1,6} +(.*?)(?: +#+)? *$/.exec(line) ?? []
    if (heading === undefined) continue
    const words = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const slug = words.replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return anchors
}

/** What is wrong with the links of these pages, each with its page and line. */
export async function brokenLinks (pages: readonly Page[]): Promise<string[]> {
  const broken: string[] = []
  const known = new Map<string, Set<string>>()
  for (const page of pages) {
    for (const { line, target, path, anchor } of linksOf(page)) {
      if (path === null) continue
      const where = `${at({ page: page.path, line })}: ${target}`
      const leaves = page.path.startsWith('docs/') && !path.startsWith('docs/') && !REPOSITORY.test(target)
      if (leaves) broken.push(`${where}: the site has what is in docs/ alone; link to it on GitHub`)
      else if (!existsSync(join(ROOT, path))) broken.push(`${where}: there is no ${path}`)
      else if (path.endsWith('.md') && anchor !== '') {
        const anchors = known.get(path) ?? anchorsOf(await readPage(path))
        known.set(path, anchors)
        if (!anchors.has(anchor)) broken.push(`${where}: there is no such heading`)
      }
    }
  }
  return broken
}

/** The pages that no path of links leads to from the README. */
export function unreachable (pages: readonly Page[]): string[] {
  const reached = new Set<Page>()
  const queue = pages.filter(({ path }) => path === 'README.md')
  for (const page of queue) {
    if (reached.has(page)) continue
    reached.add(page)
    for (const { path } of linksOf(page)) queue.push(...pages.filter((each) => each.path === path))
  }
  return pages.filter((page) => !reached.has(page) && page.path !== FRONT).map(({ path }) => path)
}
