// P3: Feathers on Koa with its Knex adapter and its paginated totals. Lean: without the schema validators that its generator adds. PLACE: postgres://… or a file.
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

// What the others answer with too: the adapter would give every column.
async function select (context) {
  context.params.query = { ...context.params.query, $select: COLUMNS }
}

async function fillNew (context) {
  const { name, email } = context.data
  const at = new Date().toISOString()
  context.data = { id: newId(), name, name_key: name.toLowerCase(), email, email_key: email.toLowerCase(), version: 1, created_at: at, updated_at: at }
}

async function fillChanged (context) {
  const { name } = context.data
  context.data = { name, name_key: name.toLowerCase(), version: db.raw('version + 1'), updated_at: new Date().toISOString() }
}

const app = koa(feathers())
app.use(errorHandler())
app.use(bodyParser())
app.configure(rest())
app.use('bench_users', new KnexService({ Model: db, name: 'bench_users', id: 'id', paginate: { default: 20, max: 100 } }), { methods: ['find', 'get', 'create', 'patch'] })
app.service('bench_users').hooks({ before: { all: [authorize, select], create: [fillNew], patch: [fillChanged] } })
const server = await app.listen(0, '127.0.0.1')
if (!server.listening) await once(server, 'listening')
await announce(`http://127.0.0.1:${server.address().port}`, KEY, 'feathers')
