import type { Block } from './pages.ts'

/** An answer to a request. */
export interface Answer {
  status: number
  /** `HTTP/1.1 200 OK` */
  statusLine: string
  headers: ReadonlyMap<string, string>
  body: string
}

/** What differs from run to run, and the word that stands for it in a comparison. */
const VARIABLE = [
  { word: 'usr_…', pattern: /usr_[0-9a-z]{26}/ },
  { word: 'key_…', pattern: /key_[0-9a-z]{26}/ },
  { word: 'whk_…', pattern: /whk_[0-9a-z]{26}/ },
  { word: 'whsec_…', pattern: /whsec_[0-9A-Za-z+/]{43}=/ },
  { word: 'uk_….', pattern: /uk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}/ },
  { word: 'uk_…', pattern: /uk_[0-9A-Za-z]{12}/ },
  { word: '<time>', pattern: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/ },
  { word: '<date>', pattern: /[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/ },
  { word: 'req-…', pattern: /req-[0-9a-z]+/ }
]
const ANY = new RegExp(VARIABLE.map(({ pattern }) => `\\b${pattern.source}`).join('|'), 'g')

/** A text without what differs from run to run. */
export function normalised (text: string): string {
  return text.replace(ANY, (found) => VARIABLE.find(({ pattern }) => pattern.test(found))?.word ?? found)
}

/** The ids and keys in a text, in their order. */
export function idsIn (text: string): string[] {
  return [...text.matchAll(ANY)].map(([found]) => found).filter((found) => /^(?:usr|key|uk)_/.test(found))
}

const WIDTH = 90

/** JSON as the pages show it: in lines, but a short list or object of plain values in one. */
function jsonText (value: unknown, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const members = Object.entries(value).map(([name, member]) => {
    const text = jsonText(member, `${indent}  `)
    return Array.isArray(value) ? text : `${JSON.stringify(name)}: ${text}`
  })
  if (members.length === 0) return open + close
  const isPlain = Object.values(value).every((member) => typeof member !== 'object' || member === null)
  const line = Array.isArray(value) ? `[${members.join(', ')}]` : `{ ${members.join(', ')} }`
  if (indent !== '' && isPlain && indent.length + line.length <= WIDTH) return line
  return `${open}\n${members.map((member) => `${indent}  ${member}`).join(',\n')}\n${indent}${close}`
}

function bodyText (body: string): string {
  try {
    return jsonText(JSON.parse(body))
  } catch {
    return body.trim()
  }
}

/** Splits what a block `http` shows. A header may go on in the next line, behind spaces. */
function shownParts (text: string): Parts {
  const [head = '', ...rest] = text.split(/\n\s*\n/)
  const [statusLine = '', ...lines] = head.trim().replace(/\n +/g, ' ').split('\n')
  const headers = lines.map((line): [string, string] => {
    const [name = '', ...value] = line.split(':')
    return [name.trim().toLowerCase(), value.join(':').trim()]
  })
  return { statusLine, headers, body: rest.join('\n\n') }
}

/** Headers that a block without any is given where it is written anew. */
const USUAL = ['location', 'etag', 'link', 'idempotency-replayed', 'www-authenticate', 'allow', 'accept', 'retry-after']

interface Parts {
  statusLine: string
  headers: ReadonlyArray<readonly [name: string, value: string]>
  body: string
}

function httpText ({ statusLine, headers, body }: Parts): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`.replaceAll(', <', ',\n  <'))
  return [statusLine, ...lines, ...(body === '' ? [] : ['', bodyText(body)])].join('\n')
}

/** What a block shows, in the form that answers are compared in: the body alone in one of `json`. */
export function asShown ({ language, text }: Block): string {
  return language === 'json' ? bodyText(text) : httpText(shownParts(text))
}

/** An answer in the form of a block: in one of `http` it has the headers that the block shows. */
export function asAnswered ({ language, text }: Block, answer: Answer): string {
  const { statusLine, body } = answer
  if (language === 'json') return bodyText(body)
  const shown = shownParts(text).headers.map(([name]) => name)
  const names = text === '' ? USUAL.filter((name) => answer.headers.has(name)) : shown
  const headers = names.map((name): [string, string] => [name, answer.headers.get(name) ?? 'absent'])
  return httpText({ statusLine, headers, body })
}
