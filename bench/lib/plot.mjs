// Draws a dot plot as SVG: a row for each case, a mark for each series, on a linear or logarithmic axis.

/** The looks of the series: a colour for each colour scheme, and a shape for readers who cannot tell colours apart. */
const LOOKS = [
  { light: '#6b7280', dark: '#9ca3af', shape: 'ring' },
  { light: '#0b6bb8', dark: '#56b4e9', shape: 'circle' },
  { light: '#b45309', dark: '#f0a030', shape: 'square' },
  { light: '#047857', dark: '#34d399', shape: 'triangle' },
  { light: '#a21caf', dark: '#e879f9', shape: 'diamond' },
  { light: '#b91c1c', dark: '#f87171', shape: 'cross' },
  { light: '#4338ca', dark: '#a5b4fc', shape: 'bar' },
  { light: '#4d7c0f', dark: '#a3e635', shape: 'plus' }
]

const WIDTH = 680
const LEFT = 176
const RIGHT = 24
const ROW = 30
const LINE = 18
const R = 5
/** The distance between marks that would overlap. */
const APART = 8.5

const SHAPES = {
  ring: (x, y) => `<circle cx="${x}" cy="${y}" r="${R - 1}" fill="none" stroke="currentColor" stroke-width="2"/>`,
  circle: (x, y) => `<circle cx="${x}" cy="${y}" r="${R}"/>`,
  square: (x, y) => `<rect x="${x - 4.5}" y="${y - 4.5}" width="9" height="9"/>`,
  triangle: (x, y) => `<path d="M${x} ${y - 5.5}l5.5 10h-11z"/>`,
  diamond: (x, y) => `<path d="M${x} ${y - 6}l6 6-6 6-6-6z"/>`,
  cross: (x, y) => `<path d="M${x - 4} ${y - 4}l8 8m0-8l-8 8" stroke="currentColor" stroke-width="2.5"/>`,
  bar: (x, y) => `<rect x="${x - 2}" y="${y - 7}" width="4" height="14"/>`,
  plus: (x, y) => `<path d="M${x} ${y - 5}v10m-5-5h10" stroke="currentColor" stroke-width="2.5"/>`
}

const escaped = (text) => String(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)
const tenth = (number) => Math.round(number * 10) / 10

const text = (x, y, content, more = '') => `<text x="${tenth(x)}" y="${tenth(y)}"${more}>${escaped(content)}</text>`

/** Breaks a text into lines of at most `width` characters. */
function wrap (words, width) {
  const lines = ['']
  for (const word of words.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > width && lines.at(-1) !== '') lines.push(word)
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim()
  }
  return lines
}

/** The style sheet. Colours follow the reader's scheme. The plot has its own background, so it fits on any page. */
function style (series) {
  const colour = (scheme) => (_, i) => `.s${i}{color:${LOOKS[i][scheme]};fill:${LOOKS[i][scheme]}}`
  const colours = (scheme) => series.map(colour(scheme)).join('')
  return [
    '<style>',
    'text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;fill:#1f2328}',
    '.title{font-size:16px;font-weight:600}.head{font-weight:600}.soft{fill:#59636e;font-size:12px}',
    `.back{fill:#fff}.grid{stroke:#d1d9e0}.base{stroke:#59636e}${colours('light')}`,
    '@media(prefers-color-scheme:dark){text{fill:#e6e6e6}.soft{fill:#a8b1bb}',
    `.back{fill:#1b1b1f}.grid{stroke:#3c3f44}.base{stroke:#a8b1bb}${colours('dark')}}`,
    '</style>'
  ].join('\n')
}

/** A function that maps a value to 0 to 1, and the ticks of the axis. */
function scaleOf (values, { log, from }) {
  const highest = Math.max(...values)
  if (!log) {
    const step = highest <= 4 ? 0.5 : 10 ** Math.floor(Math.log10(highest))
    const end = Math.ceil(highest / step) * step
    const ticks = Array.from({ length: Math.round((end - from) / step) + 1 }, (_, i) => from + i * step)
    return { at: (value) => (value - from) / (end - from), ticks }
  }
  const all = [0.1, 1, 10, 100, 1000].flatMap((power) => [1, 2, 5].map((digit) => digit * power))
  const low = all.findLast((tick) => tick <= Math.min(...values)) ?? 0.1
  const high = all.find((tick) => tick >= highest) ?? 10_000
  const decades = Math.log10(high / low)
  const inRange = all.filter((tick) => tick >= low && tick <= high)
  const ticks = decades < 3.2 ? inRange : inRange.filter((tick) => Number.isInteger(Math.log10(tick)) || tick === low)
  return { at: (value) => Math.log10(value / low) / decades, ticks }
}

