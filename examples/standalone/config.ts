import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type Static, Type } from '@sinclair/typebox'
import { envSchema } from 'env-schema'
import { misspelt } from './misspelt.ts'
import { missingFor } from './needs.ts'
import { variables, type VariableName } from './variables.ts'

const schema = Type.Object(variables)

/** The service's settings, read from environment variables. */
export type Config = Static<typeof schema>

/** The configuration is wrong; the message names every variable that is, and no value. */
export class ConfigError extends Error {
  constructor (lines: readonly string[]) {
    super(`The configuration is wrong:\n${lines.map((line) => `  ${line}`).join('\n')}`)
  }
}

/** Secrets, which may be in a file, as container platforms mount them: its path is in `<name>_FILE`. */
const IN_FILES = ['DATABASE_URL', 'API_KEYS', 'FASTIFY_USERS_PEPPER'] as const
const fileVariable = (name: string): string => `${name}_FILE`
const names: readonly string[] = [...Object.keys(variables), ...IN_FILES.map(fileVariable)]

interface AjvFault {
  instancePath: string
}

function faultsOf (error: unknown): readonly AjvFault[] {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors) ? error.errors : []
}

/** The environment, with the secrets that are in files. */
function withFiles (env: NodeJS.ProcessEnv, problems: string[]): NodeJS.ProcessEnv {
  const found: NodeJS.ProcessEnv = { ...env }
  for (const name of IN_FILES) {
    const path = env[fileVariable(name)]
    if (path === undefined || path === '') continue
    if (env[name] !== undefined) problems.push(`${name} and ${fileVariable(name)} cannot both be set`)
    try {
      const text = readFileSync(path, 'utf8').trim()
      // Without the secret that is missing in it, the service would start with none.
      if (text === '') problems.push(`${fileVariable(name)} must be the path of a file that is not empty`)
      else found[name] = text
    } catch {
      problems.push(`${fileVariable(name)} must be the path of a file that can be read`)
    }
  }
  return found
}

/** True for a network such as `10.0.0.0/8`. */
function isNetwork (text: string): boolean {
  const [address = '', bits = '', ...more] = text.split('/')
  const longest = { 4: 32, 6: 128 }[isIP(address)]
  return more.length === 0 && longest !== undefined && /^\d+$/.test(bits) && Number(bits) <= longest
}

/** True for a URL as the driver of PostgreSQL takes them: with blanks, and without a host behind a password. */
function isPostgresUrl (url: string): boolean {
  return [url, encodeURI(url), url.replace('@/', '@localhost/')].some((each) => URL.canParse(each))
}

/** True for the URL of a standby. Only its password may have a comma or a space: what follows one is no URL. */
function isStandby (url: string): boolean {
  return /^postgres(?:ql)?:\/\/(?:.*@)?[^ @,]+$/.test(url) && isPostgresUrl(url)
}

/** Settings of the right form that are wrong nevertheless, or together. */
function beyondForm (config: Config): string[] {
  const problems: string[] = []
  const wrong = (name: VariableName): unknown => problems.push(`${name} must be ${variables[name].description}`)
  const { DATABASE_URL: url } = config
  if (url.startsWith('postgres') && !isPostgresUrl(url)) wrong('DATABASE_URL')
  if (!replicasOf(config.DATABASE_REPLICAS).every(isStandby)) wrong('DATABASE_REPLICAS')
  if (url.startsWith('mariadb') && !URL.canParse(url)) wrong('DATABASE_URL')
  if (!listOf(config.TRUST_PROXY).every((each) => isIP(each) !== 0 || isNetwork(each))) wrong('TRUST_PROXY')
  if (!listOf(config.WEBHOOK_NETWORKS).every(isNetwork)) wrong('WEBHOOK_NETWORKS')
  const keys = listOf(config.API_KEYS)
  if (new Set(keys).size < keys.length) problems.push('API_KEYS must not have a key twice')
  if ((config.TLS_CERT_FILE === '') !== (config.TLS_KEY_FILE === '')) {
    problems.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together')
  }
  return [...problems, ...missingFor(config)]
}

/**
 * Reads the configuration from environment variables.
 * @throws ConfigError
 */
export function readConfig (env: NodeJS.ProcessEnv): Config {
  const problems = misspelt(env, names).refused
  const data = withFiles(env, problems)
  try {
    const config = envSchema<Config>({ schema, data, env: false })
    problems.push(...beyondForm(config))
    if (problems.length === 0) return config
  } catch (error) {
    const wrong = new Set(faultsOf(error).map(({ instancePath }) => instancePath.slice(1)))
    if (wrong.size === 0) throw error
    const isWrong = (name: string): name is VariableName => wrong.has(name)
    problems.push(...Object.keys(variables).filter(isWrong)
      .map((name) => `${name} must be ${variables[name].description}`))
  }
  throw new ConfigError(problems)
}

/** What to log of variables that are ignored, though they look like ours. */
export function ignoredVariables (env: NodeJS.ProcessEnv): readonly string[] {
  return misspelt(env, names).ignored
}

/** Where everything begins: the path that a proxy leads here, without a slash at its end. */
export function baseOf ({ BASE_PATH: path }: Config): string {
  return path.replace(/\/+$/, '')
}

/** The path of the API. */
export function prefixOf (config: Config): string {
  return `${baseOf(config)}${config.PATH_PREFIX.replace(/\/+$/, '')}`
}

/** The parts of a setting that is a list. */
export function listOf (text: string): string[] {
  return text.split(',').map((each) => each.trim()).filter((each) => each !== '')
}

/** The URLs of standbys. A password may have a comma: what separates is what stands before the next URL. */
export function replicasOf (text: string): string[] {
  return text.split(/[ ,]+(?=postgres(?:ql)?:\/\/)/).map((each) => each.trim()).filter((each) => each !== '')
}
