import { UsersError } from '../lib/core/errors.ts'
import type { Fault } from '../lib/core/fault.ts'

/** Members and parameters whose argument or option has another name. */
const OTHERS: ReadonlyMap<string, string> = new Map([
  ['event', '<event>'], ['q', 'the words'], ['statusReason', '--reason']
])

// What is said of requests, as a command line says it.
const DETAILS: ReadonlyArray<[detail: RegExp, said: string]> = [
  [/; in a URL a \+ is written %2B$/, ''],
  [/^must be a whole number of seconds from 1 to \d+$/, 'must be at least 1s, and end before the year 10000'],
  [/^must be a whole number of seconds from 0 to 604800$/, 'must be at most 7d'],
  [/^must begin with https:\/\/.*$/,
    'must begin with https://; http:// needs --allow-http, and its address in --allow-networks <list>'],
  [/^must not point to an internal address$/,
    'must not point to an internal address: allow its network with --allow-networks <list>']
]

/** The option of a member in camel case. */
export const optionOf = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** What a fault is about: `--types`, or `item 2 of --types`. `null`: it is about no option. */
function placeOf ({ pointer, parameter }: Fault, options: object): string | null {
  const [name = '', ...inside] = parameter === undefined ? (pointer ?? '').slice(1).split('/') : [parameter]
  const option = Object.hasOwn(options, name) ? optionOf(name) : OTHERS.get(name)
  if (option === undefined) return null
  const [item = ''] = inside
  return /^\d+$/.test(item) ? `item ${Number(item) + 1} of ${option}` : option
}

/**
 * The error of a service with the names of the options that its input came from. `options`: those that were given.
 * `takesRows`: pointers lead into rows.
 */
export function inOptions (error: unknown, options: object, { takesRows }: { takesRows: boolean }): unknown {
  if (!(error instanceof UsersError) || error.errors === undefined) return error
  const { code, message: detail, cause } = error
  const errors = error.errors.map((fault): Fault => {
    const place = takesRows && fault.parameter === undefined ? null : placeOf(fault, options)
    if (place === null) return fault
    const said = DETAILS.reduce((text, [each, by]) => text.replace(each, by), fault.detail)
    return { parameter: place, code: fault.code, detail: said }
  })
  return new UsersError(code, { detail, errors, cause })
}
