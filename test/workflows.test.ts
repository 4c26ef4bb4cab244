// What runs with rights of ours in GitHub's workflows can't change unnoticed, and no package's code runs with them.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'tap'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, '.github', 'workflows')
const names = await readdir(FOLDER)
const textOf = (name: string) => readFile(join(FOLDER, name), 'utf8')

test('actions are pinned by commit, with their version, and a checkout keeps no credentials', async (t) => {
  for (const name of names) {
    const lines = (await textOf(name)).split('\n')
    for (const [i, line] of lines.entries()) {
      if (!/^ +(?:- )?uses:/.test(line)) continue
      t.match(line, /uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, `${name}:${i + 1}`)
      if (!line.includes('actions/checkout@')) continue
      t.match(lines.slice(i + 1, i + 3).join('\n'), /^ +with:\n +persist-credentials: false$/, `${name}:${i + 1}`)
    }
  }
})

test('images are pinned by digest', async (t) => {
  for (const name of ['Dockerfile', 'compose.yaml']) {
    const text = await readFile(join(ROOT, 'deploy', name), 'utf8')
    const images = [...text.matchAll(/^(?:FROM| +image:) (\S+)/gm)].map(([, image]) => image ?? '')
    t.ok(images.length > 0, name)
    for (const image of images) t.match(image, /^\w+:[\w.-]+@sha256:[0-9a-f]{64}$/, `${name}: ${image}`)
  }
})

test('a release is packed without rights, and published by a job that runs no code of packages', async (t) => {
  const [, pack = '', publish = ''] = (await textOf('release.yml')).split(/^ {2}(?=\w+:\n)/m).slice(-3)
  t.match(pack, /^pack:\n/)
  t.match(pack, / {4}permissions:\n {6}contents: read\n {4}\w/, 'it can read the repository, which is public')
  t.match(publish, /^publish:\n/)
  t.notMatch(publish, /actions\/checkout|npm (?:ci|install|run|pack|test)|npx|node /)
  t.strictSame([...publish.matchAll(/run: (.*)/g)].map(([, command]) => command), [
    'npm publish --ignore-scripts ./release/*.tgz',
    'gh release create "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --notes-file release/release-notes.md'
  ])
})
