import type { Config } from './config.ts'
import { variables, type VariableName } from './variables.ts'

// A setting whose part of the service is off, or whose database is another one, would silently have no effect.

const isPostgres = ({ DATABASE_URL: url }: Config): boolean => url.startsWith('postgres')
const isSqlite = ({ DATABASE_URL: url }: Config): boolean => url.startsWith('sqlite:')
const hasFields = ({ FIELDS_FILE: path }: Config): boolean => path !== ''

/** What variables need, where they differ from their defaults. */
const NEEDS: ReadonlyArray<
  readonly [names: readonly VariableName[], what: string, has: (config: Config) => boolean]
> = [
  [['FILTERABLE_FIELDS', 'FOLDED_FIELDS', 'SEARCHABLE_FIELDS', 'UNIQUE_FIELDS'], 'FIELDS_FILE', hasFields],
  [['DATABASE_REPLICAS', 'DATABASE_POOLER'], 'a DATABASE_URL of PostgreSQL', isPostgres],
  [
    ['DATABASE_POOL_SIZE'], 'a DATABASE_URL of PostgreSQL or MariaDB',
    (config) => isPostgres(config) || config.DATABASE_URL.startsWith('mariadb:')
  ],
  [['SQLITE_DRIVER', 'SQLITE_CREATE'], 'a DATABASE_URL of SQLite', isSqlite],
  [['EVENT_DAYS'], 'EVENT_LOG=true or WEBHOOKS_ENABLED=true', (config) => config.EVENT_LOG || config.WEBHOOKS_ENABLED],
  [
    ['SCIM_ATTRIBUTES'], 'SCIM_ENABLED=true and FIELDS_FILE', (config) => config.SCIM_ENABLED && hasFields(config)
  ],
  [['SCIM_RATE_LIMIT'], 'SCIM_ENABLED=true', (config) => config.SCIM_ENABLED],
  [['WEBHOOK_NETWORKS'], 'WEBHOOKS_ENABLED=true', (config) => config.WEBHOOKS_ENABLED],
  [['ADMIN_TITLE', 'ADMIN_LOGO_FILE'], 'ADMIN_PAGE=true', (config) => config.ADMIN_PAGE]
]

/** What is missing for settings to have an effect, a line each. */
export function missingFor (config: Config): string[] {
  return NEEDS.filter(([, , has]) => !has(config)).flatMap(([names, what]) =>
    names.filter((name) => config[name] !== variables[name].default).map((name) => `${name} needs ${what}`))
}
