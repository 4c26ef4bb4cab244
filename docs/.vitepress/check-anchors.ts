import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SiteConfig } from 'vitepress'

const ORIGIN = 'http://site.invalid'

/** Fails the build where a link names a heading that its page lacks: VitePress only looks whether the page exists. */
export async function checkAnchors ({ outDir, site: { base } }: SiteConfig): Promise<void> {
  const ids = new Map<string, Set<string>>()
  const links: Array<{ page: string, target: URL }> = []
  for (const page of (await readdir(outDir, { recursive: true })).filter((name) => name.endsWith('.html'))) {
    const html = await readFile(join(outDir, page), 'utf8')
    ids.set(`${base}${page}`, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id)))
    for (const [, href = ''] of html.matchAll(/<a [^>]*href="([^"]*#[^"]+)"/g)) {
      const target = new URL(href, `${ORIGIN}${base}${page}`)
      if (target.origin === ORIGIN) links.push({ page, target })
    }
  }
  const broken = links.filter(({ target: { pathname, hash } }) => {
    const path = pathname === base ? `${base}index.html` : pathname
    return ids.get(path)?.has(decodeURIComponent(hash.slice(1))) !== true
  })
  if (broken.length === 0) return
  const list = broken.map(({ page, target: { pathname, hash } }) => `  ${page}: ${pathname}${hash}`)
  throw new Error(`links to headings that are not there:\n${list.join('\n')}`)
}
