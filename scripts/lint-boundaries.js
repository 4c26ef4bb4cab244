// Which room may import which, as lint rules: an import against the direction fails with the room that it belongs to.
// docs/architecture.md has the map.
import { posix } from 'node:path'

const BELOW_OPERATIONS = [
  'lib/core', 'lib/storage', 'lib/fields', 'lib/users', 'lib/groups', 'lib/scim', 'lib/transfer', 'lib/api-keys',
  'lib/events', 'lib/webhooks', 'lib/admin', 'lib/openapi', 'lib/http', 'lib/http/limits', 'lib/http/logging',
  'lib/http/responses', 'lib/http/streams', 'lib/http/admission'
]

/** Each room, what it is for, and the rooms that it may import. Imports run down this list's `uses`, never back. */
const DIALECTS = ['postgres', 'portable', 'sqlite'].map((name) => `adapters/knex/dialects/${name}`)

const ROOMS = [
  { room: 'lib/core', has: 'input checks, errors, ids, paging and turns, which everything shares', uses: [] },
  { room: 'lib/storage', has: 'the storage interface, its records, errors and rules', uses: ['lib/core'] },
  { room: 'lib/fields', has: 'the host’s own fields', uses: ['lib/core', 'lib/storage'] },
  {
    room: 'lib/users',
    has: 'the rules and the service of users, without HTTP',
    uses: ['lib/core', 'lib/storage', 'lib/fields']
  },
  {
    room: 'lib/groups',
    has: 'the rules and the service of groups, without HTTP',
    uses: ['lib/core', 'lib/storage', 'lib/users']
  },
  {
    room: 'lib/scim',
    has: 'SCIM 2.0 on the services of users and groups, without HTTP',
    uses: ['lib/core', 'lib/storage', 'lib/fields', 'lib/users', 'lib/groups', 'lib/api-keys']
  },
  {
    room: 'lib/transfer',
    has: 'import and export, without HTTP',
    uses: ['lib/core', 'lib/storage', 'lib/fields', 'lib/users']
  },
  {
    room: 'lib/api-keys',
    has: 'the rules and the service of API keys, without HTTP',
    uses: ['lib/core', 'lib/storage']
  },
  {
    room: 'lib/events',
    has: 'events in process and the event log, without HTTP',
    uses: ['lib/core', 'lib/storage', 'lib/users', 'lib/api-keys']
  },
  {
    room: 'lib/webhooks',
    has: 'webhooks, without routes',
    uses: ['lib/core', 'lib/storage', 'lib/api-keys', 'lib/events']
  },
  {
    room: 'lib/admin',
    has: 'what the administration page needs, without HTTP',
    uses: ['lib/core', 'lib/storage', 'lib/fields', 'lib/api-keys']
  },
  {
    room: 'lib/openapi',
    has: 'the description that follows from the operations',
    uses: ['lib/core', 'lib/fields', 'lib/users', 'lib/api-keys', 'lib/events']
  },
  {
    room: 'lib/http',
    has: 'what is known of any request: its query, headers, body and caller',
    uses: ['lib/core', 'lib/storage', 'lib/api-keys']
  },
  {
    room: 'lib/http/limits',
    has: 'how many requests are served',
    uses: ['lib/core', 'lib/storage', 'lib/api-keys', 'lib/http']
  },
  {
    room: 'lib/http/logging',
    has: 'what is logged of requests',
    uses: ['lib/core', 'lib/storage', 'lib/api-keys', 'lib/http']
  },
  {
    room: 'lib/http/responses',
    has: 'what answers have in common',
    uses: ['lib/core', 'lib/storage', 'lib/users', 'lib/openapi', 'lib/http', 'lib/http/limits']
  },
  {
    room: 'lib/http/streams',
    has: 'bodies and answers that take long',
    uses: ['lib/core', 'lib/storage', 'lib/events', 'lib/http', 'lib/http/limits']
  },
  {
    room: 'lib/http/admission',
    has: 'who is admitted',
    uses: [
      'lib/core', 'lib/storage', 'lib/api-keys', 'lib/http', 'lib/http/limits', 'lib/http/logging', 'lib/http/responses'
    ]
  },
  {
    room: 'lib/mcp',
    has: 'the tools of agents, from the rows of operations',
    uses: ['lib/core', 'lib/api-keys', 'lib/openapi', 'lib/http']
  },
  {
    room: 'lib/operations',
    has: 'the operations, with their routes and handlers',
    uses: BELOW_OPERATIONS
  },
  {
    room: 'lib/mount',
    has: 'a mount: its options, its life, app.users',
    uses: [...BELOW_OPERATIONS, 'lib/operations']
  },
  { room: 'adapters/memory', has: 'the store in memory', uses: ['lib/core', 'lib/storage'] },
  {
    room: 'adapters/testing/users',
    has: 'the duties of the conformance kit about reading users',
    uses: ['lib/core', 'lib/storage', 'adapters/testing']
  },
  {
    room: 'adapters/testing',
    has: 'the conformance kit',
    uses: ['lib/core', 'lib/storage', 'adapters/memory', 'adapters/testing/users']
  },
  {
    room: 'adapters/knex/mariadb',
    has: 'the store in MariaDB',
    uses: ['lib/core', 'lib/storage', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/connection']
  },
  { room: 'adapters/knex/tables', has: 'names and rows of the tables', uses: ['lib/core', 'lib/storage'] },
  {
    room: 'adapters/knex/drivers',
    has: 'one file for each driver, and its internals',
    uses: ['lib/core', 'lib/storage']
  },
  {
    room: 'adapters/knex/dialects',
    has: 'everything in which the databases differ',
    uses: ['lib/core', 'lib/storage', 'adapters/knex/tables', 'adapters/knex/drivers', ...DIALECTS]
  },
  ...DIALECTS.map((room) => ({
    room,
    has: 'what differs in one dialect',
    uses: [
      'lib/core', 'lib/storage', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/dialects',
      ...room.endsWith('portable') ? ['adapters/knex/dialects/postgres'] : []
    ]
  })),
  {
    room: 'adapters/knex/connection',
    has: 'how SQL is run',
    uses: ['lib/core', 'lib/storage', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/dialects']
  },
  ...['batching', 'counting', 'schema'].map((name) => ({
    room: `adapters/knex/${name}`,
    has: {
      batching: 'how concurrent statements are combined',
      counting: 'exact totals at a flat cost',
      schema: 'migrations and inspection'
    }[name],
    uses: [
      'lib/core', 'lib/storage', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/dialects',
      'adapters/knex/connection'
    ]
  })),
  {
    room: 'adapters/knex/events',
    has: 'the event log',
    uses: [
      'lib/core', 'lib/storage', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/dialects',
      'adapters/knex/connection', 'adapters/knex/batching'
    ]
  }
]

const DATABASE_PACKAGES = ['knex', 'pg', 'mysql2', 'sqlite3', 'better-sqlite3', '@photostructure/sqlite', 'node:sqlite']

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** What import specifiers from one room to the files of another look like. */
function specifiers (from, to) {
  const path = posix.relative(from, to)
  return `${escaped(path === '' ? '.' : path.startsWith('.') ? path : `./${path}`)}/[^/]+$`
}

/** A pattern for each room that must not be imported, with a message that says where the code belongs instead. */
function forbidden ({ room, has, uses }) {
  const others = ROOMS.filter((other) => other.room !== room && !uses.includes(other.room))
  const known = [room, ...uses, ...others.map((other) => other.room)].map((to) => specifiers(room, to))
  return [
    ...others.map((other) => ({
      regex: `^${specifiers(room, other.room)}`,
      message: `${room} has ${has}. What needs ${other.has} belongs in ${other.room}; what both need, in lib/core.`
    })),
    {
      regex: `^(?!${known.join('|')})\\.`,
      message: `${room} may import ${uses.length === 0 ? 'nothing of ours' : uses.join(', ')}.`
    }
  ]
}

function packagesFor (room) {
  const names = room.startsWith('adapters/knex') ? [] : DATABASE_PACKAGES
  const isService = /^lib\/(core|storage|users|api-keys|fields|transfer)$/.test(room)
  return [
    ...names.map((name) => ({ name, message: `Only adapters/knex, postgres() and sqlite() use ${name}.` })),
    ...isService
      ? [{ name: 'fastify', message: 'Code that needs Fastify belongs in lib/http, lib/operations or lib/mount.' }]
      : []
  ]
}

/** The programs on top of the rooms, and what they must not import. */
const PROGRAMS = [
  {
    files: ['admin/**/*.{ts,tsx}'],
    regex: '^(?:\\.\\./)+(?:(?:adapters|cli)/|lib/(?!(?:admin|core)/))',
    message: 'admin is the page in browsers: it may import lib/admin and lib/core.'
  },
  {
    files: ['cli/*.ts'],
    regex: '^\\.\\./(?:lib/(?:http|openapi|operations|admin)/|lib/(?:plugin|index|exports)\\.ts$|adapters/testing/)',
    message: 'cli works on the services and the stores: it may import no routes, no descriptions and no page.'
  }
]

export const boundaries = [
  ...ROOMS.map((each) => ({
    files: [`${each.room}/*.ts`],
    rules: { 'no-restricted-imports': ['error', { paths: packagesFor(each.room), patterns: forbidden(each) }] }
  })),
  ...PROGRAMS.map(({ files, regex, message }) => ({
    files,
    rules: { 'no-restricted-imports': ['error', { patterns: [{ regex, message }] }] }
  }))
]
