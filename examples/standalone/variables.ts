import { Type } from '@sinclair/typebox'

// The environment variables of the service. Each one's `description` says what it must be, for the message if it is
// not. A value is never repeated: it may be a password.

const flag = (usual: boolean) => Type.Boolean({ default: usual, description: 'true or false' })
const count = (usual: number, what: string) => Type.Integer({ default: usual, minimum: 0, description: what })
const path = (what: string) => Type.String({ default: '', description: what })
const choice = (usual: string, choices: readonly string[]) => Type.Union(choices.map((each) => Type.Literal(each)), {
  default: usual,
  description: `one of ${choices.join(', ')}`
})
const matching = (pattern: string, what: string, usual = '') =>
  Type.String({ default: usual, pattern, description: what })

const names = matching('^[A-Za-z0-9_, ]*$', 'names of fields, separated by commas')

const PATH = 'a path such as /a/b, of letters, digits and . _ ~ -'
const PARTS = '(?:/[A-Za-z0-9._~-]+)'
const TITLE = '^(?:(?! )[^\\x00-\\x1f\\x7f]{1,60}(?<! ))?$'
const NETWORKS = '^[0-9A-Fa-f.:/, ]*$'
const SECRET = '[\\x21-\\x2b\\x2d-\\x7e]{32,}'
const SECRETS = `^(?:${SECRET}(?:,${SECRET})*)?$`
const PEPPERS = `^(?:${SECRET}(?:,${SECRET}){0,7})?$`

export const variables = {
  HOST: Type.String({ default: '127.0.0.1', minLength: 1, description: 'a host name or address to listen on' }),
  PORT: Type.Integer({ default: 3000, minimum: 0, maximum: 65535, description: 'a port number from 0 to 65535' }),
  BASE_PATH: matching(`^${PARTS}*/*$`, `empty, or ${PATH}`),
  PATH_PREFIX: matching(`^(?:/|${PARTS}+/*)$`, PATH, '/v1'),
  TLS_CERT_FILE: path('the path of a certificate in PEM'),
  TLS_KEY_FILE: path('the path of a private key in PEM'),
  TRUST_PROXY: matching(NETWORKS, 'addresses or networks of proxies, separated by commas'),
  CORS_ORIGINS: matching(
    '^(?: *https?://[^/, ]+ *(?:, *https?://[^/, ]+ *)*)?$',
    'origins such as https://app.example.org, separated by commas'
  ),

  DATABASE_URL: matching(
    '^(?:memory:$|sqlite:.|lmdb:.|postgres(?:ql)?://|mariadb://)',
    'sqlite:<path>, postgres://<user>:<password>@<host>/<database>, mariadb:// likewise, lmdb:<directory> or memory:',
    'sqlite:./data/users.db'
  ),
  DATABASE_REPLICAS: matching(
    '^(?: *postgres(?:ql)?://.+)?$',
    'postgres://<user>:<password>@<host>/<database> of standbys, separated by commas'
  ),
  DATABASE_POOLER: flag(false),
  DATABASE_POOL_SIZE: count(0, 'a number of connections, 0 for the usual one'),
  SQLITE_DRIVER: choice('auto', ['auto', 'better-sqlite3', 'node:sqlite', '@photostructure/sqlite', 'sqlite3']),
  SQLITE_CREATE: flag(true),

  API_KEYS: matching(SECRETS, 'keys of at least 32 visible ASCII characters each, separated by commas'),
  API_KEY_ROUTES: flag(false),
  COUNT_KEY_USES: flag(false),
  FIRST_KEY_FILE: path('the path of a file that does not exist yet'),
  FASTIFY_USERS_PEPPER: matching(
    PEPPERS,
    '1 to 8 secrets of at least 32 visible ASCII characters each, separated by commas, the new one first'
  ),
  KEY_CACHE: Type.Number({ default: 5, minimum: 0, maximum: 3600, description: 'a number of seconds from 0 to 3600' }),

  AUTH_FAILURES: count(100, 'a number of refused keys, 0 for no limit'),
  RATE_LIMIT: count(6000, 'a number of requests, 0 for no limit'),
  DELETES_PER_HOUR: count(0, 'a number of deletions, 0 for no limit'),
  REQUEST_TIMEOUT: count(30, 'a number of seconds that a whole request may take to arrive, 0 for no limit'),
  MAX_IN_FLIGHT: count(0, 'a number of requests, 0 for the usual one'),
  REQUIRE_IF_MATCH: flag(false),

  FIELDS_FILE: path('the path of a JSON Schema of the fields of users'),
  FILTERABLE_FIELDS: names,
  FOLDED_FIELDS: names,
  SEARCHABLE_FIELDS: names,
  UNIQUE_FIELDS: names,
  TENANTS: flag(false),
  EVENT_LOG: flag(false),
  EVENT_DAYS: Type.Integer({
    default: 30, minimum: 1, maximum: 36_500, description: 'a number of days from 1 to 36500'
  }),
  TRASH_DAYS: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 36_500,
    description: 'a number of days up to 36500, 0 if a deletion is final'
  }),
  GROUPS_ENABLED: flag(false),
  SCIM_ENABLED: flag(false),
  SCIM_ATTRIBUTES: matching(
    '^(?: *[^=,]+=\\w+ *(?:, *[^=,]+=\\w+ *)*)?$',
    'attributes and fields such as title=jobTitle, separated by commas'
  ),
  SCIM_RATE_LIMIT: count(6000, 'a number of requests, 0 for no limit'),
  WEBHOOKS_ENABLED: flag(false),
  WEBHOOK_NETWORKS: matching(NETWORKS, 'networks such as 10.1.0.0/16, separated by commas'),

  ADMIN_PAGE: flag(true),
  ADMIN_TITLE: matching(TITLE, 'at most 60 characters in one line, without spaces at the ends'),
  ADMIN_LOGO_FILE: path('the path of an SVG, PNG, JPEG, WebP or GIF of at most 32 KiB'),
  METRICS_ENABLED: flag(false),
  LOG_LEVEL: choice('info', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
}

export type VariableName = keyof typeof variables
