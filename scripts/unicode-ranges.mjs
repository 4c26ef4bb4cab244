// Writes lib/core/unicode-ranges.ts: node scripts/unicode-ranges.mjs <directory of the package @unicode/unicode-15.0.0>
// The package says which characters its version has; Node.js' own Unicode, of that version or a later one, the rest.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const VERSION = '15.0'
const [directory] = process.argv.slice(2)

async function charactersWith (property) {
  const path = join(directory, 'Binary_Property', property, 'code-points.mjs')
  const { default: points } = await import(pathToFileURL(path))
  return new Set(points.filter((point) => point < 0xd800 || point > 0xdfff))
}

const assigned = await charactersWith('Assigned')
const ignorable = await charactersWith('Default_Ignorable_Code_Point')
const textOf = (point) => String.fromCodePoint(point)
const nfd = (text) => text.normalize('NFD')
const isBehind = (mark, other) => nfd(`a${mark}${other}`) !== `a${mark}${other}`

// Marks with a combining class, each with the lowest and the highest one: other marks change places with these.
const [OVERLAY, DAKUTEN, VIRAMA, ALAPH, TIBETAN_U, LAST] = ['\u0334', '\u3099', '\u094d', '\u0711', '\u0f74', '\u0345']
const isOrdered = (c) => isBehind(c, OVERLAY) || isBehind(LAST, c)

/**
 * A mark above, below or through any letter: classes 1 to 7, 10 to 36, and 200 and more, but the iota that is folded to
 * a letter.
 */
function isAccent (c) {
  if (!/\p{M}/u.test(c) || nfd(c) !== c || !isOrdered(c) || c === LAST) return false
  return isBehind(c, TIBETAN_U) || (isBehind(c, VIRAMA) && !isBehind(c, ALAPH)) || isBehind(DAKUTEN, c)
}

const stripped = new Set([...assigned].filter((point) => ignorable.has(point) || isAccent(textOf(point))))
const folded = (c) => c.normalize('NFKD').toLowerCase().toUpperCase().toLowerCase().normalize('NFKD')
const changed = new Set(stripped)
for (const point of assigned) {
  const c = textOf(point)
  if (folded(c) === c && !(/\p{M}/u.test(c) && isOrdered(c))) continue
  for (const each of c + nfd(c)) changed.add(each.codePointAt(0))
}

/** Characters that stand between words: blanks, punctuation and signs, as they are after folding. */
const separating = new Set([...assigned].filter((point) =>
  /[\p{P}\p{S}\p{Z}\p{Cc}]/u.test(textOf(point)) && folded(textOf(point)) === textOf(point)))
const isInWords = (point) => assigned.has(point) && !separating.has(point) && folded(textOf(point)) === textOf(point)

/** Ranges of a set; `fills` says which others may be in them. */
function rangesOf (set, fills) {
  const ranges = []
  for (const point of [...set].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    let next = last === undefined ? point : last[1] + 1
    while (next < point && fills(next)) next++
    if (last !== undefined && next === point) last[1] = point
    else ranges.push([point, point])
  }
  return ranges.map(([from, to]) => from === to ? from.toString(16) : `${from.toString(16)}-${to.toString(16)}`)
}

function lines (ranges) {
  const found = ['']
  for (const range of ranges) {
    if (`${found.at(-1)} ${range}`.length > 112) found.push('')
    found.push(`${found.pop()} ${range}`.trim())
  }
  return found.map((line) => `  '${line} '`).join(' +\n').replace(/ '$/, "'")
}

writeFileSync(join(import.meta.dirname, '..', 'lib', 'core', 'unicode-ranges.ts'), `\
// Written by scripts/unicode-ranges.mjs.

/** A regular expression's class of hexadecimal ranges. */
export const classOf = (ranges: string): string =>
  \`[\${ranges.replace(/[0-9a-f]+/g, (point) => \`\\\\u{\${point}}\`).replaceAll(' ', '')}]\`

/**
 * Characters of Unicode ${VERSION} that folding may change, or that others combine with, as hexadecimal ranges. Unicode
 * never changes how these are normalised and folded, so every later version gives the same for them.
 */
export const FOLDED_RANGES =
${lines(rangesOf(changed, (point) => assigned.has(point)))}

/** Accents and characters that are not seen, of the same version. */
export const STRIPPED_RANGES =
${lines(rangesOf(stripped, () => false))}

/** Blanks, punctuation and signs of the same version, as they are after folding. Newer ones are in words. */
export const SEPARATING_RANGES =
${lines(rangesOf(separating, (point) => assigned.has(point) && !isInWords(point)))}
`)
