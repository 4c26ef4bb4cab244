// P3: Feathers on Koa with its Knex adapter and its paginated totals, without the schema validators that its generator
// adds. PLACE: postgres://… or an SQLite file.
import { once } from 'node:events'
import errors from '@feathersjs/errors'
import { feathers } from '@feathersjs/feathers'
import { KnexService } from '@feathersjs/knex'
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa'
import { newId } from '../lib/ids.mjs'
import { COLUMNS, openKnex } from '../lib/knex-store.mjs'
import { announce, KEY, PLACE } from '../lib/serve.mjs'

const db = openKnex(PLACE)

async function authorize ({ params }) {
  if (params.headers?.authorization !== `Bearer ${KEY}`) throw new errors.NotAuthenticated()
}

// The members that the other servers return. By default the adapter returns every column.
async function select (context) {
  context.params.query = { ...context.params.query, $select: COLUMNS }
}

async function fillNew (context) {
  const { name, email } = context.data
  const at = new Date().toISOString()
  const keys = { name_key: name.toLowerCase(), email_key: email.toLowerCase() }
  context.data = { id: newId(), name, email, ...keys, version: 1, created_at: at, updated_at: at }
}

async function fillChanged (context) {
  const { name } = context.data
  const at = new Date().toISOString()
  context.data = { name, name_key: name.toLowerCase(), version: db.raw('version + 1'), updated_at: at }
}

const app = koa(feathers())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
const service = new KnexService({ Model: db, name: 'bench_users', id: 'id', paginate: { default: 20, max: 100 } })
app.use('bench_users', service, { methods: ['find', 'get', 'create', 'patch'] })
app.service('bench_users').hooks({ before: { all: [authorize, select], create: [fillNew], patch: [fillChanged] } })
const server = await app.listen(0, '127.0.0.1')
if (!server.listening) await once(server, 'listening')
announce(`http://127.0.0.1:${server.address().port}`, KEY, 'feathers')
