import { type Config, ConfigError } from './config.ts'
import { variables, type VariableName } from './variables.ts'

// The plugin and its parts speak of their options. An operator has variables: here each option that can be wrong gets
// the name of the one that it comes from.

/** The names of those that are set. */
function oneOf (config: Config, ...names: VariableName[]): string {
  return names.filter((name) => config[name] !== '').join(' or ')
}

/** How messages name options, and what stands there instead. */
function wordsFor (config: Config): ReadonlyArray<readonly [option: RegExp, words: string]> {
  const filterable = oneOf(config, 'FILTERABLE_FIELDS', 'FOLDED_FIELDS')
  return [
    [/^filterable names/, `${filterable} names`],
    [/ cannot be filterable:/, ` cannot be in ${filterable}:`],
    [/ cannot be folded:/, ' cannot be in FOLDED_FIELDS:'],
    [/^searchable names/, 'SEARCHABLE_FIELDS names'],
    [/^unique names/, 'UNIQUE_FIELDS names'],
    [/ cannot be unique:/, ' cannot be in UNIQUE_FIELDS:'],
    [/^fields\.schema /, 'FIELDS_FILE '],
    [/^logo must be .*/, `ADMIN_LOGO_FILE must be ${variables.ADMIN_LOGO_FILE.description}`],
    [/^mapping\.attributes /, 'SCIM_ATTRIBUTES '],
    [/^(.*), and create is false$/, 'DATABASE_URL: $1, and SQLITE_CREATE is false'],
    [/^(?=the database file |the account )/, 'DATABASE_URL: ']
  ]
}

/** Where a line comes from that names no option, by how its message begins. */
const SUBJECTS: ReadonlyArray<readonly [subject: string, variable: VariableName]> = [
  ['fastify-users: wrong fields:', 'FIELDS_FILE'],
  ['fastify-users: sqlite(): ', 'SQLITE_DRIVER']
]

/** The host of a database's URL; undefined where it may be a part of a password that was not escaped. */
function hostIn (url: string): string | undefined {
  const { host = '', pathname = '', search = '', hash = '' } = URL.canParse(url) ? new URL(url) : {}
  return host === '' || `${pathname}${search}${hash}`.includes('@') ? undefined : host
}

/** What the storage says has more for an operator than what its callers get. */
function ofStorage ({ message }: Error, { DATABASE_URL: url }: Config): Error {
  const host = hostIn(url)
  const reason = message.replace('the option pooler of postgres()', 'DATABASE_POOLER=true')
  return new Error(`DATABASE_URL${host === undefined ? '' : `, which leads to ${host}`}: ${reason}`)
}

/** An error of the plugin or the storage, with the variables that its options come from; another error as it is. */
export function withVariables (error: unknown, config: Config): unknown {
  if (!(error instanceof Error)) return error
  const { cause, message } = error
  for (const each of [error, cause]) {
    if (each instanceof Error && each.name === 'StorageError') return ofStorage(each, config)
  }
  if (!message.startsWith('fastify-users')) return error
  const [head = '', ...lines] = message.split('\n- ')
  const [, text = ''] = /^fastify-users.*?: (?:sqlite\(\): )?(.*)$/.exec(head) ?? []
  const subject = SUBJECTS.find(([each]) => message.startsWith(each))?.[1]
  const words = wordsFor(config)
  const named = (lines.length > 0 ? lines : [text]).map((line) => {
    const [option, replacement] = words.find(([each]) => each.test(line)) ?? []
    if (option !== undefined && replacement !== undefined) return line.replace(option, replacement)
    return subject === undefined ? null : `${subject}: ${line}`
  })
  const known = named.filter((each) => each !== null)
  return known.length === named.length ? new ConfigError(known) : error
}
