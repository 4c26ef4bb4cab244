// What a host gives the page of its own: a logo and a colour.

/** The largest logo, in bytes: it comes with the settings, before anybody signs in. */
const LOGO_MAX = 32 * 1024

const DATA_URL = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml)(?:;charset=utf-8)?(?:;base64)?,/
// In an <img> the browser runs no script of an SVG and loads nothing for it.
const SVG = /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/s

/** The beginnings of files, read as Latin-1. */
const SIGNATURES: ReadonlyArray<readonly [type: string, pattern: RegExp]> = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s]
]

function typeOf (bytes: Buffer): string | undefined {
  const start = bytes.subarray(0, 16).toString('latin1')
  const [type] = SIGNATURES.find(([, pattern]) => pattern.test(start)) ?? []
  return type ?? (SVG.test(bytes.toString()) ? 'image/svg+xml' : undefined)
}

/** A logo as the `data:` URL that the page shows, or null if it can't be one. */
export function logoUrl (logo: unknown): string | null {
  if (typeof logo === 'string' && DATA_URL.test(logo)) return logo.length <= LOGO_MAX * 4 / 3 ? logo : null
  if (typeof logo !== 'string' && !(logo instanceof Uint8Array)) return null
  const bytes = Buffer.from(logo)
  const type = typeOf(bytes)
  return type === undefined || bytes.length > LOGO_MAX ? null : `data:${type};base64,${bytes.toString('base64')}`
}

type Colour = readonly [red: number, green: number, blue: number]

const BLACK: Colour = [0, 0, 0]
const WHITE: Colour = [255, 255, 255]
/** What text in the accent stands on: --card and --ground of admin/styles/base.css. */
const SCHEMES = {
  light: { grounds: [WHITE, [0xf6, 0xf7, 0xf9]], card: WHITE, toward: BLACK },
  dark: { grounds: [[0x1d, 0x21, 0x27], [0x14, 0x17, 0x1b]], card: [0x1d, 0x21, 0x27], toward: WHITE }
} as const satisfies Record<string, { grounds: Colour[], card: Colour, toward: Colour }>
/** --tint: a card with this share of the accent. */
const TINT = 0.09
/** WCAG 2.2 AA asks 4.5 of text. The rest is for rounding. */
const ENOUGH = 4.6

function mixed (from: Colour, to: Colour, share: number): Colour {
  const at = (i: 0 | 1 | 2): number => Math.round(from[i] + (to[i] - from[i]) * share)
  return [at(0), at(1), at(2)]
}

/** The relative luminance of WCAG 2.2. */
function luminance (colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast (a: Colour, b: Colour): number {
  const [lower = 0, higher = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (higher + 0.05) / (lower + 0.05)
}

/** The nearest colour, on the way to black or white, that can be read as text in a scheme. */
function readable (accent: Colour, { grounds, card, toward }: typeof SCHEMES[keyof typeof SCHEMES]): Colour {
  for (let share = 0; share < 1; share += 0.02) {
    const colour = mixed(accent, toward, share)
    const all = [...grounds, mixed(card, colour, TINT)]
    if (all.every((ground) => contrast(colour, ground) >= ENOUGH)) return colour
  }
  return toward
}

const hexOf = (colour: Colour): string => `#${colour.map((value) => value.toString(16).padStart(2, '0')).join('')}`

function parsed (hex: string): Colour {
  const long = hex.length === 4 ? hex.replace(/[\da-f]/gi, '$&$&') : hex
  const at = (i: number): number => Number.parseInt(long.slice(i, i + 2), 16)
  return [at(1), at(3), at(5)]
}

/**
 * The rules of a style sheet that give the page its accent, `#rrggbb` or `#rgb`. Buttons have the colour itself, with
 * the text that can be read on it; text has it as dark, or as light, as it must be.
 */
export function accentStyle (hex: string): string {
  const accent = parsed(hex)
  const onFill = contrast(accent, WHITE) >= contrast(accent, BLACK) ? WHITE : BLACK
  const rules = (scheme: keyof typeof SCHEMES): string =>
    `:root{--accent:${hexOf(readable(accent, SCHEMES[scheme]))};--fill:${hexOf(accent)};--on-fill:${hexOf(onFill)}}`
  return `${rules('light')}@media (prefers-color-scheme:dark){${rules('dark')}}`
}
