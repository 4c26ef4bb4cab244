import { readFile } from 'node:fs/promises'
import { referencePages } from '../.vitepress/reference.ts'

const ROOT = new URL('../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, ROOT), 'utf8')

/** A page of the repository's root, with its links as this site has them. */
async function rootPage (file: string): Promise<string> {
  return (await read(file))
    .replaceAll('](./docs/', '](/')
    .replaceAll(/\]\((?:\.\/)?CHANGELOG\.md/g, '](/reference/changelog')
    .replaceAll(/\]\((?:\.\/)?SECURITY\.md/g, '](/reference/security')
    .replaceAll(/\]\(\.\/(?!#)/g, '](https://github.com/fastify-users/fastify-users/blob/main/')
}

export default {
  /** The reference of the HTTP API, and what else the repository has for its users. */
  async paths () {
    return [
      ...referencePages(JSON.parse(await read('openapi.json'))),
      { params: { page: 'changelog' }, content: await rootPage('CHANGELOG.md') },
      { params: { page: 'security' }, content: await rootPage('SECURITY.md') }
    ]
  }
}
