// Fails unless a tag, the manifest and the changelog name one version; leaves what the changelog says of it in .build/release-notes.md: node scripts/check-release.mjs v1.2.3
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const [tag = ''] = process.argv.slice(2)
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
if (tag !== `v${version}`) throw new Error(`The tag is ${tag}, and package.json has the version ${version}`)
const section = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m).find((text) => text.startsWith(`${version} `) || text.startsWith(`[${version}]`))
if (section === undefined) throw new Error(`CHANGELOG.md has no section of ${version}: rename "Unreleased" to "${version} - <date>"`)
mkdirSync('.build', { recursive: true })
writeFileSync('.build/release-notes.md', section.slice(section.indexOf('\n') + 1).trim())
