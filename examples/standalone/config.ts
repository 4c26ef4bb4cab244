import { type Static, Type } from '@sinclair/typebox'
import { envSchema } from 'env-schema'

const schema = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', minLength: 1 }),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535 }),
  DATABASE_URL: Type.String({
    default: 'sqlite:./data/users.db',
    pattern: '^(?:memory:$|sqlite:.|lmdb:.|postgres(?:ql)?://)'
  }),
  DATABASE_POOLER: Type.Boolean({ default: false }),
  SQLITE_DRIVER: Type.Union(
    [Type.Literal('auto'), Type.Literal('better-sqlite3'), Type.Literal('node:sqlite'), Type.Literal('sqlite3')],
    { default: 'auto' }
  ),
  SQLITE_CREATE: Type.Boolean({ default: true }),
  PREFIX: Type.String({ default: '/v1', pattern: '^/[A-Za-z0-9._~/-]*$' }),
  API_KEYS: Type.String({
    default: '',
    pattern: '^(?:[\\x21-\\x2b\\x2d-\\x7e]{32,}(?:,[\\x21-\\x2b\\x2d-\\x7e]{32,})*)?$'
  }),
  API_KEY_ROUTES: Type.Boolean({ default: false }),
  EVENT_LOG: Type.Boolean({ default: false }),
  WEBHOOKS: Type.Boolean({ default: false }),
  WEBHOOK_NETWORKS: Type.String({ default: '', pattern: '^[0-9A-Fa-f.:/, ]*$' }),
  AUTH_FAILURES: Type.Integer({ default: 100, minimum: 0 }),
  TRUST_PROXY: Type.String({ default: '', pattern: '^[0-9A-Fa-f.:/, ]*$' }),
  LOG_LEVEL: Type.Union(
    ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((level) => Type.Literal(level)),
    { default: 'info' }
  )
})

/** The service's settings, read from environment variables. */
export type Config = Static<typeof schema>

// What a variable must be, for the message. The value itself is never repeated: it may be a password.
const words: Record<keyof Config, string> = {
  HOST: 'a host name or address to listen on',
  PORT: 'a port number from 0 to 65535',
  DATABASE_URL: 'sqlite:<path>, postgres://<user>:<password>@<host>/<database>, lmdb:<directory> or memory:',
  DATABASE_POOLER: 'true or false',
  SQLITE_DRIVER: 'one of auto, better-sqlite3, node:sqlite, sqlite3',
  SQLITE_CREATE: 'true or false',
  PREFIX: 'a path that begins with /, of letters, digits and . _ ~ - /',
  API_KEYS: 'keys of at least 32 visible ASCII characters each, separated by commas',
  API_KEY_ROUTES: 'true or false',
  EVENT_LOG: 'true or false',
  WEBHOOKS: 'true or false',
  WEBHOOK_NETWORKS: 'networks such as 10.1.0.0/16, separated by commas',
  AUTH_FAILURES: 'a number of refused keys, 0 for no limit',
  TRUST_PROXY: 'addresses or networks of proxies, separated by commas',
  LOG_LEVEL: 'one of fatal, error, warn, info, debug, trace, silent'
}

/** The configuration is wrong; the message names every variable that is. */
export class ConfigError extends Error {}

interface AjvFault {
  instancePath: string
}

function faultsOf (error: unknown): readonly AjvFault[] {
  return error instanceof Error && 'errors' in error && Array.isArray(error.errors) ? error.errors : []
}

/**
 * Reads the configuration from environment variables.
 * @throws ConfigError
 */
export function readConfig (env: NodeJS.ProcessEnv): Config {
  try {
    return envSchema<Config>({ schema, data: env, env: false })
  } catch (error) {
    const wrong = new Set(faultsOf(error).map(({ instancePath }) => instancePath.slice(1)))
    const lines = Object.entries(words)
      .filter(([name]) => wrong.has(name))
      .map(([name, must]) => `  ${name} must be ${must}`)
    if (lines.length === 0) throw error
    throw new ConfigError(`The configuration is wrong:\n${lines.join('\n')}`)
  }
}