/** The legend: marks with names, as many on a line as fit. */
function legend (series, top) {
  let [x, y] = [16, top]
  const names = series.map(({ name }, i) => {
    const width = 34 + name.length * 6.6
    if (x + width > WIDTH - 8) [x, y] = [16, y + LINE + 2]
    const mark = `<g class="s${i}">${SHAPES[LOOKS[i].shape](x + 6, y - 4)}</g>${text(x + 17, y, name)}`
    x += width
    return mark
  })
  return { text: names.join('\n'), bottom: y }
}

/** The marks of a row. A mark that would overlap another is moved up or down. */
function marks ({ label, values }, series, xOf, y) {
  const placed = []
  const all = series.map(({ key, name }, i) => ({ name, i, value: values[key] ?? null }))
  return all.filter(({ value }) => value !== null).map(({ name, i, value }) => {
    const x = xOf(value)
    const free = (by) => placed.every((mark) => Math.hypot(mark.x - x, mark.by - by) >= APART)
    const by = [0, -APART, APART].find(free) ?? 0
    placed.push({ x, by })
    const title = `<title>${escaped(`${label}, ${name}: ${value}`)}</title>`
    return `<g class="s${i}">${title}${SHAPES[LOOKS[i].shape](x, tenth(y + by))}</g>`
  })
}

/**
 * The text of an SVG.
 * - `rows`: `{ label, values }`, with values by the key of their series. Null is left out. A row without values is a
 *   heading.
 * - `series`: `{ key, name }`, at most seven.
 * - `axis`: `{ name, log, from, base }`. A line marks `base`, if there is one.
 */
export function plot ({ title, about, rows, series, axis, source }) {
  const values = rows.flatMap((row) => series.flatMap(({ key }) => row.values?.[key] ?? axis.base ?? []))
  const { at, ticks } = scaleOf(values, axis)
  const xOf = (value) => tenth(LEFT + at(value) * (WIDTH - LEFT - RIGHT))
  const aboutLines = wrap(about, 98)
  const key = legend(series, 52 + aboutLines.length * LINE)
  const top = key.bottom + 16
  const bottom = top + rows.length * ROW
  const sourceLines = wrap(source, 98)
  const height = bottom + 54 + sourceLines.length * 16
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}"`,
    ' role="img" aria-labelledby="t d">',
    `<title id="t">${escaped(title)}</title>`,
    `<desc id="d">${escaped(about)}</desc>`,
    style(series),
    `<rect class="back" width="${WIDTH}" height="${height}" rx="8"/>`,
    text(16, 28, title, ' class="title"'),
    ...aboutLines.map((line, i) => text(16, 48 + i * LINE, line, ' class="soft"')),
    key.text
  ]
  for (const tick of ticks) {
    parts.push(
      `<path class="grid" d="M${xOf(tick)} ${top}V${bottom}"/>`,
      text(xOf(tick), bottom + 16, tick.toLocaleString('en'), ' class="soft" text-anchor="middle"')
    )
  }
  if (axis.base !== undefined) {
    const line = `M${xOf(axis.base)} ${top}V${bottom}`
    parts.push(`<path class="base" stroke-width="1.5" stroke-dasharray="4 3" d="${line}"/>`)
  }
  for (const [i, row] of rows.entries()) {
    const y = top + i * ROW + ROW / 2
    if (row.values === undefined) {
      parts.push(text(16, y + 4, row.label, ' class="head"'))
      continue
    }
    parts.push(
      text(LEFT - 12, y + 4, row.label, ' text-anchor="end"'),
      `<path class="grid" d="M${LEFT} ${y}H${WIDTH - RIGHT}"/>`,
      ...marks(row, series, xOf, y)
    )
  }
  parts.push(
    text((LEFT + WIDTH - RIGHT) / 2, bottom + 36, axis.name, ' text-anchor="middle"'),
    ...sourceLines.map((line, i) => text(16, bottom + 60 + i * 16, line, ' class="soft"')),
    '</svg>'
  )
  return `${parts.join('\n')}\n`
}
