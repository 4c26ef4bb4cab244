// Fails unless a tag, package.json and the changelog have the same version: node scripts/check-release.mjs v1.2.3
// Writes the changelog's section of this version to .build/release-notes.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const [tag = ''] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, but package.json has the version ${version}`)
const sections = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m)
const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`[${version}]`))
if (section === undefined) {
  throw new Error(`CHANGELOG.md has no section for ${version}: rename "Unreleased" to "${version} - <date>"`)
}
mkdirSync('.build', { recursive: true })
writeFileSync('.build/release-notes.md', section.slice(section.indexOf('\n') + 1).trim())
