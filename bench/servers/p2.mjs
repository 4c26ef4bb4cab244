// P2: another usual server: Express and Knex.
import { once } from 'node:events'
import express from 'express'
import { newId } from '../lib/ids.mjs'
import { knexStore } from '../lib/knex-store.mjs'
import { announce, envelope, KEY, listOf, PLACE, view } from '../lib/serve.mjs'

const store = knexStore(PLACE)
const app = express()
app.use((request, response, next) => {
  if (request.get('authorization') === `Bearer ${KEY}`) next()
  else response.status(401).json({ error: 'unauthorized' })
})
app.use(express.json())
app.get('/v1/users', async (request, response) => {
  const asked = listOf(request.query)
  const { rows, total } = await store.list(asked)
  response.json(envelope(asked, rows.map(view), total))
})
app.get('/v1/users/:id', async (request, response) => {
  const row = await store.get(request.params.id)
  if (row === undefined) response.status(404).json({ error: 'not found' })
  else response.json(view(row))
})
app.post('/v1/users', async (request, response) => {
  const { name, email } = request.body
  const at = new Date().toISOString()
  const row = await store.create([newId(), name, name.toLowerCase(), email, email.toLowerCase(), at])
  response.status(201).location(`/v1/users/${row.id}`).json(view(row))
})
app.patch('/v1/users/:id', async (request, response) => {
  const { name } = request.body
  const row = await store.rename(request.params.id, name, name.toLowerCase(), new Date().toISOString())
  if (row === undefined) response.status(404).json({ error: 'not found' })
  else response.json(view(row))
})
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
announce(`http://127.0.0.1:${server.address().port}`)
