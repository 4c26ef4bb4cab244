// Which room may import which, as lint rules: an import against the direction fails with the room that it belongs to.
// docs/architecture.md has the map.

/** Each room, what it is for, and the rooms that it may import. Imports run down this list's `uses`, never back. */
const ROOMS = [
  { room: 'lib/core', has: 'rules, errors and the storage interface, which everything shares', uses: [] },
  { room: 'lib/fields', has: 'the host’s own fields', uses: ['lib/core'] },
  { room: 'lib/users', has: 'the rules and the service of users, without HTTP', uses: ['lib/core', 'lib/fields'] },
  {
    room: 'lib/transfer',
    has: 'import and export, without HTTP',
    uses: ['lib/core', 'lib/fields', 'lib/users']
  },
  { room: 'lib/api-keys', has: 'the rules and the service of API keys, without HTTP', uses: ['lib/core'] },
  {
    room: 'lib/events',
    has: 'events in process and the event log, without HTTP',
    uses: ['lib/core', 'lib/users', 'lib/api-keys']
  },
  { room: 'lib/webhooks', has: 'webhooks, without routes', uses: ['lib/core', 'lib/api-keys', 'lib/events'] },
  {
    room: 'lib/admin',
    has: 'what the administration page needs, without HTTP',
    uses: ['lib/core', 'lib/fields', 'lib/api-keys']
  },
  {
    room: 'lib/openapi',
    has: 'the description that follows from the operations',
    uses: ['lib/core', 'lib/fields', 'lib/users', 'lib/api-keys', 'lib/events']
  },
  {
    room: 'lib/http',
    has: 'what all requests and responses have in common',
    uses: ['lib/core', 'lib/users', 'lib/api-keys', 'lib/events', 'lib/openapi']
  },
  {
    room: 'lib/operations',
    has: 'the operations, with their routes and handlers',
    uses: [
      'lib/core', 'lib/fields', 'lib/users', 'lib/transfer', 'lib/api-keys', 'lib/events', 'lib/webhooks', 'lib/admin',
      'lib/openapi', 'lib/http'
    ]
  },
  { room: 'adapters/memory', has: 'the store in memory', uses: ['lib/core'] },
  { room: 'adapters/testing', has: 'the conformance kit', uses: ['lib/core'] },
  { room: 'adapters/knex/tables', has: 'names and rows of the tables', uses: ['lib/core'] },
  { room: 'adapters/knex/drivers', has: 'one file for each driver, and its internals', uses: ['lib/core'] },
  {
    room: 'adapters/knex/dialects',
    has: 'everything in which the databases differ',
    uses: ['lib/core', 'adapters/knex/tables', 'adapters/knex/drivers']
  },
  {
    room: 'adapters/knex/connection',
    has: 'how SQL is run',
    uses: ['lib/core', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/dialects']
  },
  ...['batching', 'counting', 'schema'].map((name) => ({
    room: `adapters/knex/${name}`,
    has: {
      batching: 'how concurrent statements are combined',
      counting: 'exact totals at a flat cost',
      schema: 'migrations and inspection'
    }[name],
    uses: [
      'lib/core', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/dialects', 'adapters/knex/connection'
    ]
  })),
  {
    room: 'adapters/knex/events',
    has: 'the event log',
    uses: [
      'lib/core', 'adapters/knex/tables', 'adapters/knex/drivers', 'adapters/knex/dialects', 'adapters/knex/connection',
      'adapters/knex/batching'
    ]
  }
]

const DATABASE_PACKAGES = ['knex', 'pg', 'sqlite3', 'better-sqlite3', '@photostructure/sqlite', 'node:sqlite']

/** The relative path from one room to another, as import specifiers have it. */
function pathBetween (from, to) {
  const [a, b] = [from.split('/'), to.split('/')]
  const common = a.findIndex((part, i) => part !== b[i])
  return `${'../'.repeat(a.length - common)}${b.slice(common).join('/')}`
}

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** A pattern for each room that must not be imported, with a message that says where the code belongs instead. */
function forbidden ({ room, has, uses }) {
  const allowed = uses.map((other) => pathBetween(room, other))
  const others = ROOMS.filter((other) => other.room !== room && !uses.includes(other.room))
  return [
    ...others.map((other) => ({
      regex: `^${escaped(pathBetween(room, other.room))}/`,
      message: `${room} has ${has}. What needs ${other.has} belongs in ${other.room}; what both need, in lib/core.`
    })),
    {
      regex: `^\\.\\./(?!${['\\.\\./', ...allowed.map((path) => `${escaped(path.replace('../', ''))}/`)].join('|')})`,
      message: `${room} may import ${uses.length === 0 ? 'nothing of ours' : uses.join(', ')}.`
    }
  ]
}

function packagesFor (room) {
  const names = room.startsWith('adapters/knex') ? [] : DATABASE_PACKAGES
  const isService = /^lib\/(core|users|api-keys|fields)$/.test(room)
  return [
    ...names.map((name) => ({ name, message: `Only adapters/knex, postgres() and sqlite() use ${name}.` })),
    ...isService
      ? [{ name: 'fastify', message: 'Code that needs Fastify belongs in lib/http, lib/openapi or lib/.' }]
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
